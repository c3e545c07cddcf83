"""Edit JSON with comments in place: one member changes, and all other bytes are kept.

The grammar is RFC 8259 with `//` and `/* */` comments and trailing commas, as VS Code and Zed read their settings.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_SKIPPED = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r'"(?:\\.|[^"\\\n])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/)?")
_INDENT = re.compile(r"\n([ \t]+)\S")
_CLOSING = {"{": "}", "[": "]"}


@dataclass(frozen=True)
class _Part:
    """A member of an object (with its key) or an item of an array."""

    key: str
    start: int
    value: _Node


@dataclass(frozen=True)
class _Node:
    """A value and its span in the text."""

    value: Any
    start: int
    end: int
    parts: tuple[_Part, ...] = ()

    def member(self, key: str) -> _Part | None:
        """Return the last member of that key, which is the one that readers take."""
        return next((part for part in reversed(self.parts) if part.key == key), None)


def loads(text: str) -> Any:
    """Parse a document. Raises ValueError with line and column."""
    try:
        return json.loads(text)  # 40 times as fast, and most files have no comments
    except (ValueError, RecursionError):
        return _parse(text).value


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with `value` at a path of keys. Missing objects are created; an empty text is an object.

        >>> with_member('{"a": 1} // one', ["b"], 2)
        '{"a": 1,\\n  "b": 2\\n} // one'

    Raises ValueError if the text is not JSON, or the path leads through another value than an object.
    """
    text = text if text.strip() else "{}\n"
    node = _parse(text)
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            message = f"{'.'.join(path[:depth]) or 'the document'} is not an object"
            raise ValueError(message)
        found = node.member(key)
        if found is None:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _with_part(text, node, f"{json.dumps(key)}: ", value)
        node = found.value
    return text[: node.start] + _dumped(text, value, _indent_of(text, node.start)) + text[node.end :]


def with_item(text: str, key: str, item: Any) -> str:
    """Return the text with an item appended to the array under a top-level key. Raises ValueError."""
    found = _parse(text).member(key) if text.strip() else None
    if found is None:
        return with_member(text, [key], [item])
    if not isinstance(found.value.value, list):
        message = f"{key} is not an array"
        raise ValueError(message)
    return _with_part(text, found.value, "", item)


def without_member(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at a path, with its comma and its line. Raises ValueError, KeyError."""
    parent = _parse(text)
    for key in path[:-1]:
        inner = parent.member(key)
        if inner is None:
            raise KeyError(key)
        parent = inner.value
    found = parent.member(path[-1])
    if found is None:
        raise KeyError(path[-1])
    before, after = _without_comma(text, parent, found)
    line = before.rfind("\n") + 1
    rest = _REST_OF_LINE.match(text, after)
    has_own_line = not before[line:].strip() and rest is not None and text[rest.end() : rest.end() + 1] == "\n"
    if has_own_line and rest is not None:
        return before[:line] + text[rest.end() + 1 :]
    return before.rstrip(" \t") + text[after:]


def _without_comma(text: str, parent: _Node, found: _Part) -> tuple[str, int]:
    """Return the text before a part, and where the text after it starts: one comma goes with it."""
    after = _skip(text, found.value.end)
    if text[after] == ",":
        return text[: found.start], after + 1
    place = parent.parts.index(found)
    if place == 0:
        return text[: found.start], found.value.end
    comma = _skip(text, parent.parts[place - 1].value.end)
    return text[:comma] + text[comma + 1 : found.start], found.value.end


def _with_part(text: str, node: _Node, prefix: str, value: Any) -> str:
    """Return the text with a part added at the end of an object or array, on a line of its own."""
    outer = _indent_of(text, node.start)
    indent = _indent_of(text, node.parts[0].start) if node.parts else outer
    indent = indent if len(indent) > len(outer) else outer + _unit(text)
    part = f"\n{indent}{prefix}{_dumped(text, value, indent)}"
    if not node.parts:
        inside = text[node.start + 1 : node.end - 1].rstrip()
        return f"{text[: node.start + 1]}{inside}{part}\n{outer}{text[node.end - 1 :]}"
    end = node.parts[-1].value.end
    comma = _skip(text, end)
    head, at = (text[: comma + 1], comma + 1) if text[comma] == "," else (text[:end] + ",", end)
    rest = _REST_OF_LINE.match(text, at)
    comment = rest[0].rstrip() if rest is not None else ""
    tail = text[at + len(comment) :]
    closing = tail[: _skip(tail, 0)]
    return head + comment + part + (tail if "\n" in closing else f"\n{outer}{tail.lstrip()}")


def _dumped(text: str, value: Any, indent: str) -> str:
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return f"\n{indent}".join(lines)


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _indent_of(text: str, at: int) -> str:
    """Return the leading whitespace of the line of a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _parse(text: str) -> _Node:
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    try:
        node = _node(text, start)
    except RecursionError:
        message = "the document is nested too deeply"
        raise ValueError(message) from None
    rest = _skip(text, node.end)
    if rest != len(text):
        raise _unexpected(text, rest, "the end of the document")
    return node


def _node(text: str, at: int) -> _Node:
    opening = text[at : at + 1]
    if opening in _CLOSING:
        return _container(text, at, is_object=opening == "{")
    scalar = _SCALAR.match(text, at)
    if scalar is None:
        raise _unexpected(text, at, "a value")
    return _Node(json.loads(scalar[0]), at, scalar.end())


def _container(text: str, start: int, *, is_object: bool) -> _Node:
    closing = _CLOSING[text[start]]
    parts: list[_Part] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != closing:
        part = _part(text, at, is_object=is_object)
        parts.append(part)
        at = _skip(text, part.value.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != closing:
            raise _unexpected(text, at, f"a comma or {closing}")
    value = {part.key: part.value.value for part in parts} if is_object else [part.value.value for part in parts]
    return _Node(value, start, at + 1, tuple(parts))


def _part(text: str, at: int, *, is_object: bool) -> _Part:
    if not is_object:
        return _Part("", at, _node(text, at))
    key = _SCALAR.match(text, at)
    if key is None or not key[0].startswith('"'):
        raise _unexpected(text, at, "a key in double quotes")
    colon = _skip(text, key.end())
    if text[colon : colon + 1] != ":":
        raise _unexpected(text, colon, "a colon")
    return _Part(json.loads(key[0]), at, _node(text, _skip(text, colon + 1)))


def _skip(text: str, at: int) -> int:
    """Return the position after whitespace and comments."""
    found = _SKIPPED.match(text, at)
    return found.end() if found else at


def _unexpected(text: str, at: int, expected: str) -> ValueError:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return ValueError(f"line {line}, column {column}: expected {expected}")
