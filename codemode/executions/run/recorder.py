"""The recorder of a run: what it recalls of a call, and what it keeps of the call's start and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from codemode.executions.run.inner_run import InnerRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.saved import SavedProgram
    from codemode.executions.run.inner_run import Stop
    from codemode.executions.types.record import End, RecordedCall
    from codemode.gateway.call import JudgedCall, ToolCall, ToolOutcome


class Recorder(Protocol):
    """Keeps the record of the calls of one run. Its methods raise ProgramStopped if they cannot."""

    def recall(self, call: ToolCall) -> RecordedCall | None:
        """Return what is recorded of a call. Raises ProgramStopped if another call was recorded in its place."""
        ...

    def restore(self, recorded: RecordedCall) -> None:
        """Add a recorded call to the ledger."""
        ...

    def has_begun(self, path: str) -> bool:
        """Return whether the start of a call was recorded before this run."""
        ...

    def answers(self, path: str) -> Mapping[str, Any]:
        """Return what people answered to the questions of a call's service, by the key of the question."""
        ...

    async def start(self, judged: JudgedCall, key: str) -> None:
        """Record that a call is about to be sent, under an idempotency key or ""."""
        ...

    async def confirm(self) -> None:
        """Check that this process may still send calls of the execution."""
        ...

    def checked(self, path: str, outcome: ToolOutcome) -> ToolOutcome:
        """Return the outcome of a sent call, in view of its earlier attempts."""
        ...

    async def end(self, judged: JudgedCall, outcome: ToolOutcome) -> None:
        """Record the end of a sent call."""
        ...

    async def left(self, judged: JudgedCall, outcome: ToolOutcome) -> None:
        """Record the end of a sent call that the program no longer awaits."""
        ...

    async def settle(self, judged: JudgedCall, end: End) -> None:
        """Record the end of a call that is not sent."""
        ...

    async def begin(self, judged: JudgedCall, program: SavedProgram, stop: Stop) -> InnerRun:
        """Record the start of a saved program, and return its run. `stop` keeps what stops it."""
        ...


class Unrecorded:
    """The recorder of a run that keeps no record. Its methods are those of `Recorder`."""

    def recall(self, call: ToolCall) -> None:
        """Recall nothing."""

    def restore(self, recorded: RecordedCall) -> None:
        """Restore nothing: nothing is recorded."""

    def has_begun(self, path: str) -> bool:
        """Return False."""
        return False

    def answers(self, path: str) -> Mapping[str, Any]:
        """Return no answers."""
        return {}

    async def start(self, judged: JudgedCall, key: str) -> None:
        """Record nothing."""

    async def confirm(self) -> None:
        """Confirm: no other process knows of the run."""

    def checked(self, path: str, outcome: ToolOutcome) -> ToolOutcome:
        """Return the outcome as it is."""
        return outcome

    async def end(self, judged: JudgedCall, outcome: ToolOutcome) -> None:
        """Record nothing."""

    async def left(self, judged: JudgedCall, outcome: ToolOutcome) -> None:
        """Record nothing."""

    async def settle(self, judged: JudgedCall, end: End) -> None:
        """Record nothing."""

    async def begin(self, judged: JudgedCall, program: SavedProgram, stop: Stop) -> InnerRun:
        """Return a fresh run of a saved program."""
        return InnerRun(program.code)
