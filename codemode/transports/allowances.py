"""Rates, alone or shared: slots in time, one for each call, handed out in order (virtual scheduling, ITU-T I.371).

A server takes a batch of slots at a time from where they are counted, and its calls then wait for nothing but their
slot. A slot that is not used soon after its time is lost, so unused slots need not be returned. Within any T seconds,
at most `per_s * (T + burst_s + 0.1) + 1` calls of all servers start; a round trip to the store adds to the 0.1 s.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from codemode.errors import CallError, CodeModeError

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds after its time, and the burst, for which a slot can be used.
KEPT_S = 0.1

#: Rates that are remembered in memory.
_REMEMBERED = 10_000


class RateUnknown(CallError):
    """The rate of calls is counted elsewhere, and that place cannot be reached; nothing was sent."""

    code = "rate_unknown"

    def __init__(self, rate: str) -> None:
        message = f"the rate limit of {rate} is shared by several servers, and cannot be checked now"
        super().__init__(f"{message}; nothing was sent, try again later")


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit of `per_s` calls per second under a name. Unused calls of the last `burst_s` seconds may be caught up."""

    name: str
    per_s: float
    burst_s: float = 0.0


class SlotGrant(NamedTuple):
    """Consecutive slots. `first_s` is the time of the first one from now: of the next one, if there are none."""

    slots: int
    first_s: float


class Slots(Protocol):
    """Where slots are counted. `ahead_s` is how many seconds of them a server may take at once, 0 for one slot."""

    ahead_s: float

    async def lease(self, rate: Rate, most: int, *, due_only: bool) -> SlotGrant:
        """Take the next `most` slots; with `due_only`, at most those whose time has come. Raises CodeModeError."""
        ...


class LocalSlots:
    """Counts the slots of one server in memory."""

    ahead_s = 0.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next: OrderedDict[str, float] = OrderedDict()

    async def lease(self, rate: Rate, most: int, *, due_only: bool) -> SlotGrant:
        """See `Slots.lease`."""
        now = self._clock()
        start = max(self._next.get(rate.name, 0.0), now - rate.burst_s)
        count = min(most, max(0, int((now - start) * rate.per_s) + (start <= now))) if due_only else most
        self._next[rate.name] = start + count / rate.per_s
        self._next.move_to_end(rate.name)
        if len(self._next) > _REMEMBERED:
            self._next.popitem(last=False)
        return SlotGrant(count, start - now)


class Allowance:
    """The slots of one rate that this server holds. Use from one event loop only."""

    def __init__(self, rate: Rate, slots: Callable[[], Slots], clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._slots = slots
        self._clock = clock
        self._held: deque[float] = deque()
        self._next = 0.0  # nothing is due before
        self._batch = 1
        self._leased = 0.0
        self._waiting = 0
        self._failed_at = -math.inf
        self._failure: CodeModeError | None = None
        self._leasing = asyncio.Lock()

    def wait_s(self) -> float:
        """Return the seconds for which, as far as known here, no call may start. 0 if one may start now."""
        self._drop()
        return 0.0 if self._held else max(0.0, self._next - self._clock())

    async def take(self) -> float:
        """Take a slot whose time has come and return 0. If there is none, return the seconds until the next one.

        Raises RateUnknown.
        """
        since = self._clock()
        async with self._leasing:
            wait_s = self.wait_s()
            if wait_s:
                return wait_s
            if not self._held:
                await self._lease(since, due_only=True)
            if not self._held:
                return max(self._next - self._clock(), 0.001)
            self._held.popleft()
            return 0.0

    async def reserve(self) -> float:
        """Take the next slot, and return the seconds until its time. Raises RateUnknown."""
        since = self._clock()
        self._waiting += 1
        try:
            async with self._leasing:
                self._drop()
                if not self._held:
                    await self._lease(since, due_only=False)
                return max(0.0, self._held.popleft() - self._clock())
        finally:
            self._waiting -= 1

    def _drop(self) -> None:
        """Drop slots whose time has passed."""
        oldest = self._clock() - self._rate.burst_s - KEPT_S
        while self._held and self._held[0] < oldest:
            self._held.popleft()

    async def _lease(self, since: float, *, due_only: bool) -> None:
        """Take slots for a call that waits since a time. It fails with the lease that it waited for."""
        if since < self._failed_at:
            raise RateUnknown(self._rate.name) from self._failure
        slots = self._slots()
        try:
            granted = await slots.lease(self._rate, self._most(slots.ahead_s), due_only=due_only)
        except CodeModeError as error:
            self._failed_at, self._failure = self._clock(), error
            raise RateUnknown(self._rate.name) from error
        first = self._clock() + granted.first_s
        self._held.extend(first + number / self._rate.per_s for number in range(granted.slots))
        self._next = first + granted.slots / self._rate.per_s

    def _most(self, ahead_s: float) -> int:
        """Return how many slots to take: more if the last ones were soon used up, fewer if they lasted."""
        now = self._clock()
        since_s, self._leased = now - self._leased, now
        if since_s <= ahead_s:
            self._batch *= 2
        elif since_s > 2 * ahead_s:
            self._batch //= 2
        self._batch = max(1, min(self._batch, int(self._rate.per_s * ahead_s)))
        return max(self._batch, min(self._waiting, int(self._rate.per_s * ahead_s)))


class Allowances:
    """The rates of one server. Set `slots` to share them with other servers."""

    def __init__(self) -> None:
        self.slots: Slots = LocalSlots()

    def of(self, rate: Rate) -> Allowance:
        """Return the allowance of a rate."""
        return Allowance(rate, lambda: self.slots)
