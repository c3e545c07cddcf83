"""The record of one role: which tools were called after which queries. No arguments, results or names of callers.

One caller cannot fill it: when it is full, the caller who is alone in the most rows loses the oldest of these.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The most rows of a role, callers of a row, and calls of one caller that count in a row.
MOST_ROWS, MOST_CALLERS, MOST_CALLS = 1_000, 8, 3

#: Longer queries are cut, in characters.
LONGEST_QUERY = 200

#: Days after which a row without a call is forgotten.
LIFE_DAYS = 180

_FORMAT = 1


class Call(NamedTuple):
    """A tool that was called after a query. `who` stands for the caller.

    It is `direct` if the query had found the tool, and not another query of the conversation later.
    """

    query: str
    tool: str
    who: str
    direct: bool = True


@dataclass(frozen=True, slots=True)
class Row:
    """A query and a tool, the day of the last call, and how often each caller called it."""

    query: str
    tool: str
    day: int
    direct: bool
    callers: Mapping[str, int]

    def with_call(self, call: Call, day: int) -> Row:
        """Return the row with one more call. Of too many callers, the first is forgotten."""
        calls = min(self.callers.get(call.who, 0) + 1, MOST_CALLS)
        others = [(who, count) for who, count in self.callers.items() if who != call.who]
        callers = dict([*others, (call.who, calls)][-MOST_CALLERS:])
        return replace(self, day=day, direct=self.direct or call.direct, callers=callers)


Key: TypeAlias = tuple[str, str]
Rows: TypeAlias = dict[Key, Row]


def mark_of(caller: str, role: str) -> str:
    """Return what stands for a caller in the record of a role."""
    return blake2b(f"{role} {caller}".encode(), digest_size=6).hexdigest()


def add(rows: Rows, calls: Iterable[Call], day: int) -> None:
    """Add calls to rows, which are in the order of their last call. Forget old rows, and those that are too many."""
    for key in [key for key, row in rows.items() if day - row.day > LIFE_DAYS]:
        del rows[key]
    for call in calls:
        key = " ".join(call.query.casefold().split())[:LONGEST_QUERY], call.tool
        row = rows.pop(key, None) or Row(*key, day=day, direct=False, callers={})
        rows[key] = row.with_call(call, day)
    while len(rows) > MOST_ROWS:
        del rows[_excess(rows)]


def _excess(rows: Rows) -> Key:
    alone = {key: next(iter(row.callers)) for key, row in rows.items() if len(row.callers) == 1}
    most = max(Counter(alone.values()).items(), key=lambda each: each[1], default=("", 0))[0]
    return next((key for key, who in alone.items() if who == most), next(iter(rows)))


def encoded(rows: Rows) -> bytes:
    """Return rows as they are stored."""
    stored = [[row.query, row.tool, row.day, row.direct, dict(row.callers)] for row in rows.values()]
    return json.dumps({"format": _FORMAT, "rows": stored}, ensure_ascii=False).encode()


def decoded(data: bytes | None) -> Rows:
    """Return stored rows; none of a value that is damaged or of another version."""
    try:
        stored: Any = json.loads(data or b"{}")
        rows = stored["rows"] if stored["format"] == _FORMAT else ()
        return {
            (str(query), str(tool)): Row(
                str(query), str(tool), int(day), bool(direct), {str(who): int(calls) for who, calls in callers.items()}
            )
            for query, tool, day, direct, callers in rows
        }
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return {}
