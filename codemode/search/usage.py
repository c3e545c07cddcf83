"""Usage log: a local file of searches, each with the tool that was called after it, for `measure search --tune`.

The log holds the words of the search and the id of the tool. It holds no arguments, results or callers.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from codemode.search.evaluation.evaluation import USED
from codemode.shared.usage_file import LARGEST_BYTES, UsageFile

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.search.query import Hits

_RECENT = 200  # searches that later calls are matched with
_LONGEST_QUERY = 500  # characters; longer queries are cut


class UsageLog:
    """Appends lines `{"query": …, "gold": [id], "tag": "used"}`, which `evaluation.read_labelled` reads."""

    def __init__(self, path: Path, *, largest_bytes: int = LARGEST_BYTES) -> None:
        self._file = UsageFile(path, largest_bytes=largest_bytes)
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
                self._file.append(query=search[1], gold=[tool_id], tag=USED)
                return
