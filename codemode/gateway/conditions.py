"""Conditions on the arguments of a call, as they are going to be sent.

A path names an argument and steps into objects (`message.to`); lists are stepped into by themselves. Names are those of
parameters or of the wire, compared by their letters and digits alone: a field `To` beside `to` may be the one that
counts, and so may ` to`. An object may come as JSON text. With `?` at its end a path may be absent (`cc?`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from codemode.catalog.tool import WHOLE_BODY, Location
from codemode.gateway.patterns import ValuePattern, folded, parsed, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.catalog.tool import Tool

_MISSING = object()

#: How some services write places in lists and objects: `to[]`, `to[0]`, `to[email]`.
_INDEXED = re.compile(r"(?<=.)\[.*", re.DOTALL)


class Condition:
    """One path and the patterns of which its values must fit one."""

    def __init__(self, path: str, patterns: Iterable[object]) -> None:
        self.path = path
        self._steps = tuple(path.removesuffix("?").split("."))
        self.may_be_absent = path.endswith("?")
        self._patterns = tuple(ValuePattern(shown(pattern)) for pattern in patterns)

    def surely_holds(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        """Whether there are values, or may be none, and all of them surely fit."""
        found = list(self._values(tool, arguments))
        present = [value for value in found if value is not _MISSING]
        if not self.may_be_absent and (not present or len(present) < len(found)):
            return False
        return all(any(pattern.surely_fits(value) for pattern in self._patterns) for value in present)

    def may_hold(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        """Whether any value may fit; with a path that may be absent also where there is none."""
        found = list(self._values(tool, arguments))
        present = [value for value in found if value is not _MISSING]
        if self.may_be_absent and len(present) < max(len(found), 1):
            return True
        return any(pattern.may_fit(value) for value in present for pattern in self._patterns)

    def concerns(self, tool: Tool, *, undeclared: bool) -> bool:
        """Whether the tool has an argument that the path can begin with; bodies also take `undeclared` fields."""
        return any(
            parameter.location is Location.BODY
            or _alike(self._steps[0], parameter.name, parameter.wire_name)
            or (_is_field(parameter) and (undeclared or self._steps[0] == WHOLE_BODY))
            for parameter in tool.parameters
        )

    def _values(self, tool: Tool, arguments: Mapping[str, Any]) -> Iterator[Any]:
        roots = list(_roots(tool, arguments, self._steps[0]))
        if not roots:
            yield _MISSING
        for root in roots:
            yield from _within(root, self._steps[1:])


def _is_field(parameter: Any) -> bool:
    return parameter.location is Location.BODY_FIELD


def _roots(tool: Tool, arguments: Mapping[str, Any], name: str) -> Iterator[Any]:
    """Every argument of that name, the fields of whole bodies included; `body` is also all fields of one."""
    fields = {}
    for given, value in arguments.items():
        parameter = tool.parameter(given)
        if _alike(name, given, parameter.wire_name if parameter else given):
            yield value
        if parameter is None or parameter.location is Location.BODY:
            if given != name:
                yield from _of_body(tool, value, name, is_body=parameter is not None)
        elif _is_field(parameter):
            fields[parameter.wire_name] = value
    if name == WHOLE_BODY and fields:
        yield fields


def _of_body(tool: Tool, value: Any, name: str, *, is_body: bool) -> Iterator[Any]:
    """The fields of that name in a whole body, in each object of a list of them."""
    body = parsed(value) if isinstance(value, str) else value
    if isinstance(body, Mapping):
        yield from (part for key, part in body.items() if _alike(name, str(key), _name_of(tool, str(key))))
    elif isinstance(body, list):
        for item in body:
            yield from list(_of_body(tool, item, name, is_body=is_body)) or [_MISSING]
    elif is_body and not any(_alike(name, one.name, one.wire_name) for one in tool.parameters):
        yield _unknown(value)


def _name_of(tool: Tool, wire_name: str) -> str:
    found = (p.name for p in tool.parameters if _is_field(p) and p.wire_name == wire_name)
    return next(found, wire_name)


def _within(value: Any, steps: tuple[str, ...]) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _within(item, steps)
        return
    if not steps:
        yield _MISSING if value is None else value
        return
    inner = parsed(value) if isinstance(value, str) else value
    if isinstance(inner, list):
        yield from _within(inner, steps)
    elif isinstance(inner, Mapping):
        named = [part for key, part in inner.items() if steps[0] == "*" or _alike(steps[0], str(key))]
        for part in named:
            yield from _within(part, steps[1:])
        if not named:
            yield _MISSING
    else:
        yield _unknown(value)


def _unknown(value: Any) -> dict[str, Any]:
    """A scalar where an object belongs: it surely fits nothing, and may fit what stands anywhere in it."""
    return {"": value}


def _alike(name: str, *others: str) -> bool:
    return _plain(name) in map(_plain, others)


def _plain(name: str) -> str:
    """A name as a service that is not strict may read it: " CC", "c-c", "%63c" and "cc[0]" as "cc"."""
    first = _INDEXED.sub("", folded(unquote(name)))
    return "".join(character for character in first if character.isalnum()) or name
