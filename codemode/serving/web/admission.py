"""Admission control: how many requests run at once, who is next, and who must try again later.

Programs that start at the same time slow a machine down; programs that wait for a service cost nothing. At most
`running` programs run at once, and at most one per processor is starting. Other requests wait in one queue per caller,
served round robin. Queues absorb bursts; a standing queue only delays everybody (Nichols and Jacobson, "Controlling
Queue Delay", ACM Queue 10(5), 2012). After one second of queueing the limit shrinks to what keeps the processors
busy. It grows again once nobody has been rejected for a second.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import Counter, OrderedDict, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode.executions.life.recovery import NoRoomYet
from codemode.transports.allowances import Allowances, Rate, RateUnknown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode.settings import LoadSettings
    from codemode.transports.allowances import Allowance

log = logging.getLogger(__name__)

#: Seconds after which a non-empty queue no longer counts as a burst.
LASTING_S = 1.0

#: Queued requests per processor while the server is overloaded.
SHORT_QUEUE = 2

#: A single caller leaves one in this many places free for others.
KEPT_FREE = 4

#: Maximum number of callers whose request rate is tracked.
_REMEMBERED = 10_000


class Overloaded(Exception):
    """The server is full. `retry_after_s` is the number of seconds after which to try again."""

    def __init__(self, reason: str, retry_after_s: float = 1.0) -> None:
        self.reason = reason
        self.retry_after_s = max(1, math.ceil(retry_after_s))
        super().__init__(reason)


@dataclass(slots=True, eq=False)
class Turn:
    """One admitted or waiting request. `begun` reports that its program has started."""

    caller: str
    admission: Admission
    admitted: asyncio.Future[None]
    is_starting: bool = field(default=False)
    kept_for: asyncio.Future[Any] | None = field(default=None)
    is_released: bool = field(default=False)

    def keep(self, work: asyncio.Future[Any]) -> None:
        """Hold the place until this work is done, even after the request has been answered."""
        self.kept_for = work

    def release(self) -> None:
        """Give the place back now. For a request that only waits for a program, which may need the place itself."""
        if not self.is_released:
            self.is_released = True
            self.admission.give_back(self)

    def begun(self) -> None:
        """Report the start, so that the next request may start."""
        if self.is_starting:
            self.is_starting = False
            self.admission.has_begun()


class Admission:
    """Hands out turns. Use from one event loop only. `allowances` are rates that other servers may share."""

    def __init__(self, settings: LoadSettings, *, processors: int, allowances: Allowances | None = None) -> None:
        self._settings = settings
        self._processors = processors
        self._running: Counter[str] = Counter()
        self._total = 0
        self._starting = 0
        self._queues: OrderedDict[str, deque[Turn]] = OrderedDict()
        self._waiting = 0
        self._last_empty = 0.0
        self._busy_until = 0.0
        self._allowances = allowances or Allowances()
        self._rates: OrderedDict[str, Allowance] = OrderedDict()

    @property
    def running(self) -> int:
        """Requests that are running."""
        return self._total

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        return self._waiting

    def check(self, caller: str) -> None:
        """Check for a free turn or queue place before the body is read. Raises Overloaded."""
        now = asyncio.get_running_loop().time()
        rate = self._rate(caller)
        if rate is not None:
            self._refuse_early(rate.wait_s())
        if self._queues or not self._has_room(caller):
            self._who_gives_way(caller, now)

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[Turn]:
        """Wait for a turn and hold it within the block. Raises Overloaded."""
        loop = asyncio.get_running_loop()
        await self._check_rate(caller)
        turn = Turn(caller, self, loop.create_future())
        if not self._queues and self._has_room(caller):
            self._last_empty = loop.time()
            self._admit(turn)
        else:
            await self._wait(turn, loop)
        try:
            yield turn
        finally:
            if turn.kept_for is None:
                turn.release()
            else:
                turn.kept_for.add_done_callback(lambda _: turn.release())

    def give_back(self, turn: Turn) -> None:
        """Free the place of a turn, and admit who waits. `Turn.release` calls it once."""
        self._total -= 1
        self._running[turn.caller] -= 1
        if not self._running[turn.caller]:
            del self._running[turn.caller]
        turn.begun()
        self._admit_waiting()

    def has_begun(self) -> None:
        """Count one running request as started."""
        self._starting -= 1
        self._admit_waiting()

    def _has_room(self, caller: str) -> bool:
        return (
            self._total < self._settings.running
            and self._starting < self._processors
            and self._running[caller] < self._share(caller)
        )

    def _share(self, caller: str) -> int:
        """Return how many places a caller may have. Without `per_key_running`, some stay free for other callers."""
        if self._settings.per_key_running is not None:
            return self._settings.per_key_running
        running = self._settings.running
        callers = len({caller, *self._running, *self._queues})
        if callers > 1:
            return max(1, running // callers)
        return running - running // KEPT_FREE

    def _admit(self, turn: Turn) -> None:
        self._total += 1
        self._running[turn.caller] += 1
        self._starting += 1
        turn.is_starting = True
        turn.admitted.set_result(None)

    async def _wait(self, turn: Turn, loop: asyncio.AbstractEventLoop) -> None:
        self._make_place(turn.caller, loop.time())
        self._queues.setdefault(turn.caller, deque()).append(turn)
        self._waiting += 1
        self._admit_waiting()
        try:
            async with asyncio.timeout(self._settings.wait_s):
                await turn.admitted
        except TimeoutError:
            if not _is_admitted(turn):
                self._leave(turn)
                raise Overloaded("the server is busy") from None
        except BaseException:
            if _is_admitted(turn):  # admitted, but the waiting request was cancelled
                turn.release()
            else:
                self._leave(turn)
            raise

    def _make_place(self, caller: str, now: float) -> None:
        """Make room in the queue, if need be by rejecting the caller with the longest queue. Raises Overloaded."""
        last = self._who_gives_way(caller, now)
        if last is not None:
            self._leave(last)
            last.admitted.set_exception(Overloaded("the server is busy, and callers with fewer requests come first"))

    def _who_gives_way(self, caller: str, now: float) -> Turn | None:
        """Return the turn that one more request would displace, or None if there is room. Raises Overloaded."""
        if not self._waiting:
            self._last_empty = now
        is_busy = now < self._busy_until or now - self._last_empty > LASTING_S
        short = min(SHORT_QUEUE * self._processors, self._settings.waiting)
        if self._waiting < (short if is_busy else self._settings.waiting):
            return None
        self._busy_until = now + LASTING_S
        longest = max(self._queues, key=lambda other: len(self._queues[other]), default=caller)
        if self._waiting == 0 or len(self._queues[longest]) <= len(self._queues.get(caller, ())) + 1:
            raise Overloaded("the server is busy")
        return self._queues[longest][-1]

    def _leave(self, turn: Turn) -> None:
        queue = self._queues.get(turn.caller)
        if queue is not None and turn in queue:
            queue.remove(turn)
            self._waiting -= 1
            if not queue:
                del self._queues[turn.caller]

    def _admit_waiting(self) -> None:
        """Admit from the queues in turn while there is room."""
        while caller := next((other for other in self._queues if self._has_room(other)), ""):
            self._queues.move_to_end(caller)
            turn = self._queues[caller][0]
            self._leave(turn)
            if not turn.admitted.done():
                self._admit(turn)

    async def _check_rate(self, caller: str) -> None:
        """Allow a burst of one second's requests, then space them evenly. Raises Overloaded."""
        rate = self._rate(caller)
        if rate is None:
            return
        try:
            wait_s = await rate.take()
        except RateUnknown as error:
            log.warning("%s", error.__cause__)
            raise Overloaded("the rate limit of this key is shared by several servers, and cannot be checked") from None
        self._refuse_early(wait_s)

    def _refuse_early(self, wait_s: float) -> None:
        """Raise Overloaded if the caller's next request is due later."""
        if wait_s:
            message = f"rate limit of {self._settings.per_key_rate_per_s:g} requests per second exceeded"
            raise Overloaded(message, wait_s)

    def _rate(self, caller: str) -> Allowance | None:
        per_s = self._settings.per_key_rate_per_s
        if per_s is None:
            return None
        rate = self._rates.get(caller)
        if rate is None:
            rate = self._rates[caller] = self._allowances.of(Rate(f"key {caller}", per_s, burst_s=1.0))
            if len(self._rates) > _REMEMBERED:
                self._rates.popitem(last=False)
        self._rates.move_to_end(caller)
        return rate


@asynccontextmanager
async def turn_of_orphan(admission: Admission, owner: str) -> AsyncIterator[Turn]:
    """Hold a turn for an execution orphaned by a dead server. Raises NoRoomYet."""
    try:
        async with admission.turn(owner) as turn:
            yield turn
    except Overloaded as overloaded:
        raise NoRoomYet(overloaded.reason) from None


def _is_admitted(turn: Turn) -> bool:
    return turn.admitted.done() and not turn.admitted.cancelled() and turn.admitted.exception() is None
