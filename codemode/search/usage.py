"""Usage log: a local file of searches, each with the tool that was called after it, for `search-tune`.

The log holds the words of the search and the id of the tool. It holds no arguments, results or callers.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import deque
from typing import TYPE_CHECKING

from codemode.search.evaluation.evaluation import USED

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.search.query import Hits

_RECENT = 200  # searches that later calls are matched with
_LONGEST_QUERY = 500  # characters; longer queries are cut
LARGEST_BYTES = 1024 * 1024  # of the file; a larger one loses its older half


class UsageLog:
    """Appends lines `{"query": …, "gold": [id], "tag": "used"}`, which `evaluation.read_labelled` reads."""

    def __init__(self, path: Path, *, largest_bytes: int = LARGEST_BYTES) -> None:
        self._path = path
        self._largest_bytes = largest_bytes
        self._searches: deque[tuple[str, str, frozenset[str]]] = deque(maxlen=_RECENT)

    def searched(self, hits: Hits, *, who: str = "") -> None:
        """Remember the hits of a caller's search."""
        for place, query in enumerate(hits.query.queries):
            ids = frozenset(hit.tool.id for hit in hits.hits if hit.query == place)
            if ids:
                self._searches.append((who, query[:_LONGEST_QUERY], ids))

    def called(self, tool_id: str, *, who: str = "") -> None:
        """Record the caller's latest search that found this tool, once. Other calls are not recorded."""
        for search in reversed(self._searches):
            if search[0] == who and tool_id in search[2]:
                self._searches.remove(search)
                self._append(search[1], tool_id)
                return

    def _append(self, query: str, tool_id: str) -> None:
        line = json.dumps({"query": query, "gold": [tool_id], "tag": USED}, ensure_ascii=False) + "\n"
        with contextlib.suppress(OSError):  # a failed write must not fail the call
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
