"""The clock of one program: its time, its next timer, and the start of its delays."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

_MICROSECONDS = 1_000_000


class ProgramClock:
    """Starts at `begin` (µs since the epoch) when the host's monotonic clock was at `begun` (seconds).

    `on_tick` is called when a timer of the program is due, and `longest_s` after it was set at the latest.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        begin: int,
        begun: float,
        longest_s: float,
        on_tick: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._begin = begin
        self._begun = begun
        self._longest_s = longest_s
        self._on_tick = on_tick
        self._timer: asyncio.TimerHandle | None = None
        self._wake = begin
        self._marks: list[int] = []

    def now(self) -> int:
        """Return the time that the program sees, in µs since the epoch."""
        return self._begin + int((time.monotonic() - self._begun) * _MICROSECONDS)

    def go_on_from(self, moment: int) -> None:
        """Continue from the end of the record."""
        self._begin, self._begun = moment, time.monotonic()

    def set_timer(self, wake: int | None, delays: Sequence[int]) -> None:
        """Set the timer to the earliest moment that the guest waits for. New delays count from now."""
        self.stop()
        if wake is None and not delays:
            return
        now = self.now()
        moments = [] if wake is None else [wake]
        for delay in delays:
            self._marks.append(now)
            moments.append(now + delay)
        self._wake = min(moments)
        wait_s = min((self._wake - now) / _MICROSECONDS, self._longest_s)
        self._timer = self._loop.call_later(max(wait_s, 0), self._tick)

    def wait_s(self) -> float:
        """Return the seconds until the moment that the guest waits for, 0 if there is none."""
        return 0.0 if self._timer is None else (self._wake - self.now()) / _MICROSECONDS

    def take_marks(self) -> tuple[int, ...]:
        """Return the starts of delays that the guest has not been sent yet."""
        if not self._marks:
            return ()
        marks, self._marks = tuple(self._marks), []
        return marks

    def stop(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        self._timer = None
        self._on_tick()
