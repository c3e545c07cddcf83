"""One program in one worker, from the first frame to the outcome."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from sandbox.errors import GuestProtocolError, ProgramRefused, ProgramStopped
from sandbox.host.calls import CallDesk
from sandbox.host.clock import ProgramClock
from sandbox.host.endings import (
    Ending,
    by_breach,
    by_death,
    by_final,
    by_processor_time,
    by_refusal,
    by_wall_clock,
    with_last_word,
)
from sandbox.host.recording import Delivery, Outbox, Replay
from sandbox.outcome import JsonText, Outcome, Status, Usage
from sandbox.protocol.conversation import Conversation, State
from sandbox.protocol.framing import FrameBuffer, FrameTooLarge
from sandbox.protocol.guest_decoder import Calls, Cancel, Final, Live, Output, Sites
from sandbox.protocol.host_messages import encode_go, encode_run
from sandbox.protocol.large_results import LARGE, ResultCheck
from sandbox.protocol.parts import KINDS, NO_PARTS, Parts, checked_text
from sandbox.protocol.strict_json import InvalidJson, JsonValue, loads_result, weight

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from sandbox.host.calls import CallHandler
    from sandbox.host.recording import Recording
    from sandbox.host.worker import Worker
    from sandbox.limits import Limits
    from sandbox.outcome import CallSite
    from sandbox.protocol.control import Exit
    from sandbox.protocol.guest_decoder import GuestMessage

    Preflight = Callable[[tuple[CallSite, ...]], Awaitable[None]]

_UNREADABLE = "the guest sent a result that is %s"

#: In the place of the id of a call: a timer is due.
_TICK = 0

#: Bytes from which on to send an answer alone takes less time than to put it behind others.
_LARGE_REPLY = 1 << 16

#: How long the fork server may take to report the end of a worker that has hung up.
_REPORT_TIMEOUT_S = 5.0

#: How long a guest whose time is up may take to say where its program is.
_LAST_WORD_S = 0.05

#: Shortest time between two looks at the processor time.
_LOOK_AGAIN_S = 0.005


class Program(NamedTuple):
    """What `Sandbox.run` was asked to run: its parameters, with nothing left open. `source`: see `encode_program`."""

    source: bytes
    limits: Limits
    seed: bytes
    now: int
    inputs: Mapping[str, JsonValue] = MappingProxyType({})
    call: CallHandler | None = None
    preflight: Preflight | None = None
    recording: Recording | None = None

    def encode(self) -> bytes:
        """Return what to send first. Raises InvalidJson, TypeError for inputs that cannot cross."""
        return encode_run(
            self.source,
            seed=self.seed,
            now=self.now,
            limits=self.limits,
            inputs=self.inputs,
            asks=self.preflight is not None,
        )


class Session:
    """Speaks with one worker about one program. `run` is the story; the rest answers what arrives meanwhile.

    `began` is when the worker was asked for, on the clock of `time.monotonic`.
    """

    def __init__(self, program: Program, worker: Worker, isolation: tuple[str, ...], *, began: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._program = program
        self._worker = worker
        self._isolation = isolation
        self._started = began
        self._cpu_before = worker.cpu_s() or 0.0
        self._clock = ProgramClock(
            self._loop,
            begin=program.now,
            begun=began,
            longest_s=program.limits.wall_s + 1,
            on_tick=partial(self._send, _TICK),
        )
        self._replay: Replay | None = None
        self._checking: asyncio.Task[None] | None = None
        self._outbox: Outbox | None = None
        if program.recording is not None:
            self._outbox = Outbox(
                program.recording, worker.send, on_sent=lambda: self._desk.go_on(), on_failure=self._fail
            )
            if program.recording.recorded:
                self._replay = Replay(program.recording, program.now)
        self._conversation = Conversation(
            program.limits,
            has_preflight=program.preflight is not None,
            replays=self._replay is not None,
        )
        self._frames = FrameBuffer()
        self._sites: asyncio.Future[Sites] = self._loop.create_future()
        self._ending: asyncio.Future[Ending] = self._loop.create_future()
        self._final: Final | None = None
        self._parts = Parts(program.limits.result_depth)
        self._value: JsonValue = None
        self._output: list[str] = []
        self._is_cut = False
        self._watch: asyncio.TimerHandle | None = None
        self._late: Ending | None = None  # time is up
        self._desk = CallDesk(
            program.call,
            program.limits,
            on_value=self._send,
            on_error=partial(self._send, is_error=True),
            on_stop=self._stop_program,
            has_room=self._has_room,
            replied_bytes=0 if self._replay is None else self._replay.answered_bytes,
        )
        worker.on_drained = self._desk.go_on

    async def run(self) -> Outcome:
        """See a program through that was just sent to the worker, and return how it ended.

        On cancellation the worker dies and so do the handlers of its calls.
        """
        limits = self._program.limits
        self._watch = self._loop.call_later(min(limits.cpu_s, limits.wall_s), self._look_at_clocks)
        try:
            self._worker.listen(self._received)
            if self._program.preflight is not None:
                await self._pass(self._program.preflight)
            else:
                self._send_record()
            ending = await self._ending
            return self._outcome(ending, await self._usage())
        finally:
            self._value = None  # the outcome alone holds it from here on
            self._parts = Parts(0)
            self._stop()
            if self._checking is not None:
                self._checking.cancel()
                await asyncio.wait((self._checking,))
            try:
                await self._desk.close()
            finally:  # given up a second time, too
                if self._program.recording is not None:
                    self._program.recording.over()
                if self._outbox is not None:
                    await self._outbox.settled()

    async def _pass(self, preflight: Preflight) -> None:
        """Wait for the call sites, have them looked at, let the program run; or end here."""
        await asyncio.wait((self._sites, self._ending), return_when=asyncio.FIRST_COMPLETED)
        if not self._sites.done() or self._ending.done():
            return
        look = asyncio.ensure_future(preflight(self._sites.result().sites))
        try:
            await asyncio.wait((look, self._ending), return_when=asyncio.FIRST_COMPLETED)
            if look.done():
                look.result()
        except ProgramRefused as refused:
            self._end(by_refusal(refused))
        finally:
            if look.cancel():  # the program has ended before, or whoever runs it gave up
                self._worker.kill()  # however long the look takes to end
                await asyncio.wait((look,))
        if not self._ending.done():
            self._conversation.went()
            self._worker.send(encode_go())
            self._send_record()

    # --- what arrives -----------------------------------------------------------------------------------------

    def _received(self, chunk: bytes) -> None:
        """Take bytes from the worker; whatever is wrong with them ends the session here."""
        if self._ending.done():
            return
        if not chunk:
            self._hung_up()
            return
        self._frames.feed(chunk)
        self._guarded(self._take_read)

    def _take_read(self) -> None:
        self._conversation.received_bytes()
        self._take_frames()

    def _guarded(self, take: Callable[[], None]) -> None:
        """Take something of the guest; whatever is wrong with it ends the session here."""
        try:
            take()
        except FrameTooLarge as error:
            limit = "result_bytes" if self._conversation.state is State.VALUE else "frame_bytes"
            breach = GuestProtocolError(f"the guest sent too much: {error}")
            self._end(by_breach(breach, limit))
        except GuestProtocolError as error:
            self._end(self._late or by_breach(error))
        except Exception as error:  # noqa: BLE001 - of the recording: whoever runs the program gets it
            self._fail(error)

    def _take_frames(self) -> None:
        while not self._ending.done() and self._checking is None:
            body = self._frames.next_frame(budget=self._conversation.budget)
            if body is None:
                return
            if self._conversation.state is State.VALUE:
                self._take_value(body)
            elif body.startswith(KINDS):
                self._take_part(body)
            else:
                message = self._conversation.received(body)
                if self._late is None or isinstance(message, Output):
                    self._take(message)
                elif isinstance(message, Final):
                    self._end(with_last_word(self._late, message))

    def _take(self, message: GuestMessage) -> None:
        if isinstance(message, Calls):
            self._take_calls(message)
        elif isinstance(message, Output):
            self._output.append(message.text)
            self._is_cut = self._is_cut or message.cut
            if self._program.recording is not None:
                self._program.recording.printed(message.text)
        elif isinstance(message, Cancel):
            self._desk.cancel(message.id)
            if self._replay is not None:
                self._replay.cancel(message.id)
        elif isinstance(message, Live):
            self._go_live()
        elif isinstance(message, Sites):
            self._sites.set_result(message)
        elif message.has_value:
            self._final = message
        else:
            self._end(by_final(message))

    def _take_calls(self, message: Calls) -> None:
        if self._replay is not None:
            self._replay.take(message)
            return
        self._clock.set_timer(message.wake, () if message.delay is None else (message.delay,))
        self._desk.take(message.calls)

    def _go_live(self) -> None:
        """The record is read: the program's time goes on from its end, and what it waits for is done."""
        replay, self._replay = self._replay, None
        recording = self._program.recording
        assert replay is not None  # noqa: S101 - the conversation admits one marker, and there is one with a replay
        assert recording is not None  # noqa: S101 - as above
        recording.live()
        self._clock.go_on_from(replay.now)
        self._clock.set_timer(replay.wake, replay.delays)
        self._desk.take(replay.unanswered)

    def _take_part(self, body: bytes) -> None:
        text = checked_text(body)
        if len(text) >= LARGE:
            self._check_in_steps(text, self._parts.depth_left, partial(self._put_part, body))
            return
        self._put_part(body, weight(text) if text else len(body), is_checked=False)

    def _put_part(self, body: bytes, size: int, *, is_checked: bool = True) -> None:
        self._conversation.received_part(size, takes_back=body == NO_PARTS)
        try:
            self._parts.take(body, is_checked=is_checked)
        except InvalidJson as error:
            raise GuestProtocolError(_UNREADABLE % error) from error

    def _take_value(self, body: bytes) -> None:
        if len(body) >= LARGE:
            self._check_in_steps(body, self._program.limits.result_depth, partial(self._put_value, body))
            return
        self._conversation.received_value(weight(body))
        try:
            value = loads_result(body, depth=self._program.limits.result_depth)
        except InvalidJson as error:
            raise GuestProtocolError(_UNREADABLE % error) from error
        self._complete(body, value)

    def _put_value(self, body: bytes, size: int) -> None:
        self._conversation.received_value(size)
        self._complete(body, self._text(body))

    def _complete(self, body: bytes, last: JsonValue) -> None:
        assert self._final is not None  # noqa: S101 - State.VALUE follows a final message
        whole = self._parts.complete(body)
        self._value = last if whole is body else self._text(whole)
        self._end(by_final(self._final))

    def _text(self, data: bytes) -> JsonText:
        return JsonText(data, partial(loads_result, depth=self._program.limits.result_depth))

    def _check_in_steps(self, text: bytes, depth: int, then: Callable[[int], None]) -> None:
        """Check a large text, a step in each turn of the loop; till then the guest is not read."""
        self._worker.pause()
        self._checking = self._loop.create_task(self._check(ResultCheck(text, depth), then))

    async def _check(self, check: ResultCheck, then: Callable[[int], None]) -> None:
        def put() -> None:
            try:
                for _ in steps:
                    return
            except InvalidJson as error:
                raise GuestProtocolError(_UNREADABLE % error) from error
            self._checking = None
            then(check.weight)
            self._take_frames()

        steps = check.steps()
        while self._checking is not None and not self._ending.done():
            await asyncio.sleep(0)
            self._guarded(put)
            if self._checking is not asyncio.current_task():
                break
        if self._checking is None:
            self._worker.go_on()

    def _hung_up(self) -> None:
        """The stream ended without a final message: what happened, the fork server will say."""
        self._worker.kill()
        if self._late is not None:
            self._end(self._late)
            return
        report = self._loop.call_later(_REPORT_TIMEOUT_S, self._end, by_death(None, self._program.limits))

        def reported(end: asyncio.Future[Exit | None]) -> None:
            report.cancel()
            self._end(by_death(end.result(), self._program.limits))

        self._worker.ended.add_done_callback(reported)

    # --- what is sent -----------------------------------------------------------------------------------------

    def _send_record(self) -> None:
        if self._replay is not None:
            self._worker.send(self._replay.encode())

    def _send(self, call_id: int, answer: bytes = b"", *, is_error: bool = False) -> None:
        """Send an answer, or a tick; where others may come at once, in one piece with them."""
        delivery = Delivery(call_id, self._clock.now(), self._clock.take_marks(), answer, is_error=is_error)
        if self._outbox is not None:
            self._outbox.add(delivery)
        elif self._desk.has_others and len(answer) < _LARGE_REPLY:
            self._worker.send_soon(delivery.encode())
        else:
            self._worker.send(delivery.encode())

    def _has_room(self) -> bool:
        """Tell whether the program has been sent, and has read, enough of what was answered to ask for more."""
        if self._late is not None:
            return False
        unkept_bytes = 0 if self._outbox is None else self._outbox.unkept_bytes
        return self._worker.unsent_bytes + unkept_bytes < self._program.limits.reply_bytes

    # --- ends -------------------------------------------------------------------------------------------------

    def _look_at_clocks(self) -> None:
        """End the program when its time is used up; processor time cannot pass faster than that of the wall."""
        limits = self._program.limits
        left_s = limits.wall_s - (time.monotonic() - self._started)
        used = (self._worker.cpu_s() or self._cpu_before) - self._cpu_before
        if left_s <= 0:
            self._time_is_up(by_wall_clock(limits))
        elif used >= limits.cpu_s:
            self._time_is_up(by_processor_time(limits))
        else:
            wait_s = min(left_s, max(limits.cpu_s - used, _LOOK_AGAIN_S))
            self._watch = self._loop.call_later(wait_s, self._look_at_clocks)

    def _time_is_up(self, ending: Ending) -> None:
        """Ask the guest for its line, and end the program a moment later, whatever is said."""
        self._late = ending
        self._worker.ask_for_last_word()
        self._watch = self._loop.call_later(_LAST_WORD_S, self._end, ending)

    def _end(self, ending: Ending) -> None:
        if not self._ending.done():
            self._ending.set_result(ending)

    def _fail(self, error: Exception) -> None:
        """End with an error of the recording: whoever runs the program gets it, unless it is to stop the program."""
        if isinstance(error, ProgramStopped):
            self._stop_program(error)
        elif not self._ending.done():
            self._ending.set_exception(error)

    def _stop_program(self, stopped: ProgramStopped) -> None:
        self._end(Ending(Status.FAILED, failure=stopped.failure))

    def _stop(self) -> None:
        self._clock.stop()
        if self._watch is not None:
            self._watch.cancel()
        if (
            self._conversation.state is not State.ENDED
            or self._desk.is_busy
            or (self._outbox is not None and self._outbox.is_busy)
        ):
            self._worker.kill()  # else it waits for its end, which is the pool's to give

    async def _usage(self) -> Usage:
        """Read what the worker used: while it lives from the kernel, afterwards from the fork server's report."""
        wall_s = time.monotonic() - self._started
        cpu_s, peak = self._worker.cpu_s(), self._worker.peak_memory_bytes()
        if cpu_s is None or peak is None:
            self._worker.kill()
            await asyncio.wait((self._worker.ended,), timeout=_REPORT_TIMEOUT_S)
            end = self._worker.ended.result() if self._worker.ended.done() else None
            cpu_s, peak = (end.cpu_s, end.peak_memory_bytes) if end is not None else (self._cpu_before, 0)
        return Usage(
            wall_s=wall_s,
            cpu_s=max(cpu_s - self._cpu_before, 0.0),
            peak_memory_bytes=peak,
            calls=self._conversation.calls,
            output_bytes=self._conversation.output_bytes,
        )

    def _outcome(self, ending: Ending, usage: Usage) -> Outcome:
        return Outcome(
            status=ending.status,
            result=self._value,
            has_value=ending.has_value,
            output="".join(self._output),
            output_truncated=self._is_cut,
            failure=ending.failure,
            usage=usage,
            isolation=self._isolation,
            limit=ending.limit,
            notes=ending.notes,
        )
