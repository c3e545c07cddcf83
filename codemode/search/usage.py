"""Usage: which hit of a search was then called, kept in a local file as labelled queries for `search-tune`.

What is kept is the words of the search and the id of the tool: no argument, no answer, no caller.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import deque
from typing import TYPE_CHECKING

from codemode.search.ranking.evaluation import USED

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.search.query import Hits

_REMEMBERED = 200  # searches that a later call may still be an answer to
_LONGEST_QUERY = 500  # characters of a query that are kept
LARGEST_BYTES = 1024 * 1024  # of the file, from which on its older half is dropped


class UsageLog:
    """Appends `{"query", "gold", "tag": "used"}` a line; read back by `evaluation.read_labelled`."""

    def __init__(self, path: Path, *, largest_bytes: int = LARGEST_BYTES) -> None:
        self._path = path
        self._largest_bytes = largest_bytes
        self._searches: deque[tuple[str, str, frozenset[str]]] = deque(maxlen=_REMEMBERED)

    def searched(self, hits: Hits, *, who: str = "") -> None:
        """Remember what a search of a caller gave."""
        for place, query in enumerate(hits.query.queries):
            found = frozenset(hit.tool.id for hit in hits.hits if hit.query == place)
            if found:
                self._searches.append((who, query[:_LONGEST_QUERY], found))

    def called(self, tool_id: str, *, who: str = "") -> None:
        """Record the caller's latest search that gave this tool, once; a call that no search led to is not recorded."""
        for search in reversed(self._searches):
            if search[0] == who and tool_id in search[2]:
                self._searches.remove(search)
                self._append(search[1], tool_id)
                return

    def _append(self, query: str, tool_id: str) -> None:
        line = json.dumps({"query": query, "gold": [tool_id], "tag": USED}, ensure_ascii=False) + "\n"
        with contextlib.suppress(OSError):  # a record that cannot be kept must not fail the call
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(line.encode("utf-8", "replace"))
                is_full = file.tell() > self._largest_bytes
            if is_full:
                self._drop_older_half()

    def _drop_older_half(self) -> None:
        lines = self._path.read_bytes().splitlines(keepends=True)
        beside = self._path.with_name(self._path.name + ".new")
        beside.touch(mode=0o600)
        beside.write_bytes(b"".join(lines[len(lines) // 2 :]))
        beside.replace(self._path)
