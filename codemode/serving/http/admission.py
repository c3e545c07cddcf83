"""Admission: how much is taken on at one time, who comes next, and who is told to come again later.

What makes a machine slow is many programs that begin at the same time; what waits for a service costs it nothing. So
`running` programs are under way at most, but only as many as there are processors are at their beginning. The rest wait
in a queue for each caller, taken in turn. A queue takes up a burst; one that does not empty only makes everybody late
(Nichols and Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012). So once it has lasted for a second it is kept
as short as keeps the processors busy, until nobody had to be refused for as long.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, OrderedDict, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode.executions.replay.recovery import NoRoomYet

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode.settings import LoadSettings

#: Seconds after which a queue that did not empty is no burst any more.
LASTING_S = 1.0

#: Requests in the queue for each processor while there is more to do than can be done.
SHORT_QUEUE = 2

#: One place in so many is kept free for others while a single caller has all that run.
KEPT_FREE = 4

#: Callers whose rate is remembered.
_REMEMBERED = 10_000


class Overloaded(Exception):
    """There is no room; `retry_after_s` is when there may be."""

    def __init__(self, reason: str, retry_after_s: float = 1.0) -> None:
        self.reason = reason
        self.retry_after_s = max(1, math.ceil(retry_after_s))
        super().__init__(reason)


@dataclass(slots=True, eq=False)
class Turn:
    """One request's place. `begun` says that it no longer keeps a processor busy with its beginning."""

    caller: str
    admission: Admission
    admitted: asyncio.Future[None]
    is_starting: bool = field(default=False)
    kept_for: asyncio.Future[Any] | None = field(default=None)

    def keep(self, work: asyncio.Future[Any]) -> None:
        """Give the place back when this work is done, and not already when the request is answered."""
        self.kept_for = work

    def begun(self) -> None:
        """Let the next one begin."""
        if self.is_starting:
            self.is_starting = False
            self.admission.has_begun()


class Admission:
    """Hands out turns. To be used from one event loop."""

    def __init__(self, settings: LoadSettings, *, processors: int) -> None:
        self._settings = settings
        self._processors = processors
        self._running: Counter[str] = Counter()
        self._total = 0
        self._starting = 0
        self._queues: OrderedDict[str, deque[Turn]] = OrderedDict()
        self._waiting = 0
        self._last_empty = 0.0
        self._busy_until = 0.0
        self._next_start: OrderedDict[str, float] = OrderedDict()

    @property
    def running(self) -> int:
        """Requests that are under way."""
        return self._total

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        return self._waiting

    def check(self, caller: str) -> None:
        """Whether there would be a turn, or a place to wait for one: asked before a body is read. Raises Overloaded."""
        now = asyncio.get_running_loop().time()
        self._until_due(caller, now)
        if self._queues or not self._has_room(caller):
            self._who_gives_way(caller, now)

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[Turn]:
        """Wait for a turn, and give it back. Raises Overloaded."""
        loop = asyncio.get_running_loop()
        self._check_rate(caller, loop.time())
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
                self._give_back(turn)
            else:
                turn.kept_for.add_done_callback(lambda _: self._give_back(turn))

    def _give_back(self, turn: Turn) -> None:
        self._total -= 1
        self._running[turn.caller] -= 1
        if not self._running[turn.caller]:
            del self._running[turn.caller]
        turn.begun()
        self._admit_waiting()

    def has_begun(self) -> None:
        """One of those that are under way has left its beginning behind."""
        self._starting -= 1
        self._admit_waiting()

    def _has_room(self, caller: str) -> bool:
        return (
            self._total < self._settings.running
            and self._starting < self._processors
            and self._running[caller] < self._share(caller)
        )

    def _share(self, caller: str) -> int:
        """How many places a caller may have: without a setting, what leaves some for others who come."""
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
                raise Overloaded("the server has more to do than it can take on now") from None
        except BaseException:
            if _is_admitted(turn):  # it came, and whoever wanted it has gone
                self._give_back(turn)
            else:
                self._leave(turn)
            raise

    def _make_place(self, caller: str, now: float) -> None:
        """Room for one more in the queue: if need be at the cost of whoever has most in it. Raises Overloaded."""
        last = self._who_gives_way(caller, now)
        if last is not None:
            self._leave(last)
            last.admitted.set_exception(Overloaded("others wait who have asked for less"))

    def _who_gives_way(self, caller: str, now: float) -> Turn | None:
        """Whose place in the queue one more takes, if there is no other. Raises Overloaded."""
        if not self._waiting:
            self._last_empty = now
        is_busy = now < self._busy_until or now - self._last_empty > LASTING_S
        short = min(SHORT_QUEUE * self._processors, self._settings.waiting)
        if self._waiting < (short if is_busy else self._settings.waiting):
            return None
        self._busy_until = now + LASTING_S
        longest = max(self._queues, key=lambda other: len(self._queues[other]), default=caller)
        if self._waiting == 0 or len(self._queues[longest]) <= len(self._queues.get(caller, ())) + 1:
            raise Overloaded("the server has more to do than it can take on now")
        return self._queues[longest][-1]

    def _leave(self, turn: Turn) -> None:
        queue = self._queues.get(turn.caller)
        if queue is not None and turn in queue:
            queue.remove(turn)
            self._waiting -= 1
            if not queue:
                del self._queues[turn.caller]

    def _admit_waiting(self) -> None:
        """Admit from each queue in turn, as long as there is room."""
        while caller := next((other for other in self._queues if self._has_room(other)), ""):
            self._queues.move_to_end(caller)
            turn = self._queues[caller][0]
            self._leave(turn)
            if not turn.admitted.done():
                self._admit(turn)

    def _check_rate(self, caller: str, now: float) -> None:
        """A second's worth of requests may come at once, after that each in its time. Raises Overloaded."""
        rate = self._settings.per_key_rate_per_s
        if rate is None:
            return
        due = self._until_due(caller, now)
        self._next_start[caller] = due + 1 / rate
        self._next_start.move_to_end(caller)
        while len(self._next_start) > _REMEMBERED:
            self._next_start.popitem(last=False)

    def _until_due(self, caller: str, now: float) -> float:
        """When the next request of a caller may come, by its rate. Raises Overloaded where that is not yet."""
        due = max(self._next_start.get(caller, 0.0), now - 1.0)
        if due > now:
            message = f"more than {self._settings.per_key_rate_per_s:g} requests in a second"
            raise Overloaded(message, due - now)
        return due


@asynccontextmanager
async def turn_of_orphan(admission: Admission, owner: str) -> AsyncIterator[Turn]:
    """A turn for an execution that a dead server has left. Raises NoRoomYet."""
    try:
        async with admission.turn(owner) as turn:
            yield turn
    except Overloaded as overloaded:
        raise NoRoomYet(overloaded.reason) from None


def _is_admitted(turn: Turn) -> bool:
    return turn.admitted.done() and not turn.admitted.cancelled() and turn.admitted.exception() is None
