"""Described tools carried out by Python: the callable of each by its name, checked against its description."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from codemode.catalog.effect_words import Judgement
from codemode.catalog.identifiers import identifier
from codemode.errors import SourceError
from codemode.sources.functions.callables import is_typed, only_model, takes_any
from codemode.sources.functions.source import is_tool_object, made, name_of, python_tool
from codemode.sources.loaded import Warned
from codemode.sources.toolkits.described import Bound, parameters_of, text_parameters
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from codemode.catalog.tool import Parameter, Tool
    from codemode.sources.toolkits.described import Described


class Callables:
    """Callables by name: in a mapping, a list, a module, an object, or a class that is made without arguments.

    A tool of a toolkit is first looked for in what has the toolkit's name.
    """

    def __init__(self, target: Any) -> None:
        self._target = made(target)

    def bound(self, described: Described) -> tuple[Bound, list[Warned]]:
        """What carries a tool out, and what of its description cannot be given to it.

        Raises SourceError, with the line, where nothing has its name, or what has it could never be called so.
        """
        group = _member(self._target, described.toolkit) if described.toolkit else None
        places = [made(group), self._target]
        found = next((one for place in places if _is_called(one := _member(place, described.name))), None)
        if found is None:
            names = sorted({name for place in places for name in _names(place)})
            hint = did_you_mean(described.name, names) or f"; there are: {', '.join(names[:5]) or 'none'}"
            message = f"no callable is called {described.name!r}{hint}"
            raise described.document.error(message, *described.path)
        try:
            found = _unfolded(described, found)
            own = python_tool(found, described.name, source="")
            if described.schema is None:
                return _typed(described, own, found), []
            return _checked(described, described.schema, own, has_more=_takes_any(found))
        except SourceError as error:
            raise described.document.error(str(error), *described.path) from None


def _checked(
    described: Described, schema: Mapping[str, Any], own: Tool, *, has_more: bool
) -> tuple[Bound, list[Warned]]:
    """With the arguments that a schema describes, as far as the callable takes them."""
    keywords, kept, warnings = {}, [], []
    for parameter in parameters_of(schema):
        keyword = next((name for name in (parameter.name, parameter.wire_name) if own.parameter(name)), None)
        if keyword or has_more:
            keywords[parameter.name] = keyword or parameter.wire_name
            kept.append(parameter)
        elif parameter.required:
            message = f"{described.name} takes no argument {parameter.wire_name!r}, which it is said to require"
            raise SourceError(message)
        else:
            reason = f"{described.name} takes no argument {parameter.wire_name!r}: it is left out"
            warnings.append(Warned(described.where, reason))
    missing = [one.name for one in own.parameters if one.required and one.name not in keywords.values()]
    if missing:
        message = f"{described.name} needs an argument {missing[0]!r}, of which its description says nothing"
        raise SourceError(message)
    invocation = replace(own.invocation, keywords=keywords)
    return Bound(tuple(kept), invocation, _effect(own), own.returns), warnings


def _typed(described: Described, own: Tool, function: Any) -> Bound:
    """With the arguments of which only the names are described: of the callable's types, where it has any."""
    unknown = [name for name in described.names if not own.parameter(name)]
    if unknown and not _takes_any(function):
        hint = did_you_mean(unknown[0], own.parameter_names)
        message = f"{described.name} takes no argument {unknown[0]!r}{hint}"
        raise SourceError(message)
    parameters = (
        tuple(_said(parameter, described.names) for parameter in own.parameters)
        if is_tool_object(function) or is_typed(function)
        else text_parameters(described)
    )
    return Bound(parameters, own.invocation, _effect(own), own.returns)


def _effect(own: Tool) -> Judgement:
    return Judgement(own.effect, own.effect_word, own.effect_said)


def _unfolded(described: Described, function: Any) -> Any:
    """A function that takes one model as a tool whose arguments are the model's fields, where those are described."""
    only = None if is_tool_object(function) else only_model(function)
    names = described.names if described.schema is None else described.schema.get("properties", ())
    if only is None or only[0] in names:
        return function
    model = only[1]

    @functools.wraps(function)
    def run(**arguments: Any) -> Any:
        return function(model(**arguments))

    return SimpleNamespace(name=described.name, description="", args_schema=model, run=run)


def _said(parameter: Parameter, names: Mapping[str, str]) -> Parameter:
    return replace(parameter, description=names.get(parameter.name) or parameter.description)


def _is_called(target: Any) -> bool:
    return callable(target) or is_tool_object(target)


def _takes_any(target: Any) -> bool:
    return not is_tool_object(target) and takes_any(target)


def _member(target: Any, name: str) -> Any:
    """What has a name, or has it as Python writes it; None where nothing has."""
    for each in dict.fromkeys((name, identifier(name))):
        if isinstance(target, Mapping):
            found = target.get(each)
        elif isinstance(target, (list, tuple)):
            found = next((one for one in target if name_of(one) == each), None)
        else:
            found = None if each.startswith("_") else getattr(target, each, None)
        if found is not None:
            return found
    return None


def _names(target: Any) -> list[str]:
    if isinstance(target, Mapping):
        return [str(name) for name, one in target.items() if _is_called(one)]
    if isinstance(target, (list, tuple)):
        return [name_of(one) for one in target if _is_called(one)]
    return [name for name in dir(target) if not name.startswith("_")] if target is not None else []
