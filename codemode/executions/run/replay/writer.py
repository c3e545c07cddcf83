"""Writes the entries of one run to the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.errors import CodeModeError
from codemode.executions.run.ends import stopped
from codemode.executions.types.records import JournalEntry
from sandbox import ProgramStopped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.run.replay.recording import ExecutionRecording
    from codemode.executions.types.ledger import Ledger


class JournalWriter:
    """The entries of one run. `broken` is the error that prevents recording."""

    def __init__(self, recording: ExecutionRecording, ledger: Ledger) -> None:
        self.broken: CodeModeError | None = None
        self._recording = recording
        self._ledger = ledger
        self._printed_before = recording.record.printed
        self._unwritten: list[str] = []

    def printed(self, text: str) -> None:
        """Keep output for followers. It is written together with the next entry."""
        again = min(self._printed_before, len(text))
        self._printed_before -= again
        if text[again:]:
            self._unwritten.append(text[again:])

    async def append(self, entries: Sequence[JournalEntry], *, at_once: bool = False) -> None:
        """Write entries under the execution's lease, which is renewed. Raises ProgramStopped if that fails."""
        if self._unwritten:
            entries = (JournalEntry("printed", data={"text": "".join(self._unwritten)}), *entries)
            self._unwritten = []
        try:
            await self._recording.journal.append(self._recording.lease, entries, at_once=at_once)
        except CodeModeError as error:  # full, unavailable, or owned by another server
            self.broken = error
            raise ProgramStopped(stopped(error, has_sent=self._ledger.has_sent())) from error
        self._recording.appended()
