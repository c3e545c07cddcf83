"""Constant arguments of a source: parameters that the operator fills in, so that models do not see them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from codemode.catalog.identifiers import parameter_name
from codemode.catalog.tool import Location
from codemode.errors import ConfigurationError
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.catalog.tool import Details, Tool

#: The places of parameters that may be constant. Fields of bodies have rules across fields.
_PLACES = (Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE)


def with_constants(tools: Iterable[Tool], constants: Mapping[str, Any], *, source: str) -> tuple[Tool, ...]:
    """Return the tools without the parameters that are constant; their requests have the values.

    `constants` maps names in Python or on the wire to values. Raises ConfigurationError for one that no operation
    declares outside of its body, with the closest match.
    """
    tools = tuple(tools)
    if not constants:
        return tools
    values = {parameter_name(name): _as_data(value) for name, value in constants.items()}
    known = {name for tool in tools for name in tool.parameter_names}
    for written, name in zip(constants, values, strict=True):
        holders = (tool for tool in tools if name in tool.parameter_names)
        if not any(_is_constant(tool, name) for tool in holders):
            where = "only in its body" if name in known else f"nowhere{did_you_mean(name, known)}"
            message = f"sources.{source}.parameters: {written!r} is declared {where}; an overlay can declare it"
            raise ConfigurationError(message)
    return tuple(_with_constants(tool, values) for tool in tools)


def _as_data(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _with_constants(tool: Tool, values: Mapping[str, Any]) -> Tool:
    fixed = [name for name in tool.parameter_names if name in values and _is_constant(tool, name)]
    if not fixed:
        return tool
    names = tuple(name for name in tool.parameter_names if name not in fixed)
    return tool.changed(details=partial(_details, tool, {name: values[name] for name in fixed}), names=names)


def _is_constant(tool: Tool, name: str) -> bool:
    parameter = tool.parameter(name)
    return parameter is not None and parameter.location in _PLACES


def _details(tool: Tool, values: Mapping[str, Any]) -> Details:
    details = tool.details
    constants = tuple((one, values[one.name]) for one in details.parameters if one.name in values)
    return replace(
        details,
        parameters=tuple(one for one in details.parameters if one.name not in values),
        invocation=replace(details.invocation, constants=constants),
    )
