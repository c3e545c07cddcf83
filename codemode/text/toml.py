"""Edit TOML (v1.0) in place: one table is added, replaced or removed, and all other lines are kept."""

from __future__ import annotations

import json
import re
import tomllib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def with_table(text: str, path: Sequence[str], table: Mapping[str, Any]) -> str:
    """Return the text with a table of strings, numbers, booleans, lists of them, and tables of them.

    A table of the same path is replaced where it is, with its subtables. The caller checks the result: a table that is
    written as `a = {…}` or with dotted keys is not found.
    """
    block = "\n".join(_table(path, table))
    lines = _lines(text)
    spans = list(_spans(lines, path))
    if not spans:
        before = text if not text or text.endswith("\n") else f"{text}\n"
        gap = "\n" if before.strip() else ""
        return f"{before}{gap}{block}\n"
    kept = _without(lines, spans)
    start = spans[0][0]
    follows = "\n" if "".join(kept[start:]).strip() else ""
    return "".join([*kept[:start], f"{block}\n{follows}", *kept[start:]])


def without_table(text: str, path: Sequence[str]) -> str:
    """Return the text without a table and its subtables. Raises KeyError if it has no header of its own."""
    lines = _lines(text)
    spans = list(_spans(lines, path))
    if not spans:
        raise KeyError(path[-1])
    left = "".join(_without(lines, spans))
    return left.rstrip("\n") + "\n" if left.strip() else ""


def _lines(text: str) -> list[str]:
    """Split a text into lines that keep their ends. Only a line feed ends a line in TOML."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _spans(lines: list[str], path: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines of a table and of each of its subtables. Trailing comments belong to the next table."""
    headers = [(number, found) for number, line in enumerate(lines) if (found := _header(line))]
    for (start, found), (end, _) in pairwise([*headers, (len(lines), ())]):
        if list(found[: len(path)]) == list(path):
            while end < len(lines) and end > start + 1 and lines[end - 1].startswith("#"):
                end -= 1
            yield start, end


def _header(line: str) -> tuple[str, ...]:
    """Return the keys of a table header, or () for another line."""
    if not line.lstrip().startswith("["):
        return ()
    try:
        inner: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    keys = []
    while inner:
        (key,) = inner
        keys.append(key)
        inner = inner[key][0] if isinstance(inner[key], list) else inner[key]
    return tuple(keys)


def _without(lines: list[str], spans: list[tuple[int, int]]) -> list[str]:
    removed = {number for start, end in spans for number in range(start, end)}
    return [line for number, line in enumerate(lines) if number not in removed]


def _table(path: Sequence[str], table: Mapping[str, Any]) -> Iterator[str]:
    yield f"[{'.'.join(map(_key, path))}]"
    yield from (f"{_key(key)} = {_value(value)}" for key, value in table.items() if not isinstance(value, dict))
    for key, value in table.items():
        if isinstance(value, dict):
            yield ""
            yield from _table([*path, key], value)


def _key(key: str) -> str:
    is_bare = key.isascii() and key.replace("-", "a").replace("_", "a").isalnum()
    return key if is_bare else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
