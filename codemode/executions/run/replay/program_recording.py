"""The recording of a program: what the sandbox sends it again in a replay, and is about to send it now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from sandbox import ProgramStopped

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from codemode.executions.run.context import RunContext
    from codemode.executions.run.replay.decisions import Decisions
    from codemode.executions.run.replay.writer import JournalWriter
    from codemode.executions.types.record import RecordedCall
    from codemode.executions.types.records import JournalEntry
    from sandbox import Call, Delivery


class Ends(Protocol):
    """Makes the entries of the ends of calls."""

    def restore(self, recorded: RecordedCall) -> None:
        """Add a recorded call to the ledger."""
        ...

    def ended(self, path: str, answer: bytes, *, is_error: bool) -> JournalEntry:
        """Return the entry of the end of a call that the program does not hear of now."""
        ...

    def delivered(self, delivery: Delivery, within: str) -> JournalEntry:
        """Return the entry of a message to the program, or to the saved program `within`."""
        ...


class ProgramRecording:
    """The `sandbox.Recording` of a run. `within` is the path of a saved program, "" for the execution's own."""

    def __init__(self, run: RunContext, ends: Ends, decisions: Decisions, writer: JournalWriter) -> None:
        self._run = run
        self._ends = ends
        self._record = decisions.recording.record
        self._comparison = decisions.comparison
        self._writer = writer
        self._parts = self._record.parts()

    @property
    def recorded(self) -> Sequence[Delivery]:
        """The messages that the program was sent before."""
        return self._record.deliveries

    def identify(self, call: Call, within: str = "") -> None:
        """Register a call. Raises ProgramStopped if another call was recorded."""
        self._comparison.identify(call, within)

    def replayed(self, call: Call, within: str = "") -> None:
        """Compare a call with the record. If its end is not recorded, the program awaits it again after the replay."""
        recorded = self._comparison.identify(call, within)
        if recorded is None:
            return
        for known in (recorded, *self._parts.get(recorded.path, ())):
            self._ends.restore(known)

    def printed(self, text: str) -> None:
        """See `sandbox.Recording`."""
        self._writer.printed(text)

    def live(self, within: str = "") -> None:
        """End the replay. Raises ProgramStopped if the program has made fewer calls than recorded."""
        missing = self._comparison.missing(within)
        if missing is not None:
            raise ProgramStopped(missing)

    async def deliver(
        self, deliveries: Sequence[Delivery], within: str = "", over: asyncio.Event | None = None
    ) -> bool:
        """Journal what is about to be sent to the program, or to the saved program `within`, which ends with `over`.

        While a person is asked, the program stands still. Answers are then recorded as ended, for a later resume.
        """
        floor = self._run.floor
        await floor.unasked(over)
        if floor.is_over or (over and over.is_set()):
            ended = [self._undelivered(delivery, within) for delivery in deliveries]
            await self._writer.append([entry for entry in ended if entry is not None])
            return False
        entries = [self._ends.delivered(each, within) for each in deliveries]
        await self._writer.append(entries, at_once=not floor.is_busy)
        return True

    def over(self) -> None:
        """See `sandbox.Recording`."""
        self._run.floor.close()

    def restore_unreached(self) -> None:
        """Add the recorded calls to the ledger that the program did not reach again."""
        for path, call in self._record.calls.items():
            if path not in self._run.ledger:
                self._ends.restore(call)

    def _undelivered(self, delivery: Delivery, within: str) -> JournalEntry | None:
        """Return the entry for an answer that the program did not get, None if its call was not sent."""
        path = self._comparison.path(within, delivery.call)
        if path not in self._run.started:
            return None
        return self._ends.ended(path, delivery.answer, is_error=delivery.is_error)
