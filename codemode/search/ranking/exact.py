"""Exact names: look up tools by id, operation id or wire name, ignoring case."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.catalog.tool import Tool

_SIGN = re.compile(r"[./_\-:]\S|[a-z0-9][A-Z]")  # every name-like word matches, few others do
_CORE = re.compile(r"[\W_]*+(.*\w)")  # a word without the signs around it
_SEPARATOR = re.compile(r"[./_\-:]")
_RUN = re.compile(r"\w+")
_HUMP = re.compile(r"[a-z0-9][A-Z]")


class ExactNames:
    """Finds tools by exact name: id or alias."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._places: dict[str, list[int]] = {}
        for place, tool in enumerate(tools):
            for name in (tool.id, *tool.aliases):
                places = self._places.setdefault(name.casefold(), [])
                if place not in places[-1:]:
                    places.append(place)

    def find(self, query: str) -> list[int]:
        """Return the numbers of the tools whose name is the whole query, or else those whose names it contains."""
        name = query.strip()
        whole = self._places.get(name.casefold(), [])
        if whole or not _SIGN.search(name):
            return whole
        words = dict.fromkeys(part for word in filter(_SIGN.search, name.split()) for part in _names_in(word))
        return list(dict.fromkeys(place for word in words for place in self._places.get(word.casefold(), ())))


def _names_in(word: str) -> list[str]:
    """Return what may be a name in a word: `the` part between signs around it, or its parts in camel case."""
    core = _CORE.match(word)
    if core is not None and _SEPARATOR.search(core[1], 1) is not None:
        return [core[1]]
    return [run for run in _RUN.findall(word) if _HUMP.search(run)]
