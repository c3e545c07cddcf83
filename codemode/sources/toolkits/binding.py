"""Bind described tools to Python callables by name, and check each callable against its description."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from codemode.catalog.effects import Judgement
from codemode.catalog.identifiers import identifier
from codemode.errors import SourceError
from codemode.sources.functions.callables import is_typed, only_model, takes_any
from codemode.sources.functions.described import Bound, parameters_of, text_parameters
from codemode.sources.functions.source import instance_of, name_of, python_tool
from codemode.sources.functions.tool_objects import is_tool_object
from codemode.sources.loaded import SourceWarning
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from codemode.catalog.tool import Parameter, Tool
    from codemode.sources.functions.described import ToolDescription


class Callables:
    """Callables by name, in a mapping, list, module or object, or in a class that takes no arguments.

    A tool of a toolkit is looked up first in the member with the name of the toolkit.
    """

    def __init__(self, target: Any) -> None:
        self._target = instance_of(target)

    def bound(self, described: ToolDescription) -> tuple[Bound, list[SourceWarning]]:
        """Return the binding of a tool, and a warning for each described argument that its callable lacks.

        Raises SourceError with the line if no callable has its name, or the arguments do not match.
        """
        group = _member(self._target, described.toolkit) if described.toolkit else None
        holders = [instance_of(group), self._target]
        callable_ = next((one for holder in holders if _is_called(one := _member(holder, described.name))), None)
        if callable_ is None:
            names = sorted({name for holder in holders for name in _names(holder)})
            suggestion = did_you_mean(described.name, names) or f"; available: {', '.join(names[:5]) or 'none'}"
            message = f"there is no callable named {described.name!r}{suggestion}"
            raise described.document.error(message, *described.path)
        try:
            callable_ = _with_model_fields(described, callable_)
            function_tool = python_tool(callable_, described.name, source="")
            if described.schema is None:
                return _bind_names(described, function_tool, callable_), []
            return _bind_schema(described, described.schema, function_tool, has_more=_takes_any(callable_))
        except SourceError as error:
            raise described.document.error(str(error), *described.path) from None


def _bind_schema(
    described: ToolDescription, schema: Mapping[str, Any], function_tool: Tool, *, has_more: bool
) -> tuple[Bound, list[SourceWarning]]:
    """Bind the arguments of a schema that the callable takes."""
    keywords, kept, warnings = {}, [], []
    for parameter in parameters_of(schema):
        keyword = next((name for name in (parameter.name, parameter.wire_name) if function_tool.parameter(name)), None)
        if keyword or has_more:
            keywords[parameter.name] = keyword or parameter.wire_name
            kept.append(parameter)
        elif parameter.required:
            message = f"{described.name} takes no argument {parameter.wire_name!r}, but its description requires it"
            raise SourceError(message)
        else:
            reason = f"{described.name} takes no argument {parameter.wire_name!r}: it is left out"
            warnings.append(SourceWarning(described.where, reason))
    missing = [one.name for one in function_tool.parameters if one.required and one.name not in keywords.values()]
    if missing:
        message = f"{described.name} requires an argument {missing[0]!r} that is missing from its description"
        raise SourceError(message)
    invocation = replace(function_tool.invocation, keywords=keywords)
    return Bound(tuple(kept), invocation, _effect(function_tool), function_tool.returns), warnings


def _bind_names(described: ToolDescription, function_tool: Tool, function: Any) -> Bound:
    """Bind arguments that are described by name only. Their types are those of the callable, if it has any."""
    unknown = [name for name in described.names if not function_tool.parameter(name)]
    if unknown and not _takes_any(function):
        suggestion = did_you_mean(unknown[0], function_tool.parameter_names)
        message = f"{described.name} takes no argument {unknown[0]!r}{suggestion}"
        raise SourceError(message)
    parameters = (
        tuple(_with_description(parameter, described.names) for parameter in function_tool.parameters)
        if is_tool_object(function) or is_typed(function)
        else text_parameters(described)
    )
    return Bound(parameters, function_tool.invocation, _effect(function_tool), function_tool.returns)


def _effect(function_tool: Tool) -> Judgement:
    return Judgement(function_tool.effect, function_tool.effect_word, function_tool.effect_said)


def _with_model_fields(described: ToolDescription, function: Any) -> Any:
    """Wrap a function that takes one pydantic model, if the description lists the fields of the model."""
    only = None if is_tool_object(function) else only_model(function)
    names = described.names if described.schema is None else described.schema.get("properties", ())
    if only is None or only[0] in names:
        return function
    model = only[1]

    @functools.wraps(function)
    def run(**arguments: Any) -> Any:
        return function(model(**arguments))

    return SimpleNamespace(name=described.name, description="", args_schema=model, run=run)


def _with_description(parameter: Parameter, names: Mapping[str, str]) -> Parameter:
    return replace(parameter, description=names.get(parameter.name) or parameter.description)


def _is_called(target: Any) -> bool:
    return callable(target) or is_tool_object(target)


def _takes_any(target: Any) -> bool:
    return not is_tool_object(target) and takes_any(target)


def _member(target: Any, name: str) -> Any:
    """Return the member with a name, or with that name in snake case. None if there is none."""
    for candidate in dict.fromkeys((name, identifier(name))):
        if isinstance(target, Mapping):
            member = target.get(candidate)
        elif isinstance(target, (list, tuple)):
            member = _only([one for one in target if name_of(one) == candidate], candidate)
        else:
            member = None if candidate.startswith("_") else getattr(target, candidate, None)
        if member is not None:
            return member
    return None


def _only(members: list[Any], name: str) -> Any:
    """Return the only member of a name, None without any. Raises SourceError for several."""
    if any(one is not members[0] for one in members):
        message = f"{len(members)} callables have the name {name!r}: pass them in a dict under different names"
        raise SourceError(message)
    return members[0] if members else None


def _names(target: Any) -> list[str]:
    if isinstance(target, Mapping):
        return [str(name) for name, one in target.items() if _is_called(one)]
    if isinstance(target, (list, tuple)):
        return [name_of(one) for one in target if _is_called(one)]
    return [name for name in dir(target) if not name.startswith("_")] if target is not None else []
