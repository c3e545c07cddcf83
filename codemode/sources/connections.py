"""The choice of an account in the signatures of a source that has several."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from codemode.catalog.schema import Schema
from codemode.catalog.tool import Location, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.catalog.tool import Details, Tool
    from codemode.settings import ConnectionSettings

#: The keyword of a call that chooses an account. A tool with an own parameter of this name has it with a `_`.
CONNECTION = "connection"

#: No names: not every caller may use every connection. Those of a caller are in its search results and errors.
_SCHEMA = Schema.of({"type": "string"})
_ABOUT = "the account to use; default: the first one"


def with_choice(tools: Iterable[Tool], connections: Mapping[str, ConnectionSettings]) -> tuple[Tool, ...]:
    """Return the tools with a parameter that chooses an account, if there are several."""
    tools = tuple(tools)
    return tuple(_with_choice(tool) for tool in tools) if len(connections) > 1 else tools


def _with_choice(tool: Tool) -> Tool:
    name = CONNECTION
    while name in tool.parameter_names:
        name += "_"
    return tool.changed(details=partial(_details, tool, name), names=(*tool.parameter_names, name))


def _details(tool: Tool, name: str) -> Details:
    details = tool.details
    choice = Parameter(name, name, Location.ACCOUNT, required=False, schema=_SCHEMA, description=_ABOUT)
    return replace(details, parameters=(*details.parameters, choice))
