"""The calls of one program: each is a task of its own, and a bounded number runs at one time."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sandbox.errors import CallFailed, ProgramStopped
from sandbox.protocol.host_messages import encode_failure, encode_large_value, encode_value
from sandbox.protocol.large_answers import is_large
from sandbox.protocol.strict_json import InvalidJson, JsonValue

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable

    from sandbox.limits import Limits
    from sandbox.outcome import Call

    CallHandler = Callable[[Call], Awaitable[JsonValue]]


_logger = logging.getLogger(__name__)

#: Length to which the message of a too large error is cut.
_MESSAGE_CHARACTERS = 2_000


class CallDesk:
    """Make the calls of a program, and pass on each answer at once.

    `on_answer(id, json, is_error=…)` is called once for each call that is not cancelled, or `on_stop` if its handler
    ends the program. No call starts while `has_room()` is false, since earlier answers have not been read; call `go_on`
    when they have.
    """

    def __init__(
        self,
        handler: CallHandler | None,
        limits: Limits,
        *,
        on_answer: Callable[..., None],
        on_stop: Callable[[ProgramStopped], None],
        has_room: Callable[[], bool],
        replied_bytes: int = 0,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._handler = handler
        self._limits = limits
        self._on_answer = on_answer
        self._on_stop = on_stop
        self._has_room = has_room
        self._waiting: deque[Call] = deque()
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._is_starting = False
        self._goes_on = asyncio.Event()
        self._replied_bytes = replied_bytes

    def take(self, calls: Iterable[Call]) -> None:
        """Start these calls, or queue them."""
        self._waiting.extend(calls)
        self._start_waiting()

    def go_on(self) -> None:
        """Start queued calls, if there is room."""
        self._goes_on.set()
        self._start_waiting()

    def cancel(self, call_id: int) -> None:
        """Cancel a call. If it has been answered meanwhile, do nothing."""
        task = self._under_way.get(call_id)
        if task is not None:
            task.cancel()
            task.add_done_callback(lambda _: self._over(call_id))  # a task that never began runs no `finally`
        else:
            self._waiting = deque(call for call in self._waiting if call.id != call_id)

    @property
    def is_busy(self) -> bool:
        """Whether any handler is running."""
        return bool(self._under_way)

    @property
    def has_others(self) -> bool:
        """Whether there are calls besides the one being answered."""
        return len(self._under_way) > 1 or bool(self._waiting)

    async def close(self) -> None:
        """Cancel all calls and wait until their handlers have ended."""
        self._waiting.clear()
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _start_waiting(self) -> None:
        if self._is_starting:  # called within the loop below, by a call that was answered at once
            return  # pragma: no cover - on Python 3.11 no task starts eagerly
        self._is_starting = True
        while self._waiting and len(self._under_way) < self._limits.calls_in_flight and self._has_room():
            call = self._waiting.popleft()
            task = start_task(self._answer(call), self._loop)
            if not task.done():  # pragma: no branch - as above
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
                f"the answers to this program have {self._replied_bytes} bytes, {self._limits.replies_bytes} are"
                " allowed: nothing was sent; ask for fewer items or fields"
            )
            raise CallFailed(message, kind="answers_exhausted")

    async def _answer(self, call: Call) -> None:
        try:
            data = await self._ask(call)
        except CallFailed as error:
            fields = _encode_error(error, self._limits.reply_bytes)
            self._replied_bytes += len(fields)
            self._on_answer(call.id, fields, is_error=True)
        except ProgramStopped as stopped:
            self._waiting.clear()
            self._on_stop(stopped)
        else:
            self._on_answer(call.id, data, is_error=False)
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
            answer = await self._handler(replace(call, room=self._room))
        except (CallFailed, ProgramStopped):
            raise
        except BaseException as error:  # an exit would end the loop, another's cancellation leave the program waiting
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            # The text may hold a secret, so the program gets only the fact; the log has the rest.
            _logger.exception("call %s of %r: the handler failed", call.id, call.tool)
            message = f"{call.tool} failed inside the host"
            raise CallFailed(message, kind="internal_error") from error
        data = await _encode_answer(answer, call)
        if len(data) > self._limits.reply_bytes:
            message = (
                f"{call.tool} answered with {len(data)} bytes, {self._limits.reply_bytes} are allowed:"
                " ask for fewer items or fields"
            )
            raise CallFailed(message, kind="answer_too_large")
        self._replied_bytes += len(data)
        return data


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _encode_answer(answer: Any, call: Call) -> bytes:
    try:
        return await asyncio.to_thread(encode_large_value, answer) if is_large(answer) else encode_value(answer)
    except Exception as error:
        _logger.warning("call %s of %r: the answer is not JSON data: %s", call.id, call.tool, error)
        message = f"{call.tool} answered with something that is not JSON data"
        raise CallFailed(message, kind="answer_invalid") from error


def start_task(
    work: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop, *, eagerly: bool = True
) -> asyncio.Task[None]:
    """Start a task; from Python 3.12 on at once, so that work that awaits nothing is done within this call."""
    if sys.version_info >= (3, 12):  # pragma: no cover - one of the two lines in each version
        return asyncio.Task(work, loop=loop, eager_start=eagerly)
    return loop.create_task(work)  # pragma: no cover


def _encode_error(error: CallFailed, limit_bytes: int) -> bytes:
    """Return an error as JSON; if it is not JSON data or too large, its message, kind and status alone."""
    try:
        fields = encode_failure(error)
    except (InvalidJson, TypeError):
        fields = None
    if fields is not None and len(fields) <= limit_bytes:
        return fields
    message = error.message.encode("utf-8", "replace").decode()[:_MESSAGE_CHARACTERS]
    return encode_failure(CallFailed(message, kind=error.kind, status=error.status))
