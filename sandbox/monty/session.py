"""One program in Monty, from its first step to its outcome.

Monty runs until it needs something of the host, and hands over a snapshot that says what. A call whose value is only
awaited is answered with a future, so that others run beside it; every other call is answered with its value.

The program reads one delivery at a time, an answer or a tick of the clock, and only when none of its tasks can run. So
the recorded deliveries bring it to the same point again, as they do in a worker (`sandbox.host.recording`).
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import deque
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from pydantic_monty import AsyncFutureSnapshot, AsyncNameLookupSnapshot, MontyComplete, MontyError

from sandbox.errors import ProgramStopped
from sandbox.guest.base.values import ArgumentInvalid, ValueInvalid, encode_arguments, encode_result
from sandbox.host import endings
from sandbox.host.calls import CallDesk
from sandbox.host.clock import ProgramClock
from sandbox.host.endings import Ending
from sandbox.host.recording import Delivery, Outbox
from sandbox.monty.endings import by_error
from sandbox.outcome import Call, Failure, JsonText, Outcome, Status, Usage
from sandbox.protocol.large_results import LARGE

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pydantic_monty import (
        AsyncFunctionSnapshot,
        AsyncMonty,
        AsyncSnapshot,
        ExternalFuture,
        ExternalSettledResult,
        OSPolicy,
    )

    from sandbox.host.arguments import Program
    from sandbox.monty.reader import Reading
    from sandbox.monty.roots import Roots

#: Names that programs use and Monty does not have.
_PRELUDE = "ToolError = RuntimeError"

#: Questions to the host (names, times, sleeps, waits): so many, and so many for each call that is allowed.
_QUESTIONS, _QUESTIONS_PER_CALL = 10_000, 4
_LONGEST_SLEEP_S = 1e6
_RANDOM_BYTES = 1_000_000
_MICROSECONDS = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FUTURE: ExternalFuture = {"future": ...}


class MontySession:
    """Runs one program, once. `began` is the time of the request, by `time.monotonic`."""

    def __init__(self, program: Program, reading: Reading, roots: Roots, *, began: float) -> None:
        self._program = program
        self._reading = reading
        self._roots = roots
        self._began = began
        self._loop = loop = asyncio.get_running_loop()
        limits, recording = program.limits, program.recording
        self._clock = ProgramClock(
            loop, begin=program.now, begun=began, longest_s=limits.wall_s + 1, on_tick=lambda: self._send(0)
        )
        self._now = program.now
        self._random = random.Random(program.seed)  # noqa: S311 - repeatable on purpose
        self._inbox: asyncio.Queue[Delivery] = asyncio.Queue()
        self._recorded = deque(() if recording is None else recording.recorded)
        self._answered = {delivery.call for delivery in self._recorded}
        self._held: list[Call] = []
        self._is_live = not self._recorded
        self._outbox: Outbox | None = None
        if recording is not None:
            self._outbox = Outbox(recording, self._deliver, on_sent=lambda: self._desk.go_on(), on_failure=self._fail)
        self._desk = CallDesk(
            program.call,
            limits,
            on_answer=self._send,
            on_stop=self._fail,
            has_room=self._has_room,
            replied_bytes=sum(len(delivery.answer) for delivery in self._recorded),
        )
        #: Set if something other than the program ends it.
        self._ended: asyncio.Future[Ending] = loop.create_future()
        self._calls = 0
        self._sent_bytes = 0
        self._unread_bytes = 0
        self._snapshots: dict[int, int] = {}  # Monty's numbers of calls, by ours
        self._sleeps: list[tuple[int, int]] = []  # a heap: when they end, and Monty's numbers
        self._results: dict[int, ExternalSettledResult] = {}
        self._tool_errors: set[str] = set()
        self._result: Any = None
        self._output: list[str] = []
        self._output_bytes = 0
        self._is_cut = False

    async def run(self, pool: AsyncMonty, isolation: tuple[str, ...]) -> Outcome:
        """Run the program and return its outcome. On cancellation, its interpreter and calls are ended."""
        driving = asyncio.ensure_future(self._drive(pool))
        try:
            while not (driving.done() or self._ended.done()) and self._left_s() > 0:
                await asyncio.wait((driving, self._ended), timeout=self._left_s(), return_when=asyncio.FIRST_COMPLETED)
            if self._ended.done():
                ending = self._ended.result()
            else:
                ending = driving.result() if driving.done() else endings.by_wall_clock(self._program.limits)
            return ending.outcome(
                result=self._result if ending.has_value else None,
                output="".join(self._output),
                output_truncated=self._is_cut,
                usage=Usage(wall_s=time.monotonic() - self._began, calls=self._calls, output_bytes=self._output_bytes),
                isolation=isolation,
            )
        finally:
            driving.cancel()
            self._clock.stop()
            try:
                await self._desk.close()
            finally:  # even if this task is cancelled again
                if self._program.recording is not None:
                    self._program.recording.over()
                if self._outbox is not None:
                    await self._outbox.settled()
                await asyncio.gather(driving, return_exceptions=True)

    def _left_s(self) -> float:
        return self._program.left_s(self._began, time.monotonic())

    def close(self) -> None:
        """End the program as crashed."""
        if not self._ended.done():
            failure = Failure("WorkerCrashed", "the engine was closed before the program ended")
            self._ended.set_result(Ending(Status.CRASHED, failure=failure))

    async def _drive(self, pool: AsyncMonty) -> Ending:
        limits = self._program.limits
        policy: OSPolicy = {
            "datetime": "call_host",
            "sleep": "call_host",
            "random_start": {"seed": self._program.seed},
        }
        try:
            async with pool.checkout(
                limits={
                    "max_feed_duration_secs": limits.cpu_s,
                    "max_memory": int(limits.memory_bytes),
                    "max_suspensions": _QUESTIONS + _QUESTIONS_PER_CALL * int(limits.calls),
                },
                assert_message_annotations=False,
                os_policy=policy,
            ) as interpreter:
                await interpreter.feed_run(_PRELUDE)
                snapshot = await interpreter.feed_start(
                    self._reading.text,
                    inputs={**self._roots.bound(), **self._program.inputs},
                    print_callback=self._print,
                )
                while not isinstance(snapshot, MontyComplete):
                    snapshot = await self._step(snapshot)
                return self._end_with(snapshot.output)
        except MontyError as error:
            return by_error(error, limits, self._tool_errors, has_made_all=self._calls >= limits.calls)
        except ProgramStopped as stopped:
            return Ending(Status.FAILED, failure=stopped.failure)

    def _end_with(self, value: Any) -> Ending:
        limits = self._program.limits
        try:
            data = encode_result(
                value, limit_bytes=limits.result_bytes, limit_depth=limits.result_depth, has_named_tuples=False
            )
        except ValueInvalid as error:
            message = str(error).replace("MontyClassProxy", "class instance")
            return Ending(Status.FAILED, failure=Failure("ResultError", message))
        self._result = JsonText(data) if len(data) >= LARGE else json.loads(data)
        return Ending(Status.COMPLETED, has_value=self._reading.returns or value is not None)

    # --- what the program asks ---------------------------------------------------------------------------------------

    async def _step(self, snapshot: AsyncSnapshot) -> AsyncSnapshot:
        """Answer one question, and return the next."""
        if isinstance(snapshot, AsyncNameLookupSnapshot):
            owner = snapshot.object_id
            found = None if owner is None else self._roots.attribute(owner, snapshot.variable_name)
            return await (snapshot.resume() if found is None else snapshot.resume(value=found))
        if isinstance(snapshot, AsyncFutureSnapshot):
            return await snapshot.resume(dict([await self._first_of(snapshot.pending_call_ids)]))
        assert not isinstance(snapshot, MontyComplete)  # noqa: S101 - the loop of `_drive` ends there
        return await (self._system(snapshot) if snapshot.is_os_function else self._call(snapshot))

    async def _call(self, snapshot: AsyncFunctionSnapshot) -> AsyncSnapshot:
        owner = snapshot.object_id
        if owner is None:
            return await snapshot.resume({"exception": NameError(f"name '{snapshot.function_name}' is not defined")})
        try:
            tool = self._roots.called(owner, snapshot.function_name)
            arguments = self._arguments(tool, snapshot.args, snapshot.kwargs)
        except (TypeError, RuntimeError) as error:
            return await snapshot.resume({"exception": error})
        self._calls += 1
        self._snapshots[self._calls] = snapshot.call_id
        self._make(Call(self._calls, str(self._calls), tool, arguments))
        place = snapshot.position
        if snapshot.allow_eager_await or (place.start, place.end) in self._reading.parallel:
            return await snapshot.resume(_FUTURE)
        return await snapshot.resume(await self._result_of(snapshot.call_id))

    def _arguments(self, tool: str, positional: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call as JSON data. Raises TypeError, and RuntimeError for an exceeded limit."""
        limits = self._program.limits
        try:
            data = encode_arguments(self._roots.arguments(tool, positional, named))
        except ArgumentInvalid as error:
            message = f"{tool}(): {error}"
            raise TypeError(message) from None
        self._sent_bytes += len(data)
        if len(data) > limits.frame_bytes or self._sent_bytes > limits.traffic_bytes:
            message = f"{tool}(): the arguments of this program have {self._sent_bytes:,} bytes, which is too much"
            raise RuntimeError(message)
        if self._calls >= limits.calls:
            message = f"the program made {limits.calls:,} calls, more are not allowed in one execution"
            raise RuntimeError(message)
        arguments: dict[str, Any] = json.loads(data)
        return arguments

    async def _system(self, snapshot: AsyncFunctionSnapshot) -> AsyncSnapshot:
        """Answer a question for the time or for random bytes, or wait. Everything else does not exist."""
        name, arguments, number = snapshot.function_name, snapshot.args, snapshot.call_id
        try:
            if name in ("time.sleep", "asyncio.sleep"):
                if name == "time.sleep" and self._is_live and arguments[0] > self._left_s():  # nothing else can run
                    self._end_by_wait(arguments[0])
                end = self._now + int(min(_LONGEST_SLEEP_S, arguments[0]) * _MICROSECONDS)
                heappush(self._sleeps, (end, number))
                self._set_timer()
                return await snapshot.resume(_FUTURE if name == "asyncio.sleep" else await self._result_of(number))
            answer = self._told(name, arguments)
        except (TypeError, ValueError, OverflowError) as error:
            return await snapshot.resume({"exception": error})
        return await (snapshot.resume_not_handled() if answer is None else snapshot.resume({"return_value": answer}))

    def _told(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """Return the time, or repeatable random bytes; None for what does not exist."""
        now = _EPOCH + timedelta(microseconds=self._now)
        match name:
            case "time.time":
                return self._now / _MICROSECONDS
            case "datetime.now":
                zone = arguments[0] if arguments else None
                return now.replace(tzinfo=None) if zone is None else now.astimezone(zone)
            case "date.today":
                return now.date()
            case "os.urandom" if arguments[0] <= _RANDOM_BYTES:
                return self._random.randbytes(arguments[0])
        return None

    def _print(self, _: str, text: str) -> None:
        """Take output in a thread of Monty. It comes before the snapshot that follows it."""
        self._loop.call_soon_threadsafe(self._printed, text)

    def _printed(self, text: str) -> None:
        room = int(self._program.limits.output_bytes) - self._output_bytes
        data = text.encode()
        if len(data) > room:
            self._is_cut = True
            text = data[:room].decode(errors="ignore")
        if text:
            self._output_bytes += len(text.encode())
            self._output.append(text)
            if self._program.recording is not None:
                self._program.recording.printed(text)

    # --- what the program is sent ------------------------------------------------------------------------------------

    async def _first_of(self, waiting: Collection[int]) -> tuple[int, ExternalSettledResult]:
        """Return the first answer to one of these calls. Read deliveries until there is one.

        Answers are given one at a time, in the order of their deliveries: Monty's own order is not repeatable.
        """
        waiting = frozenset(waiting)
        while (number := next((each for each in self._results if each in waiting), None)) is None:
            self._take(await self._next())
        return number, self._results.pop(number)

    async def _result_of(self, number: int) -> ExternalSettledResult:
        return (await self._first_of((number,)))[1]

    async def _next(self) -> Delivery:
        if self._recorded:
            return self._recorded.popleft()
        if not self._is_live:
            self._go_live()
        delivery = await self._inbox.get()
        self._unread_bytes -= len(delivery.answer)
        self._desk.go_on()
        return delivery

    def _take(self, delivery: Delivery) -> None:
        self._now = delivery.now
        if delivery.call:
            self._results[self._snapshots.pop(delivery.call)] = self._result_in(delivery)
            return
        while self._sleeps and self._sleeps[0][0] <= delivery.now:
            _, number = heappop(self._sleeps)
            self._results[number] = {"return_value": None}
        self._set_timer()

    def _result_in(self, delivery: Delivery) -> ExternalSettledResult:
        value = json.loads(delivery.answer)
        if not delivery.is_error:
            return {"return_value": value}
        message, status = value["message"], value["status"]
        if status is not None and status >= 400 and str(status) not in message:
            message = f"{status}: {message}"
        self._tool_errors.add(message)
        return {"exception": RuntimeError(message)}

    def _make(self, call: Call) -> None:
        """Make a call, or compare it with the record. Raises ProgramStopped."""
        if self._is_live:
            self._desk.take((call,))
            return
        assert self._program.recording is not None  # noqa: S101 - a replay has a recording
        self._program.recording.replayed(call)
        if call.id not in self._answered:
            self._held.append(call)

    def _go_live(self) -> None:
        """The program has read its record: go on with the clock from there, and make the calls that it waits for."""
        assert self._program.recording is not None  # noqa: S101 - as above
        self._is_live = True
        self._program.recording.live()
        self._clock.go_on_from(self._now)
        self._set_timer()
        self._desk.take(self._held)

    def _end_by_wait(self, wait_s: float) -> None:
        if not self._ended.done():
            self._ended.set_result(endings.by_long_wait(self._program.limits, wait_s, self._left_s()))

    def _set_timer(self) -> None:
        if self._is_live:
            self._clock.set_timer(self._sleeps[0][0] if self._sleeps else None, ())

    def _send(self, call_id: int, answer: bytes = b"", *, is_error: bool = False) -> None:
        delivery = Delivery(call_id, self._clock.now(), (), answer, is_error=is_error)
        if self._outbox is not None:
            self._outbox.add(delivery, has_others=self._desk.has_others)
        else:
            self._deliver((delivery,))

    def _deliver(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            self._unread_bytes += len(delivery.answer)
            self._inbox.put_nowait(delivery)

    def _has_room(self) -> bool:
        """Return whether a call may start: earlier answers have been recorded and read."""
        unkept_bytes = 0 if self._outbox is None else self._outbox.unkept_bytes
        return self._unread_bytes + unkept_bytes < self._program.limits.reply_bytes

    def _fail(self, error: Exception) -> None:
        """End the program. `run` raises an error of the recording; ProgramStopped is an outcome."""
        if self._ended.done():
            return
        if isinstance(error, ProgramStopped):
            self._ended.set_result(Ending(Status.FAILED, failure=error.failure))
        else:
            self._ended.set_exception(error)
