"""Who may say what when, as the host sees it: one table, no I/O.

    STARTED ──sites──► ASKED ──(go)──► RUNNING ──final──► ENDED        without a value
       │                                  │
       └──final (refused, failed)─► ENDED └──final──► VALUE ──value──► ENDED

Without a preflight nobody asks for the call sites: the conversation begins with RUNNING.
While RUNNING the guest may send parts of the value to come (see `parts`), of which the value is then the last.
A program that runs again is sent what was recorded, and then a marker, which the guest acknowledges once (`live`).

Whatever is not in the table is a breach: the guest is killed. In ASKED and ENDED the guest has nothing to say.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from sandbox.errors import GuestProtocolError
from sandbox.protocol.guest_decoder import (
    Calls,
    Cancel,
    Final,
    GuestMessage,
    Live,
    Output,
    Sites,
    decode_guest_message,
)
from sandbox.protocol.parts import LEAST_PART
from sandbox.protocol.strict_json import weight

if TYPE_CHECKING:
    from sandbox.limits import Limits
    from sandbox.outcome import Call


class State(Enum):
    """Where a conversation stands."""

    STARTED = "the program was sent"
    ASKED = "the call sites are being looked at"
    RUNNING = "the program runs"
    VALUE = "the value is on its way"
    ENDED = "nothing more is expected"


#: What any other message counts for at least.
LEAST_MESSAGE = 512
#: What the host reads at one time counts for at least: a byte alone costs as much of its time as a message does.
LEAST_READ = 256

_AFTER: dict[tuple[State, type], State] = {
    (State.STARTED, Sites): State.ASKED,
    (State.STARTED, Final): State.ENDED,
    (State.RUNNING, Calls): State.RUNNING,
    (State.RUNNING, Output): State.RUNNING,
    (State.RUNNING, Cancel): State.RUNNING,
    (State.RUNNING, Live): State.RUNNING,
    (State.RUNNING, Final): State.ENDED,
}


class CallsExhausted(GuestProtocolError):
    """The program made more calls than it may. Honest guests stop by themselves."""

    limit = "calls"


class PartsExhausted(GuestProtocolError):
    """The parts of a value are larger than a value may be. Honest guests stop before."""

    limit = "result_bytes"


class TrafficExhausted(GuestProtocolError):
    """All messages of the guest together are larger than they may be."""

    limit = "traffic_bytes"


class OutputExhausted(GuestProtocolError):
    """The guest printed more than it may. Honest guests cut it."""

    limit = "output_bytes"


class Conversation:
    """Checks each frame of one guest against its budgets, the table, and what was said before."""

    def __init__(self, limits: Limits, *, has_preflight: bool = True, replays: bool = False) -> None:
        self.state = State.STARTED if has_preflight else State.RUNNING
        self._replays = replays
        self.calls = 0
        self.output_bytes = 0
        self._limits = limits
        self._last_id = 0
        self._part_bytes = self._kept_bytes = 0
        self._paths: set[str] = set()
        self._cancelled: set[int] = set()
        self._traffic_bytes = 0
        self._reads_left = (limits.traffic_bytes + limits.result_bytes + limits.output_bytes) // LEAST_READ

    @property
    def budget(self) -> int:
        """Largest frame that may come next, in bytes."""
        return self._limits.result_bytes if self.state is State.VALUE else self._limits.frame_bytes

    def received_bytes(self) -> None:
        """Admit that something was read, whatever it was. Raises TrafficExhausted."""
        self._reads_left -= 1
        if self._reads_left < 0:
            raise TrafficExhausted("the messages of the program came in too many pieces")

    def received(self, body: bytes) -> GuestMessage:
        """Decode and admit one message. Raises GuestProtocolError."""
        self._admit_traffic(body)
        message = decode_guest_message(body)
        after = _AFTER.get((self.state, type(message)))
        if after is None or _is_end_without_beginning(self.state, message):
            what = type(message).__name__.lower()
            breach = f"the guest sent {what} when {self.state.value}"
            raise GuestProtocolError(breach)
        self.state = after
        if isinstance(message, Calls):
            for call in message.calls:
                self._admit(call)
        elif isinstance(message, Cancel):
            self._admit_cancel(message)
        elif isinstance(message, Output):
            self._admit_output(message)
        elif isinstance(message, Live):
            self._admit_live()
        elif isinstance(message, Final) and message.has_value:
            self.state = State.VALUE
        return message

    def went(self) -> None:
        """Note that the program was let run."""
        self.state = State.RUNNING

    def received_part(self, size: int, *, takes_back: bool = False) -> None:
        """Admit a part of the value, of `size` bytes, or that all before are taken back. Raises GuestProtocolError."""
        if self.state is not State.RUNNING:
            breach = f"the guest sent a part of a value when {self.state.value}"
            raise GuestProtocolError(breach)
        self._part_bytes += max(size, LEAST_PART)
        self._kept_bytes = 0 if takes_back else self._kept_bytes + max(size, LEAST_PART)
        self._admit_value(self._part_bytes - LEAST_PART)  # the guest stops at the limit, and takes back what it sent

    def received_value(self, size: int) -> None:
        """Admit the value, or its last part. Raises GuestProtocolError."""
        self._admit_value(self._kept_bytes + size)
        self.state = State.ENDED

    def _admit_value(self, size: int) -> None:
        if size > self._limits.result_bytes:
            breach = f"the value counts for more than {self._limits.result_bytes} bytes"
            raise PartsExhausted(breach)

    def _admit_traffic(self, body: bytes) -> None:
        self._traffic_bytes += max(weight(body), LEAST_MESSAGE)
        if self._traffic_bytes > self._limits.traffic_bytes:
            breach = f"the messages of the program have more than {self._limits.traffic_bytes} bytes"
            raise TrafficExhausted(breach)

    def _admit(self, call: Call) -> None:
        if call.id <= self._last_id:
            raise GuestProtocolError("the guest sent a call whose id does not grow")
        if call.path in self._paths:
            raise GuestProtocolError("the guest sent a call whose path was used before")
        self.calls += 1
        if self.calls > self._limits.calls:
            breach = f"the program made more than {self._limits.calls} calls"
            raise CallsExhausted(breach)
        self._last_id = call.id
        self._paths.add(call.path)

    def _admit_cancel(self, message: Cancel) -> None:
        if not 0 < message.id <= self._last_id:
            raise GuestProtocolError("the guest cancelled a call that it never made")
        if message.id in self._cancelled:
            raise GuestProtocolError("the guest cancelled a call twice")
        self._cancelled.add(message.id)

    def _admit_live(self) -> None:
        if not self._replays:
            raise GuestProtocolError("the guest acknowledged a marker that it was not sent, or twice")
        self._replays = False

    def _admit_output(self, message: Output) -> None:
        self.output_bytes += len(message.text.encode())
        if self.output_bytes > self._limits.output_bytes:
            breach = f"the program printed more than {self._limits.output_bytes} bytes"
            raise OutputExhausted(breach)


def _is_end_without_beginning(state: State, message: GuestMessage) -> bool:
    return state is State.STARTED and isinstance(message, Final) and message.status == "completed"
