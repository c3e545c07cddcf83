"""Usage: which hit of a search was then called, kept in a local file as labelled queries for `search-tune`."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.search.query import Hits

_REMEMBERED = 50  # searches that a later call may still be an answer to


class UsageLog:
    """Appends `{"query", "gold", "tag": "used"}` a line; read back by `evaluation.read_labelled`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._searches: deque[tuple[str, frozenset[str]]] = deque(maxlen=_REMEMBERED)

    def searched(self, hits: Hits) -> None:
        """Remember what a search gave."""
        for place, query in enumerate(hits.query.queries):
            found = frozenset(hit.tool.id for hit in hits.hits if hit.query == place)
            if found:
                self._searches.append((query, found))

    def called(self, tool_id: str) -> None:
        """Record the latest search that gave this tool, once; a call that no search led to is not recorded."""
        for search in reversed(self._searches):
            if tool_id in search[1]:
                self._searches.remove(search)
                self._append(search[0], tool_id)
                return

    def _append(self, query: str, tool_id: str) -> None:
        line = json.dumps({"query": query, "gold": [tool_id], "tag": "used"}, ensure_ascii=False)
        with contextlib.suppress(OSError):  # a record that cannot be kept must not fail the call
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
