"""Lists of which a program read some pages: a cut list is noted, and so are pages that are all the same."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode.catalog.argument_paths import argument_at, with_argument
from codemode.catalog.next_page import items_of, next_page
from codemode.catalog.page_answer import total_of
from codemode.catalog.paging import paging_of, walked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.tool import Paging, Tool

#: Largest number of notes in one outcome.
_MOST_NOTES = 5

#: How a note ends that says what a program can do about a list.
_WHOLE = ".items(…) returns all"

#: Equal pages in a row, with different positions, that are noted.
_EQUAL = 3


def without_advice(note: str) -> str:
    """Return a note without what only programs can do."""
    return note.rpartition("; ")[0] if note.endswith(_WHOLE) else note


@dataclass(slots=True)
class _List:
    """What was read of one list: the items of each page by its position, and what the answers say of the rest."""

    tool: str
    total: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    rest: str = ""
    has_ended: bool = False
    ends: tuple[int, Any, Any] | None = None  # of the last page: its length, its first and its last item
    equal: int = 1
    most_equal: int = 1

    def add(self, position: str, items: list[Any], rest: str) -> None:
        """Count a page. `rest` says what follows it, "" for nothing."""
        ends = (len(items), items[0], items[-1]) if items else None
        is_equal = ends is not None and ends == self.ends and position not in self.counts
        self.equal = self.equal + 1 if is_equal else 1
        self.most_equal = max(self.most_equal, self.equal)
        self.ends = ends
        self.counts[position] = len(items)
        self.rest = self.rest or rest
        self.has_ended = self.has_ended or not rest

    def note(self) -> str:
        """Return what the program should know of the list, "" for nothing."""
        read = sum(self.counts.values())
        if self.most_equal >= _EQUAL and self.ends is not None:
            same = f"{self.tool} answered the same {self.ends[0]} items {self.most_equal} times in a row"
            return f"{same}, at different positions: it ignores the position; leave the loop at a page that repeats"
        if self.total is not None:
            return f"{self.tool} returned {read} of {self.total}; {self.tool}{_WHOLE}" if 0 < read < self.total else ""
        if not read or self.has_ended:
            return ""
        return f"{self.tool} returned {read} items, and {self.rest}; {self.tool}{_WHOLE}"


class PartialLists:
    """The lists of which a program read some pages."""

    def __init__(self) -> None:
        self._lists: dict[str, _List] = {}

    def add(
        self, tool: Tool, arguments: Mapping[str, Any], value: Any, headers: Mapping[str, str] | None = None
    ) -> None:
        """Take note of an answer, if it is a page of a list. `headers` are those that describe pages."""
        paging = walked(tool)
        if paging is None or argument_at(arguments, paging.size) == 1:  # one item is read for the total
            return
        places = {paging.cursor, paging.after, paging.page, paging.offset, paging.size} - {""}
        filters = {name: value for name, value in arguments.items() if name not in places}
        for path in (path for path in places if argument_at(filters, path) is not None):
            filters = with_argument(filters, path, None)
        same = json.dumps([tool.id, filters], default=str, sort_keys=True)
        position = json.dumps([argument_at(arguments, path) for path in sorted(places)], default=str)
        known = self._lists.setdefault(same, _List(tool.id))
        total = total_of(value, headers) if headers or paging_of(tool) is not None else None
        known.total = total if total is not None else known.total
        known.add(position, items_of(paging, value), _rest(tool, paging, arguments, value, headers))

    def notes(self) -> tuple[str, ...]:
        """Return a note on each list that the program did not read whole."""
        notes = (known.note() for known in self._lists.values())
        return tuple(dict.fromkeys(filter(None, notes)))[:_MOST_NOTES]


def _rest(
    tool: Tool, paging: Paging, arguments: Mapping[str, Any], value: Any, headers: Mapping[str, str] | None
) -> str:
    """Return whether a page says that more follows, or leaves that open; "" if it is the last."""
    following = next_page(tool, paging, arguments, value, headers)
    if not following.is_counted:
        return "more follow" if following.arguments is not None or following.note else ""
    size = argument_at(arguments, paging.size) or paging.size_default if paging.size else None
    is_full = isinstance(size, int) and len(items_of(paging, value)) >= size
    return "more may follow" if following.note or is_full else ""
