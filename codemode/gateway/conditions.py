"""Conditions on the arguments of a call, as they will be sent.

A path names an argument and steps into objects (`message.to`) and lists. Names are parameter names or wire names, and
only their letters and digits are compared: the service may use a field `To` or ` to` instead of `to`. An object may be
JSON text. A path that ends in `?` may be absent (`cc?`).
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

#: Positions in lists and objects as some services write them: `to[]`, `to[0]`, `to[email]`.
_INDEXED = re.compile(r"(?<=.)\[.*", re.DOTALL)


class Condition:
    """One path and its patterns. Each value must match one of them."""

    def __init__(self, path: str, patterns: Iterable[object]) -> None:
        self.path = path
        self._steps = tuple(path.removesuffix("?").split("."))
        self.may_be_absent = path.endswith("?")
        self._patterns = tuple(ValuePattern(shown(pattern)) for pattern in patterns)

    def surely_holds(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        """Return whether every value certainly matches. A missing value matches only an optional path."""
        found = list(self._values(tool, arguments))
        present = [value for value in found if value is not _MISSING]
        if not self.may_be_absent and (not present or len(present) < len(found)):
            return False
        return all(any(pattern.surely_fits(value) for pattern in self._patterns) for value in present)

    def may_hold(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        """Return whether any value may match. A missing value matches an optional path."""
        found = list(self._values(tool, arguments))
        present = [value for value in found if value is not _MISSING]
        if self.may_be_absent and len(present) < max(len(found), 1):
            return True
        return any(pattern.may_fit(value) for value in present for pattern in self._patterns)

    def concerns(self, tool: Tool, *, undeclared: bool) -> bool:
        """Return whether the tool has an argument for the path. `undeclared`: include undeclared fields of bodies."""
        return any(
            parameter.location is Location.BODY
            or _alike(self._steps[0], parameter.name, parameter.wire_name)
            or (_is_field(parameter) and (undeclared or self._steps[0] == WHOLE_BODY))
            for parameter in tool.parameters
        )

    def values(self, tool: Tool, arguments: Mapping[str, Any]) -> list[Any]:
        """Return every value at the path, None for one that is missing."""
        return [None if value is _MISSING else value for value in self._values(tool, arguments)]

    def _values(self, tool: Tool, arguments: Mapping[str, Any]) -> Iterator[Any]:
        roots = list(_roots(tool, arguments, self._steps[0]))
        if not roots:
            yield _MISSING
        for root in roots:
            yield from _within(root, self._steps[1:])


def _is_field(parameter: Any) -> bool:
    return parameter.location is Location.BODY_FIELD


def _roots(tool: Tool, arguments: Mapping[str, Any], name: str) -> Iterator[Any]:
    """Yield every argument of that name, and fields of whole bodies. `body` also means all fields together."""
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
    """Yield the fields of that name in a whole body, or in each object of a list."""
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
    """Wrap a scalar in the place of an object: it certainly matches nothing, and any part of it may match."""
    return {"": value}


def _alike(name: str, *others: str) -> bool:
    return _plain(name) in map(_plain, others)


def _plain(name: str) -> str:
    """Return a name as a lenient service may read it: " CC", "c-c", "%63c" and "cc[0]" are "cc"."""
    first = _INDEXED.sub("", folded(unquote(name)))
    return "".join(character for character in first if character.isalnum()) or name
