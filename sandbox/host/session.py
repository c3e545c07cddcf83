"""One program in one worker, from its first frame to its outcome."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

from sandbox.errors import GuestProtocolError, ProgramRefused, ProgramStopped
from sandbox.host import endings
from sandbox.host.calls import CallDesk
from sandbox.host.clock import ProgramClock
from sandbox.host.endings import Ending
from sandbox.host.recording import Delivery, Outbox, Replay
from sandbox.host.value_reader import ValueReader
from sandbox.outcome import Outcome, Status, Usage
from sandbox.protocol.conversation import Conversation, LimitExceeded, State
from sandbox.protocol.framing import FrameBuffer, FrameTooLarge
from sandbox.protocol.guest_decoder import Calls, Cancel, Final, Idle, Live, Output, Sites
from sandbox.protocol.host_messages import encode_go
from sandbox.protocol.parts import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sandbox.host.arguments import Preflight, Program
    from sandbox.host.worker import Worker
    from sandbox.protocol.control import Exit
    from sandbox.protocol.guest_decoder import GuestMessage

#: Used in place of a call's id when a timer is due.
_TICK = 0

#: Answers of at least this many bytes are sent alone; joining them with others would take longer.
_LARGE_REPLY = 1 << 16

#: How long the fork server may take to report the end of a worker.
_REPORT_TIMEOUT_S = 5.0

#: How long a guest whose time is up may take to report the line it was running.
_LAST_WORD_S = 0.05

#: Shortest interval between two reads of the processor time.
_LOOK_AGAIN_S = 0.005


class Session:
    """Run one program in one worker. `run` waits for the end; the other methods handle events until then.

    `began` is the time of the request for the worker, by `time.monotonic`.
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
        self._outbox: Outbox | None = None
        if program.recording is not None:
            self._outbox = Outbox(
                program.recording, self._send_recorded, on_sent=lambda: self._desk.go_on(), on_failure=self._fail
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
        #: None if the worker hung up without a final message.
        self._ending: asyncio.Future[Ending | None] = self._loop.create_future()
        self._final: Final | None = None
        self._reader = ValueReader(program.limits, self._conversation)
        self._output: list[str] = []
        self._is_cut = False
        self._watch: asyncio.TimerHandle
        self._late: Ending | None = None  # set once the time is up
        self._desk = CallDesk(
            program.call,
            program.limits,
            on_answer=self._send,
            on_stop=self._stop_program,
            has_room=self._has_room,
            replied_bytes=0 if self._replay is None else self._replay.answered_bytes,
        )
        worker.on_drained = self._desk.go_on

    async def run(self) -> Outcome:
        """Wait for the end of a program that was just sent to the worker, and return its outcome.

        On cancellation the worker is killed and the handlers of its calls are cancelled.
        """
        limits = self._program.limits
        self._watch = self._loop.call_later(min(limits.cpu_s, limits.wall_s), self._look_at_clocks)
        try:
            self._worker.listen(self._received)
            if self._program.preflight is not None:
                await self._pass(self._program.preflight)
            else:
                self._send_record()
            ending = await self._ending or endings.by_death(await self._exit(), limits)
            return ending.outcome(
                result=self._reader.value,
                output="".join(self._output),
                output_truncated=self._is_cut,
                usage=await self._usage(),
                isolation=self._isolation,
            )
        finally:
            self._reader.clear()
            self._stop()
            try:
                await self._desk.close()
            finally:  # even if this task is cancelled again
                if self._program.recording is not None:
                    self._program.recording.over()
                if self._outbox is not None:
                    await self._outbox.settled()

    async def _pass(self, preflight: Preflight) -> None:
        """Wait for the call sites and check them; then let the program run, or end it."""
        await asyncio.wait((self._sites, self._ending), return_when=asyncio.FIRST_COMPLETED)
        if not self._sites.done() or self._ending.done():
            return
        look = asyncio.ensure_future(preflight(self._sites.result().sites))
        try:
            await asyncio.wait((look, self._ending), return_when=asyncio.FIRST_COMPLETED)
            if look.done():
                look.result()
        except ProgramRefused as refused:
            self._end(endings.by_refusal(refused))
        finally:
            if look.cancel():  # the program has ended, or this task was cancelled
                self._worker.kill()  # at once, however long the preflight takes to end
                await asyncio.wait((look,))
        if not self._ending.done():
            self._conversation.went()
            self._worker.send(encode_go())
            self._send_record()

    def _received(self, chunk: bytes) -> None:
        """Take bytes from the worker; b"" is the end of the stream."""
        if chunk:
            self._guarded(self._take_chunk, chunk)
        else:
            self._end(self._late)

    def _guarded(self, take: Callable[..., None], *taken: bytes) -> None:
        """Take something from the guest, and end the session on any error."""
        if self._ending.done():
            return
        try:
            take(*taken)
        except GuestProtocolError as error:
            self._end(self._late or endings.by_breach(error))
        except Exception as error:  # noqa: BLE001 - raised by the recording, and passed on to the caller of `run`
            self._fail(error)

    def _take_chunk(self, chunk: bytes) -> None:
        self._conversation.received_bytes()
        self._frames.feed(chunk)
        self._take_frames()

    def _take_frames(self) -> None:
        while not self._ending.done() and not self._reader.is_checking:
            body = self._next_frame()
            if body is None:
                return
            if self._conversation.state is State.VALUE:
                self._reader.take_value(body)
                self._after_value_frame()
            elif body.startswith(KINDS):
                self._reader.take_part(body)
                self._after_value_frame()
            else:
                self._take_message(self._conversation.received(body))

    def _next_frame(self) -> bytes | None:
        try:
            return self._frames.next_frame(budget=self._conversation.budget)
        except FrameTooLarge as error:
            limit = "result_bytes" if self._conversation.state is State.VALUE else "frame_bytes"
            raise LimitExceeded(limit, f"the guest sent too much: {error}") from error

    def _after_value_frame(self) -> None:
        if self._reader.is_checking:
            self._worker.pause()
            self._loop.call_soon(self._guarded, self._check_step)
        elif self._reader.is_complete:
            assert self._final is not None  # noqa: S101 - a value follows a final message
            self._end(endings.by_final(self._final))

    def _check_step(self) -> None:
        """Check a step of a large frame; until the last one, the guest is not read."""
        self._reader.check_step()
        self._after_value_frame()
        if not self._reader.is_checking:
            self._worker.go_on()
            self._take_frames()

    def _take_message(self, message: GuestMessage) -> None:
        if self._late is None or isinstance(message, Output):
            self._take(message)
        elif isinstance(message, Final):
            self._end(endings.with_last_word(self._late, message))

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
        elif isinstance(message, Idle):
            self._look_ahead()
        elif isinstance(message, Live):
            self._go_live()
        elif isinstance(message, Sites):
            self._sites.set_result(message)
        elif message.has_value:
            self._final = message
        else:
            self._end(endings.by_final(message))

    def _take_calls(self, message: Calls) -> None:
        if self._replay is not None:
            self._replay.take(message)
            return
        self._clock.set_timer(message.wake, () if message.delay is None else (message.delay,))
        self._desk.take(message.calls)

    def _go_live(self) -> None:
        """The guest has read its record: continue its clock from there, and start the calls it waits for."""
        replay, self._replay = self._replay, None
        recording = self._program.recording
        assert replay is not None  # noqa: S101 - the conversation admits the marker of a replay, once
        assert recording is not None  # noqa: S101 - a replay has a recording
        recording.live()
        self._clock.go_on_from(replay.now)
        self._clock.set_timer(replay.wake, replay.delays)
        self._desk.take(replay.unanswered)
        if not replay.unanswered:
            self._look_ahead()

    def _send_record(self) -> None:
        if self._replay is not None:
            self._worker.send(self._replay.encode())

    def _send(self, call_id: int, answer: bytes = b"", *, is_error: bool = False) -> None:
        """Send an answer or a tick. If other answers may follow at once, send them together."""
        delivery = Delivery(call_id, self._clock.now(), self._clock.take_marks(), answer, is_error=is_error)
        if self._outbox is not None:
            self._outbox.add(delivery, has_others=self._desk.has_others)
        elif self._desk.has_others and len(answer) < _LARGE_REPLY:
            self._worker.send_soon(delivery.encode())
        else:
            self._worker.send(delivery.encode())

    def _send_recorded(self, deliveries: Sequence[Delivery]) -> None:
        self._worker.send(b"".join([delivery.encode() for delivery in deliveries]))

    def _has_room(self) -> bool:
        """Return whether a call may start: earlier answers have been recorded, sent and read."""
        if self._late is not None:
            return False
        unkept_bytes = 0 if self._outbox is None else self._outbox.unkept_bytes
        return self._worker.unsent_bytes + unkept_bytes < self._program.limits.reply_bytes

    def _left_s(self) -> float:
        return self._program.left_s(self._started, time.monotonic())

    def _look_ahead(self) -> None:
        """End a program that awaits nothing but a timer, if that is due after the end of its time."""
        wait_s, left_s = self._clock.wait_s(), self._left_s()
        if self._replay is None and wait_s > left_s:
            self._watch.cancel()
            self._time_is_up(endings.by_long_wait(self._program.limits, wait_s, left_s))

    def _look_at_clocks(self) -> None:
        """End the program once its time is used up. Processor time never passes faster than wall time."""
        limits, left_s = self._program.limits, self._left_s()
        used = (self._worker.cpu_s() or self._cpu_before) - self._cpu_before
        if left_s <= 0:
            self._time_is_up(endings.by_wall_clock(limits))
        elif used >= limits.cpu_s:
            self._time_is_up(endings.by_processor_time(limits))
        else:
            wait_s = min(left_s, max(limits.cpu_s - used, _LOOK_AGAIN_S))
            self._watch = self._loop.call_later(wait_s, self._look_at_clocks)

    def _time_is_up(self, ending: Ending) -> None:
        """Ask the guest for its current line, and end the program 50 ms later, whatever it answers."""
        self._late = ending
        self._worker.ask_for_last_word()
        self._watch = self._loop.call_later(_LAST_WORD_S, self._end, ending)

    def _end(self, ending: Ending | None) -> None:
        if not self._ending.done():
            self._ending.set_result(ending)

    def _fail(self, error: Exception) -> None:
        """Raise an error of the recording from `run`; ProgramStopped ends the program instead."""
        if isinstance(error, ProgramStopped):
            self._stop_program(error)
        elif not self._ending.done():
            self._ending.set_exception(error)

    def _stop_program(self, stopped: ProgramStopped) -> None:
        self._end(Ending(Status.FAILED, failure=stopped.failure))

    def _stop(self) -> None:
        self._clock.stop()
        self._watch.cancel()
        if (
            self._conversation.state is not State.ENDED
            or self._desk.is_busy
            or (self._outbox is not None and self._outbox.is_busy)
        ):
            self._worker.kill()  # else it waits until the pool ends it

    async def _usage(self) -> Usage:
        """Return the worker's usage, from the kernel while it lives, else from the fork server's report."""
        wall_s = time.monotonic() - self._started
        cpu_s, peak = self._worker.cpu_s(), self._worker.peak_memory_bytes()
        if cpu_s is None or peak is None:
            end = await self._exit()
            cpu_s, peak = (end.cpu_s, end.peak_memory_bytes) if end is not None else (self._cpu_before, 0)
        return Usage(
            wall_s=wall_s,
            cpu_s=max(cpu_s - self._cpu_before, 0.0),
            peak_memory_bytes=peak,
            calls=self._conversation.calls,
            output_bytes=self._conversation.output_bytes,
        )

    async def _exit(self) -> Exit | None:
        """Kill the worker and return the fork server's report of its end, or None if there is none."""
        self._worker.kill()
        await asyncio.wait((self._worker.ended,), timeout=_REPORT_TIMEOUT_S)
        return self._worker.ended.result() if self._worker.ended.done() else None
