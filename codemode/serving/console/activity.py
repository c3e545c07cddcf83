"""Calls and money of the last day, by hour, source and key.

The service sees programs and their answers, not the conversations around them. Its money is what a model pays for
writing the programs and reading the answers, at `agent.price`.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode.executions.types.records import LABEL
from codemode.text.times import SECOND_US, rfc3339

if TYPE_CHECKING:
    from codemode.executions.types.records import StoredExecution
    from codemode.gateway.caller import Caller
    from codemode.serving.console.execution_list import FigureReader, Figures
    from codemode.settings.agent import PriceSettings

HOURS = 24
_HOUR_US = 3_600 * SECOND_US

#: Programs that are read before other requests get their turn.
_TOGETHER = 10


@dataclass
class Tally:
    """Calls, and what they cost; 0 without prices."""

    calls: int = 0
    cost: float = 0.0

    def add(self, calls: int, cost: float) -> None:
        """Count calls and their cost."""
        self.calls += calls
        self.cost += cost


def _tallies() -> defaultdict[str, Tally]:
    return defaultdict(Tally)


@dataclass
class Activity:
    """The tallies of a day. `now_us` is its end, in microseconds since 1970."""

    now_us: int
    hours: list[Tally] = field(default_factory=lambda: [Tally() for _ in range(HOURS)])
    sources: defaultdict[str, Tally] = field(default_factory=_tallies)
    keys: defaultdict[str, Tally] = field(default_factory=_tallies)

    @property
    def first_us(self) -> int:
        """The start of the first hour."""
        return self.now_us - self.now_us % _HOUR_US - (HOURS - 1) * _HOUR_US

    def add(self, stored: StoredExecution, figures: Figures, cost: float) -> None:
        """Count an execution: in the hour of its start, for its key, and for its sources by their calls."""
        self.hours[max(0, (stored.created_us - self.first_us) // _HOUR_US)].add(figures.calls, cost)
        self.keys[stored.request.settings.get(LABEL) or stored.request.owner].add(figures.calls, cost)
        for source, calls in figures.by_source:
            self.sources[source].add(calls, cost * calls / figures.calls)

    def to_json(self, most: int, *, has_prices: bool) -> dict[str, Any]:
        """Return JSON data with `most` sources and keys, those with the most calls. `cost` is None without prices."""

        def row(name: str, value: str, one: Tally) -> dict[str, Any]:
            return {name: value, "calls": one.calls, "cost": one.cost if has_prices else None}

        def rows(tallies: dict[str, Tally]) -> list[dict[str, Any]]:
            busiest = sorted(tallies.items(), key=lambda item: (-item[1].calls, -item[1].cost, item[0]))[:most]
            return [row("name", name, one) for name, one in busiest]

        return {
            "hours": [row("hour", rfc3339(self.first_us + at * _HOUR_US), one) for at, one in enumerate(self.hours)],
            "by_source": rows(self.sources),
            "by_key": rows(self.keys),
        }


async def activity_of(
    reader: FigureReader,
    caller: Caller,
    executions: tuple[StoredExecution, ...],
    price: PriceSettings | None,
    now_us: int,
) -> Activity:
    """Return the activity of executions that a caller sees. Raises JournalDamaged."""
    activity = Activity(now_us)
    for number, stored in enumerate(executions, 1):
        figures = await reader.read(stored, caller)
        cost = 0.0 if price is None else price.of(figures.read_tokens, figures.written_tokens)
        activity.add(stored, figures, cost)
        if number % _TOGETHER == 0:
            await asyncio.sleep(0)
    return activity
