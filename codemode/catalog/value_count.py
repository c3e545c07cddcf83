"""Bound the number of values in arguments and answers. Whatever visits each one blocks the event loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The most items and members in the arguments of one call. Each takes 10 to 70 microseconds, depending on its schema.
MOST_VALUES = 50_000

_SCALARS = frozenset((str, int, float, bool, type(None)))


def holds_too_many(value: Any, most: int = MOST_VALUES) -> bool:
    """Whether JSON data holds more than `most` values. No more of them are looked at."""
    remaining = most
    unvisited: list[Any] = [value]
    while unvisited:
        part = unvisited.pop()
        if type(part) in _SCALARS or not isinstance(part, (Mapping, list, tuple)):
            continue
        remaining -= len(part)
        if remaining < 0:
            return True
        unvisited += part.values() if isinstance(part, Mapping) else part
    return False
