"""Compares the calls of a program with its record: a replayed program makes the same calls in the same places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.executions.run.ends import nondeterminism, not_made, resolved, shown
from codemode.executions.run.replay.dependencies import call_facts
from codemode.gateway.redaction import Redaction
from sandbox import ProgramStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.executions.run.context import RunContext
    from codemode.executions.run.replay.recording import ExecutionRecording
    from codemode.executions.types.record import RecordedCall
    from sandbox import Call, Failure


class Identity(NamedTuple):
    """What tells a call from others: its number (0 for pages and in saved programs), its tool and its keyed digest."""

    number: int
    tool: str
    digest: str


class Comparison:
    """The identities of the calls of one run. `other` is the failure of a program that differs from its record."""

    def __init__(self, run: RunContext, recording: ExecutionRecording, masked: Callable[[object], str]) -> None:
        self.other: Failure | None = None
        self._run = run
        self._digest = recording.journal.digest
        self._masked = masked
        self._calls = recording.record.calls
        self._by_id = {call.call: call for call in self._calls.values() if call.call}
        self._seen: set[str] = set()
        self._identities: dict[str, Identity] = {}
        self._paths: dict[tuple[str, int], str] = {}  # by the saved program around the call, and its number there

    def identity(self, path: str) -> Identity:
        """Return the identity of a registered call."""
        return self._identities[path]

    def path(self, within: str, number: int) -> str:
        """Return the path of a registered call by its number in the program `within`, "" if there is none."""
        return self._paths.get((within, number), "")

    def identify(self, call: Call, within: str = "") -> RecordedCall | None:
        """Register a call of the program, or of the saved program `within`, and return its record.

        Raises ProgramStopped if another call was recorded.
        """
        if call.path in self._seen and self.path(within, call.id) == call.path:  # registered during the replay
            return self._calls.get(call.path)
        self._paths[within, call.id] = call.path
        self._seen.add(call.path)
        return self._compared(0 if within else call.id, call.path, call.tool, call.arguments)

    def identify_page(self, path: str, tool: str, arguments: Mapping[str, Any]) -> RecordedCall | None:
        """Register a page of a list, and return its record. Raises ProgramStopped if another one was recorded."""
        return self._compared(0, path, tool, arguments)

    def missing(self, within: str = "") -> Failure | None:
        """Return a failure that names the first recorded call that the program has not made.

        `within` is the path of a saved program, "" for the execution's own.
        """
        own = (call for call in self._calls.values() if call.within == within and not call.is_page)
        return not_made(own, self._seen)

    def _compared(self, number: int, path: str, name: str, arguments: Mapping[str, Any]) -> RecordedCall | None:
        tool = resolved(name, self._run.catalog)
        digest = self._digest(call_facts(tool, path, arguments))
        self._identities[path] = Identity(number, tool, digest)
        recorded = self._calls.get(path) or (self._by_id.get(number) if number else None)
        if recorded is None:
            return None
        if (recorded.path, recorded.call, recorded.tool, recorded.digest) != (path, number, tool, digest):
            was = f"call {recorded.path} was {recorded.tool}({shown(recorded.arguments)})"
            now = f"{tool}({self._redacted(tool, arguments)}) at {path}"
            self.other = self.other or nondeterminism(f"{was}, and now is {now}")
            raise ProgramStopped(self.other)
        return recorded

    def _redacted(self, tool: str, arguments: Mapping[str, Any]) -> str:
        known = self._run.catalog.get(tool) if tool in self._run.catalog else None
        return shown(Redaction(self._run.caller.secrets, self._masked).arguments(arguments, known)[0])
