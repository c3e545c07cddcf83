"""The calls of one program on the host's side: each a task of its own, a bounded number under way at one time."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from sandbox.errors import CallFailed, ProgramStopped
from sandbox.protocol.host_messages import encode_failure, encode_value
from sandbox.protocol.strict_json import InvalidJson, JsonValue

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable

    from sandbox.limits import Limits
    from sandbox.outcome import Call

    CallHandler = Callable[[Call], Awaitable[JsonValue]]

_logger = logging.getLogger(__name__)

#: What is kept of the message of an error that is too large to cross.
_MESSAGE_CHARACTERS = 2_000


_ROOM: ContextVar[Callable[[], Awaitable[None]]] = ContextVar("room")


async def room() -> None:
    """Wait until the program has read enough of what it was answered before; CallFailed where it may get no more.

    For call handlers that do not carry out a call as soon as it is made: to be awaited before they ask for an answer.
    """
    wait = _ROOM.get(None)
    if wait is not None:
        await wait()


class CallDesk:
    """Takes calls, has them answered, and hands each answer on as soon as it is there.

    `on_value(id, json)` and `on_error(id, json)` are called once for each call that nobody cancelled, or `on_stop`
    for one whose handler ends the program. No call is started while `has_room()` is false: the answers before it are
    not read yet. `go_on` says that they were.
    """

    def __init__(
        self,
        handler: CallHandler | None,
        limits: Limits,
        *,
        on_value: Callable[[int, bytes], None],
        on_error: Callable[[int, bytes], None],
        on_stop: Callable[[ProgramStopped], None],
        has_room: Callable[[], bool],
        replied_bytes: int = 0,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._handler = handler
        self._limits = limits
        self._on_value = on_value
        self._on_error = on_error
        self._on_stop = on_stop
        self._has_room = has_room
        self._waiting: deque[Call] = deque()
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._is_starting = False
        self._goes_on = asyncio.Event()
        #: Of all replies so far.
        self._replied_bytes = replied_bytes

    def take(self, calls: Iterable[Call]) -> None:
        """Start these calls, or let them wait for their turn."""
        self._waiting.extend(calls)
        self._start_waiting()

    def go_on(self) -> None:
        """Start calls that wait, if they may."""
        self._goes_on.set()
        self._start_waiting()

    def cancel(self, call_id: int) -> None:
        """Give up on a call; one that was answered meanwhile is no error."""
        task = self._under_way.get(call_id)
        if task is not None:
            task.cancel()
            task.add_done_callback(lambda _: self._over(call_id))  # one that had not begun ends without a word
        else:
            self._waiting = deque(call for call in self._waiting if call.id != call_id)

    @property
    def is_busy(self) -> bool:
        """Whether a handler has not ended."""
        return bool(self._under_way)

    @property
    def has_others(self) -> bool:
        """Whether calls wait or are under way besides the one that is being answered."""
        return len(self._under_way) > 1 or bool(self._waiting)

    async def close(self) -> None:
        """Cancel everything and wait until the handlers have ended."""
        self._waiting.clear()
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _start_waiting(self) -> None:
        if self._is_starting:
            return  # a call that was answered at once: the loop below goes on
        self._is_starting = True
        while self._waiting and len(self._under_way) < self._limits.calls_in_flight and self._has_room():
            call = self._waiting.popleft()
            task = _start_task(self._answer(call), self._loop)
            if not task.done():
                self._under_way[call.id] = task
        self._is_starting = False

    async def _room(self) -> None:
        while not self._has_room():
            self._goes_on.clear()
            await self._goes_on.wait()
        self._refuse_more()

    def _refuse_more(self) -> None:
        if self._replied_bytes > self._limits.replies_bytes:
            message = (
                f"the calls of this program were answered with {self._replied_bytes} bytes so far,"
                f" {self._limits.replies_bytes} are allowed: nothing was sent; ask for fewer items or fields"
            )
            raise CallFailed(message, kind="answers_exhausted")

    async def _answer(self, call: Call) -> None:
        _ROOM.set(self._room)
        try:
            data = await self._ask(call)
        except CallFailed as error:
            fields = _told(error, self._limits.reply_bytes)
            self._replied_bytes += len(fields)
            self._on_error(call.id, fields)
        except ProgramStopped as stopped:
            self._waiting.clear()
            self._on_stop(stopped)
        else:
            self._on_value(call.id, data)
        finally:
            self._over(call.id)

    def _over(self, call_id: int) -> None:
        self._under_way.pop(call_id, None)
        if self._waiting:
            self._start_waiting()

    async def _ask(self, call: Call) -> bytes:
        if self._handler is None:
            message = f"{call.tool} cannot be called: this program was given no tools"
            raise CallFailed(message, kind="no_tools")
        self._refuse_more()
        try:
            answer = await self._handler(call)
        except (CallFailed, ProgramStopped):
            raise
        except Exception as error:
            # Whatever a handler raises, its text may hold a secret: the program gets the fact, the log the rest.
            _logger.exception("call %s of %r: the handler failed", call.id, call.tool)
            message = f"{call.tool} failed inside the host"
            raise CallFailed(message, kind="internal_error") from error
        data = _encoded(answer, call)
        if len(data) > self._limits.reply_bytes:
            message = (
                f"{call.tool} answered with {len(data)} bytes, {self._limits.reply_bytes} are allowed:"
                " ask for fewer items or fields"
            )
            raise CallFailed(message, kind="answer_too_large")
        self._replied_bytes += len(data)
        return data


def _encoded(answer: Any, call: Call) -> bytes:
    try:
        return encode_value(answer)
    except Exception as error:  # whatever it is, and however deep
        _logger.warning("call %s of %r: the answer is not JSON data: %s", call.id, call.tool, error)
        message = f"{call.tool} answered with something that is not JSON data"
        raise CallFailed(message, kind="answer_invalid") from error


def _start_task(work: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
    """Start a task at once where Python can (3.12): a handler that waits for nothing answers within this call."""
    if _CAN_START_AT_ONCE:
        return asyncio.Task(work, loop=loop, eager_start=True)  # type: ignore[call-arg,unused-ignore]
    return loop.create_task(work)


_CAN_START_AT_ONCE = sys.version_info >= (3, 12)


def _told(error: CallFailed, limit_bytes: int) -> bytes:
    """Return the fields of an error as JSON; where they cannot cross, or are too large, without what cannot."""
    try:
        fields = encode_failure(error)
    except (InvalidJson, TypeError):
        fields = None
    if fields is not None and len(fields) <= limit_bytes:
        return fields
    message = error.message.encode("utf-8", "replace").decode()[:_MESSAGE_CHARACTERS]
    return encode_failure(CallFailed(message, kind=error.kind, status=error.status))
