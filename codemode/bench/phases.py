"""The wall time of a turn, split between the model and its calls."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from codemode.serving.agent.events import Asked, CallStarted, TextDelta

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.serving.agent.events import Event


class Phases:
    """Adds up seconds as the events of an agent arrive.

    `model_s` is the time from each request to the first event after its answer. `tools_s` is the time from the start of
    calls to the next request, or to the end. Searches are calls.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.model_s = 0.0
        self.tools_s = 0.0
        self._clock = clock
        self._asked: float | None = None
        self._called: float | None = None

    def take(self, event: Event) -> None:
        """Take the next event."""
        if isinstance(event, TextDelta):
            return
        now = self._clock()
        if self._asked is not None:
            self.model_s += now - self._asked
            self._asked = None
        if isinstance(event, CallStarted):
            self._called = now if self._called is None else self._called
            return
        if self._called is not None:
            self.tools_s += now - self._called
            self._called = now
        if isinstance(event, Asked):
            self._asked, self._called = now, None
