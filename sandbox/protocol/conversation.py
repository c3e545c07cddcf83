"""The order of a guest's messages, as the host enforces it: one table, without I/O.

    STARTED ──sites──► ASKED ──(go)──► RUNNING ──final──► ENDED        without a value
       │                                  │
       └──final (refused, failed)─► ENDED └──final──► VALUE ──value──► ENDED

Without a preflight, the conversation starts in RUNNING and no call sites are sent.
While RUNNING, the guest may send parts of its value (see `parts`); the value itself is then the last part.
A replayed program is sent its record, followed by a marker that the guest acknowledges once (`live`).

Any other message is a breach and the guest is killed. In ASKED and ENDED no message is allowed.
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
    Idle,
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
    """The state of a conversation; the value completes the sentence "the guest sent … when"."""

    STARTED = "the program was sent"
    ASKED = "its call sites were being checked"
    RUNNING = "the program was running"
    VALUE = "its value was due"
    ENDED = "the program had ended"


#: Least weight of any other message, in bytes: bounds the number of messages.
LEAST_MESSAGE = 512
#: Least weight of one read: a single byte costs the host as much time as a message.
LEAST_READ = 256

_AFTER: dict[tuple[State, type], State] = {
    (State.STARTED, Sites): State.ASKED,
    (State.STARTED, Final): State.ENDED,
    (State.RUNNING, Calls): State.RUNNING,
    (State.RUNNING, Output): State.RUNNING,
    (State.RUNNING, Cancel): State.RUNNING,
    (State.RUNNING, Idle): State.RUNNING,
    (State.RUNNING, Live): State.RUNNING,
    (State.RUNNING, Final): State.ENDED,
}


class LimitExceeded(GuestProtocolError):
    """The guest exceeded a limit that honest guests keep by themselves. `limit` is its name in `Limits`."""

    def __init__(self, limit: str, message: str) -> None:
        self.limit = limit
        super().__init__(message)


class Conversation:
    """Check each frame of one guest against its limits, the table, and earlier frames."""

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
        """Size limit of the next frame, in bytes."""
        return self._limits.result_bytes if self.state is State.VALUE else self._limits.frame_bytes

    def received_bytes(self) -> None:
        """Admit one read, whatever it returned. Raises LimitExceeded."""
        self._reads_left -= 1
        if self._reads_left < 0:
            raise LimitExceeded("traffic_bytes", "the guest sent its messages in too many pieces")

    def received(self, body: bytes) -> GuestMessage:
        """Decode and admit one message. Raises GuestProtocolError."""
        self._traffic_bytes += max(weight(body), LEAST_MESSAGE)
        self._check("traffic_bytes", self._traffic_bytes, "the messages of the program exceed {} bytes")
        message = decode_guest_message(body)
        after = _AFTER.get((self.state, type(message)))
        if after is None or (self.state is State.STARTED and _is_completed(message)):
            what = type(message).__name__.lower()
            breach = f"the guest sent {what} when {self.state.value}"
            raise GuestProtocolError(breach)
        self.state = after
        if isinstance(message, Calls):
            for call in message.calls:
                self._admit_call(call)
        elif isinstance(message, Cancel):
            self._admit_cancel(message)
        elif isinstance(message, Output):
            self.output_bytes += len(message.text.encode())
            self._check("output_bytes", self.output_bytes, "the program printed more than {} bytes")
        elif isinstance(message, Live):
            self._admit_live()
        elif isinstance(message, Final) and message.has_value:
            self.state = State.VALUE
        return message

    def went(self) -> None:
        """Note that the program was allowed to run."""
        self.state = State.RUNNING

    def expect_part(self) -> None:
        """Check that a part of the value may come now. Raises GuestProtocolError."""
        if self.state is not State.RUNNING:
            breach = f"the guest sent a part of a value when {self.state.value}"
            raise GuestProtocolError(breach)

    def received_part(self, size: int, *, takes_back: bool = False) -> None:
        """Admit a part that weighs `size` bytes, or the withdrawal of all parts so far. Raises GuestProtocolError."""
        self.expect_part()
        self._part_bytes += max(size, LEAST_PART)
        self._kept_bytes = 0 if takes_back else self._kept_bytes + max(size, LEAST_PART)
        self._check_value(self._part_bytes - LEAST_PART)  # the guest stops at the limit, then withdraws

    def received_value(self, size: int) -> None:
        """Admit the value, or its last part, that weighs `size` bytes. Raises LimitExceeded."""
        self._check_value(self._kept_bytes + size)
        self.state = State.ENDED

    def _check_value(self, size: int) -> None:
        self._check("result_bytes", size, "the value counts for more than {} bytes")

    def _check(self, limit: str, used: int, message: str) -> None:
        allowed = getattr(self._limits, limit)
        if used > allowed:
            raise LimitExceeded(limit, message.format(allowed))

    def _admit_call(self, call: Call) -> None:
        if call.id <= self._last_id:
            raise GuestProtocolError("the guest sent a call whose id does not grow")
        if call.path in self._paths:
            raise GuestProtocolError("the guest sent a call whose path was used before")
        self.calls += 1
        self._check("calls", self.calls, "the program made more than {} calls")
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


def _is_completed(message: GuestMessage) -> bool:
    return isinstance(message, Final) and message.status == "completed"
