"""Read an audit file from its end, newest lines first."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Bytes read at once, and in all for one page: a filter that fits nothing ends there.
_CHUNK = 1 << 16
MOST_BYTES = 1 << 24


class AuditPage(NamedTuple):
    """The newest lines that fit, and the offset in bytes before which older ones are; 0 at the beginning of the file.

    `is_cut` is true if the reader gave up after `MOST_BYTES`: there may be older lines that fit.
    """

    lines: tuple[dict[str, Any], ...]
    before: int
    is_cut: bool


def read_back(path: Path, fits: Callable[[dict[str, Any]], bool], *, limit: int, before: int = 0) -> AuditPage:
    """Return up to `limit` lines that fit, newest first, from the end of the file or from the offset `before`.

    Lines that are no JSON object are left out. A missing file has no lines.
    """
    found: list[dict[str, Any]] = []
    try:
        with path.open("rb") as file:
            end = min(before or os.fstat(file.fileno()).st_size, os.fstat(file.fileno()).st_size)
            at = end
            for at, line in _lines_back(file, end):
                entry = _entry(line)
                if entry is not None and fits(entry):
                    found.append(entry)
                if len(found) == limit or end - at > MOST_BYTES:
                    return AuditPage(tuple(found), at, len(found) < limit and at > 0)
    except FileNotFoundError:
        return AuditPage((), 0, is_cut=False)
    return AuditPage(tuple(found), 0, is_cut=False)


def _lines_back(file: Any, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines before the offset `end` with their offsets, last first."""
    rest = b""
    while end > 0:
        begin = max(0, end - _CHUNK)
        file.seek(begin)
        block = file.read(end - begin) + rest
        lines = block.split(b"\n")
        rest = lines[0]
        at = begin + len(block)
        for line in reversed(lines[1:]):
            at -= len(line)
            yield at, line
            at -= 1
        end = begin
    if rest:
        yield 0, rest


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line) if line.strip() else None
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None
