"""How often each role has called each tool, shared by the servers of a project. No arguments, answers or callers."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from codemode.shared.values import UNAVAILABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.shared.values import SharedValue

#: The most tools that are counted for a role, and the most roles.
MOST_TOOLS, MOST_ROLES = 1_000, 200

#: The most tools in the order of a role, and the fewest calls of each: what was called once may never be again.
MOST_LIKELY, FEWEST_CALLS = 40, 2

#: Calls after which the counts are stored.
_BATCH = 16

_FORMAT = 1


class ToolUsage:
    """Counts calls by role and tool. `value` stores them.

    The order of a role is made anew when its calls have doubled, so that it seldom changes.
    """

    def __init__(self, value: SharedValue) -> None:
        self._value = value
        self._counts: dict[str, Counter[str]] = {}
        self._new: dict[str, Counter[str]] = {}
        self._orders: dict[str, tuple[int, tuple[str, ...]]] = {}  # with the calls that each was made of

    @property
    def is_unsaved(self) -> bool:
        """Whether enough calls were counted to store them."""
        return sum(map(Counter.total, self._new.values())) >= _BATCH

    def load(self) -> None:
        """Read the stored counts. Errors are ignored. May wait for a database."""
        with suppress(*UNAVAILABLE):
            self._counts = _parsed(self._value.read())

    def called(self, role: str, tools: Iterable[str]) -> None:
        """Count calls of a role."""
        for table in (self._counts, self._new):
            if role in table or len(table) < MOST_ROLES:
                table.setdefault(role, Counter()).update(tools)

    def order(self, role: str) -> tuple[str, ...]:
        """Return the tools that a role calls most, with the most called first."""
        counts = self._counts.get(role, Counter())
        made_of, order = self._orders.get(role, (0, ()))
        if counts.total() >= max(2 * made_of, 1):
            often = sorted((-count, tool) for tool, count in counts.items() if count >= FEWEST_CALLS)
            order = tuple(tool for _, tool in often[:MOST_LIKELY])
            self._orders[role] = (counts.total(), order)
        return order

    def save(self) -> None:
        """Add the new counts to the stored ones. They are lost on an error. May wait for a database."""
        new, self._new = self._new, {}  # calls are counted meanwhile
        if new:
            with suppress(*UNAVAILABLE):
                self._value.change(partial(_merged, new))


def _merged(new: Mapping[str, Counter[str]], data: bytes | None) -> bytes:
    counts = _parsed(data)
    for role, count in new.items():
        counts.setdefault(role, Counter()).update(count)
    rows = {role: dict(count.most_common(MOST_TOOLS)) for role, count in list(counts.items())[:MOST_ROLES]}
    return json.dumps({"format": _FORMAT, "calls": rows}).encode()


def _parsed(data: bytes | None) -> dict[str, Counter[str]]:
    try:
        stored = json.loads(data or b"{}")
        rows = stored["calls"] if stored["format"] == _FORMAT else {}
        return {str(role): Counter({str(tool): int(n) for tool, n in row.items()}) for role, row in rows.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
