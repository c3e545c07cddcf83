"""A host for guests that run in this process: answers calls from functions, keeps a clock that sleeping moves."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sandbox.errors import CallFailed
from sandbox.guest import program
from sandbox.limits import Limits
from sandbox.protocol.framing import FrameBuffer
from sandbox.protocol.host_messages import (
    encode_failed_reply,
    encode_failure,
    encode_go,
    encode_program,
    encode_reply,
    encode_run,
    encode_tick,
    encode_value,
)
from sandbox.protocol.parts import KINDS, Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

BUDGET = 1 << 27
DEEPEST = 1_000
CALL_TAKES_US = 1_000


@dataclass
class Ended:
    """What came out of a guest."""

    status: str = ""
    value: Any = None
    has_value: bool = False
    output: str = ""
    failure: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)
    sites: list[list[Any]] = field(default_factory=list)
    calls: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    frames: list[bytes] = field(default_factory=list)
    parts: int = 0

    @property
    def message(self) -> str:
        """All that a reader would be shown of a failure."""
        if self.failure is None:
            return ""
        shown = self.failure
        where = f"line {shown['line']}" if shown["line"] else ""
        return "\n".join(filter(None, (f"{shown['type']}: {shown['message']}", where, shown["excerpt"], shown["hint"])))


class HostDouble:
    """Plays the host for one program. Without `delays`, calls are answered in order, 1 ms apart, at once.

    `delays` gives the microseconds that a call takes, by its id: answers then come in the order of their moments.
    """

    def __init__(
        self,
        tools: Mapping[str, Callable[..., Any]],
        *,
        now: int = 0,
        delays: Callable[[int], int] | None = None,
        preflight: Callable[[list[list[Any]]], str | None] = lambda sites: None,
        recorded: Sequence[bytes] = (),
    ) -> None:
        self.ended = Ended()
        self._tools = tools
        self._now = now
        self._delays = delays
        self._preflight = preflight
        self._recorded = list(recorded)
        self._waiting: list[tuple[int, int, Any]] = []
        self._marks: list[int] = []
        self._wake: int | None = None
        self._buffer = FrameBuffer()
        self._to_guest = bytearray()
        self._expects_value = False
        self._parts = Parts(DEEPEST)
        self._gone = False

    def begin(self, start: bytes) -> None:
        """Queue the frame that starts a program."""
        self._to_guest += start

    # --- the socket, as the guest sees it ---------------------------------------------------------------------------

    def write(self, data: memoryview) -> int:
        """Take frames of the guest."""
        size = len(data)
        self._buffer.feed(data)
        while (body := self._buffer.next_frame(budget=BUDGET)) is not None:
            if self._expects_value:
                self.ended.value = json.loads(self._parts.complete(bytes(body)))
                self._expects_value = False
            elif bytes(body).startswith(KINDS):
                self._parts.take(bytes(body))
                self.ended.parts += 1
            else:
                self._handle(json.loads(bytes(body)))
        return size

    def read(self, size: int) -> bytes:
        """Give bytes to the guest, which has nothing to do: so the next event happens now."""
        if not self._to_guest and not self._gone:
            self._happen()
        data, self._to_guest = self._to_guest[:size], self._to_guest[size:]
        return bytes(data)

    def _handle(self, message: dict[str, Any]) -> None:
        kind = message["t"]
        if kind == "sites":
            self._sites(message["sites"])
        elif kind == "output":
            self.ended.output += message["text"]
        elif kind == "cancel":
            self.ended.cancelled.append(message["id"])
            self._waiting = [each for each in self._waiting if each[1] != message["id"]]
        elif kind == "calls":
            self._calls(message)
        elif kind == "idle":
            pass
        else:
            self._final(message)

    def _sites(self, sites: list[list[Any]]) -> None:
        self.ended.sites = sites
        problem = self._preflight(sites)
        if problem is None:
            self._to_guest += encode_go()
            return
        self.ended.status = "refused"
        self.ended.failure = {"type": "Preflight", "message": problem, "line": None, "excerpt": "", "hint": ""}
        self._gone = True

    def _calls(self, message: dict[str, Any]) -> None:
        self.ended.batches.append(len(message["calls"]))
        if message["delay"] is not None:
            self._marks.append(self._now)
        due = [moment for moment in (message["wake"],) if moment is not None]
        if message["delay"] is not None:
            due.append(self._now + message["delay"])
        self._wake = min(due, default=None)
        for call_id, path, tool, arguments in message["calls"]:
            self.ended.calls.append((path, tool, arguments))
            takes = self._delays(call_id) if self._delays else CALL_TAKES_US
            self._waiting.append((self._now + takes, call_id, (tool, arguments)))

    def _happen(self) -> None:
        """Let the one event happen that comes next. Nothing at all means that the guest waits for ever."""
        self._waiting.sort(key=lambda each: each[:2])
        if self._recorded:
            self._send(self._recorded.pop(0))
        elif self._waiting and (self._wake is None or self._waiting[0][0] <= self._wake):
            moment, call_id, (tool, arguments) = self._waiting.pop(0)
            self._now = max(self._now, moment)
            self._send(self._reply(call_id, tool, arguments))
        elif self._wake is not None:
            self._now, self._wake = max(self._now, self._wake), None
            self._send(encode_tick(now=self._now, marks=self._take_marks()))
        else:
            raise AssertionError("the guest reads although nothing is under way")

    def _reply(self, call_id: int, tool: str, arguments: dict[str, Any]) -> bytes:
        try:
            function = self._tools[tool]
        except KeyError:
            error = CallFailed(f"there is no tool {tool}", kind="tool_not_found")
            return self._failed(call_id, error)
        try:
            value = encode_value(function(**arguments))
        except Exception as error:  # noqa: BLE001 - whatever a tool of a test raises is its answer
            failed = CallFailed(
                getattr(error, "message", None) or str(error),
                kind=getattr(error, "kind", "failed"),
                status=getattr(error, "status", None),
                body=getattr(error, "body", None),
            )
            return self._failed(call_id, failed)
        return encode_reply(call_id, now=self._now, value=value, marks=self._take_marks())

    def _failed(self, call_id: int, error: CallFailed) -> bytes:
        return encode_failed_reply(call_id, now=self._now, fields=encode_failure(error), marks=self._take_marks())

    def _take_marks(self) -> list[int]:
        marks, self._marks = self._marks, []
        return marks

    def _send(self, data: bytes) -> None:
        self.ended.frames.append(data)
        self._to_guest += data

    def _final(self, message: dict[str, Any]) -> None:
        ended = self.ended
        ended.status, ended.has_value = message["status"], message["has_value"]
        ended.failure, ended.notes = message["failure"], message["notes"]
        self._expects_value = ended.has_value


def run_guest(
    code: str,
    tools: Mapping[str, Callable[..., Any]] | None = None,
    *,
    names: Sequence[str] = (),
    now: int = 0,
    seed: bytes = b"\0" * 32,
    limits: Limits | None = None,
    inputs: Mapping[str, Any] | None = None,
    host: HostDouble | None = None,
) -> Ended:
    """Run a program in a guest in this process, against a host that is a plain object."""
    tools = tools or {}
    names = names or sorted({name.partition(".")[0] for name in tools})
    host = host or HostDouble(tools, now=now)
    source = encode_program(code, names)
    host.begin(encode_run(source, seed=seed, now=now, limits=limits or Limits(), inputs=inputs or {}))
    program.serve_over(program.new_run(host), host)
    return host.ended
