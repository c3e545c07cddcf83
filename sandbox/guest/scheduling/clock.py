"""The program's clock, which shows the time of the last frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Readings between two frames until the program sleeps for a millisecond.
READINGS = 1_000


class Clock:
    """Microseconds since the epoch. Computing takes no time; waiting does.

    Each reading advances stopwatches by a microsecond, so that no elapsed time is zero. A program that only watches
    the clock sleeps now and then (`tired`), so that its loop ends.
    """

    __slots__ = ("_readings", "_readings_before", "now_us", "started_us", "tired")

    def __init__(self) -> None:
        self.now_us = self.started_us = 0
        self.tired: Callable[[], None] = lambda: None
        self._readings = self._readings_before = 0

    def start(self, now_us: int) -> None:
        """Set the time at which the program begins."""
        self.now_us = self.started_us = now_us

    def read_us(self) -> int:
        """Return the time."""
        self._readings += 1
        if self._readings % READINGS == 0:
            self.tired()
        return self.now_us

    def read(self) -> float:
        """Return the time in seconds since the epoch, later than at the last reading."""
        now = self.read_us() + self._readings - 1
        return now / 1e6

    def elapsed(self) -> float:
        """Return the seconds since the program began, more than at the last reading."""
        return (self.read_us() - self.started_us + self._readings) / 1e6

    def worked(self) -> float:
        """Return the seconds that computing took, which are only those that readings add."""
        self.read_us()
        return (self._readings_before + self._readings) / 1e6

    def advance(self, now_us: int) -> None:
        """Set the time to that of a frame. It never goes back."""
        if now_us > self.now_us:
            self.now_us = max(now_us, self.now_us + self._readings)
            self._readings_before += self._readings
            self._readings = 0
