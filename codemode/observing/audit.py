"""The audit: a file of JSON lines that says who ran what, which calls it made, and what was decided on each."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.ledger import LedgerEntry
    from codemode.executions.observer import Started


class AuditFile:
    """Appends to a file of mode 0600, each line in one write, so that several servers may share it.

    Three kinds of lines, each with `at`, `event` and `execution`: `started` (caller, label, role, program_sha256),
    `call` (path, tool, arguments without secrets, decision, rule, state, duration_s, error; one line when it is about
    to be sent, with the state `unknown`, and one when it has ended), `ended` (status, number of calls).
    Opening raises OSError; a file that was moved away is opened anew under its name with the next execution.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = self._open()

    def started(self, execution: Started) -> None:
        """Write it."""
        self._follow()
        who = execution.caller
        self._write(
            execution, "started", caller=who.id, label=who.label, role=who.role, program_sha256=execution.digest
        )

    def called(self, execution: Started, entry: LedgerEntry) -> None:
        """Write it."""
        self._write(
            execution,
            "call",
            path=entry.path,
            tool=entry.tool,
            arguments=entry.arguments,
            decision=entry.decision,
            rule=entry.rule,
            state=str(entry.state),
            duration_s=round(entry.duration_s, 6),
            error=entry.error,
        )

    def ended(self, execution: Started, outcome: ExecutionOutcome | None) -> None:
        """Write it."""
        status = str(outcome.status) if outcome else "cancelled"
        self._write(execution, "ended", status=status, calls=len(outcome.calls) if outcome else None)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _open(self) -> int:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _follow(self) -> None:
        """Open the file anew where it was rotated."""
        try:
            there = self._path.stat()
        except FileNotFoundError:
            there = None
        here = os.fstat(self._descriptor)
        if there is None or (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino):
            os.close(self._descriptor)
            self._descriptor = self._open()

    def _write(self, execution: Started, event: str, **facts: Any) -> None:
        at = datetime.now(UTC).isoformat(timespec="microseconds")
        line = json.dumps(
            {"at": at, "event": event, "execution": execution.id, **facts}, ensure_ascii=False, default=str
        )
        os.write(self._descriptor, f"{line}\n".encode("utf-8", "backslashreplace"))
