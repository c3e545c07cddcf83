"""Exact names: look up tools by id, operation id or wire name, ignoring case."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.catalog.tool import Tool

_SIGN = re.compile(r"[./_\-:]\S|[a-z0-9][A-Z]")  # every name-like word matches, few others do
_CORE = re.compile(r"[\W_]*+(.*\w)")  # a word without the signs around it
_SEPARATOR = re.compile(r"[./_\-:]")
_RUN = re.compile(r"\w+")
_HUMP = re.compile(r"[a-z0-9][A-Z]")


class ExactNames:
    """Finds tools by exact name. Stores 12 bytes a name: a hash and a tool number."""

    def __init__(self, tools: Sequence[Tool], hashes: NDArray[np.uint64], documents: NDArray[np.int32]) -> None:
        self._tools = tools
        self.hashes = hashes
        self.documents = documents
        self._most_spaces = max((name.count(" ") for tool in tools for name in (tool.id, *tool.aliases)), default=0)

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> ExactNames:
        """Hash the ids and aliases of all tools."""
        pairs = [(_hash(name), place) for place, tool in enumerate(tools) for name in (tool.id, *tool.aliases)]
        hashes = np.fromiter((pair[0] for pair in pairs), np.uint64, len(pairs))
        documents = np.fromiter((pair[1] for pair in pairs), np.int32, len(pairs))
        order = np.lexsort((documents, hashes))
        return cls(tools, hashes[order], documents[order])

    def find(self, query: str) -> list[int]:
        """Return the numbers of the tools whose name is the whole query, or else those whose names it contains."""
        name = query.strip()
        whole = self._places(name) if name.count(" ") <= self._most_spaces else []
        if whole or not _SIGN.search(name):
            return whole
        words = dict.fromkeys(part for word in filter(_SIGN.search, name.split()) for part in _names_in(word))
        return list(dict.fromkeys(place for word in words for place in self._places(word)))

    def _places(self, name: str) -> list[int]:
        key = np.uint64(_hash(name))
        start = int(self.hashes.searchsorted(key))
        if start == len(self.hashes) or self.hashes[start] != key:
            return []
        end = int(self.hashes.searchsorted(key, side="right"))
        folded = name.casefold()
        return [
            place
            for place in dict.fromkeys(self.documents[start:end].tolist())
            if any(known.casefold() == folded for known in (self._tools[place].id, *self._tools[place].aliases))
        ]


def _names_in(word: str) -> list[str]:
    """Return what may be a name in a word: `the` part between signs around it, or its parts in camel case."""
    core = _CORE.match(word)
    if core is not None and _SEPARATOR.search(core[1], 1) is not None:
        return [core[1]]
    return [run for run in _RUN.findall(word) if _HUMP.search(run)]


def _hash(name: str) -> int:
    return int.from_bytes(blake2b(name.casefold().encode(), digest_size=8).digest(), "big")
