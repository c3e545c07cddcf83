"""Waits for the limits of services: as long as a service asks for, and without using up the time of the program."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class ServiceWaits:
    """The waits of one run, at most `most_s` seconds in all. Waits at the same time count once."""

    def __init__(self, most_s: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._most_s = most_s
        self._clock = clock
        self._total_s = 0.0
        self._until = 0.0
        self._by_source: Counter[str] = Counter()

    def from_now(self) -> Callable[[], float]:
        """Return a function of the seconds, from now on, that do not count towards the time of a program."""
        before_s = self._total_s
        return lambda: self._total_s - before_s

    async def wait(self, source: str, wait_s: float, given_up: asyncio.Event) -> bool:
        """Wait as long as a service asked for. Return whether the call may be sent again.

        It may not if the waits of the run would take too long, or if the program has given the call up meanwhile.
        """
        now = self._clock()
        added_s = max(0.0, now + wait_s - max(now, self._until))
        if given_up.is_set() or self._total_s + added_s > self._most_s:
            return False
        self._total_s += added_s
        self._until = max(self._until, now + wait_s)
        self._by_source[source] += round(added_s * 1000)
        try:
            await asyncio.wait_for(given_up.wait(), wait_s)
        except TimeoutError:
            return True
        return False

    def notes(self) -> tuple[str, ...]:
        """Return how long the program waited for each service."""
        waits = ((source, waited_ms / 1000) for source, waited_ms in self._by_source.items())
        return tuple(f"waited {waited_s:.3g} s for {source}'s limit" for source, waited_s in waits if waited_s)
