"""The audit file: JSON Lines that record who ran what, the calls made, and the policy decision on each."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from codemode.text.times import SECOND_US, rfc3339

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.executions.life.observer import ExecutionStart
    from codemode.executions.types.delivery import Delivery
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.records import PendingCall
    from codemode.executions.types.remembered import Remembered


class AuditFile:
    """Appends to a file of mode 0600. Each line is one write, so that several servers may share the file.

    Every line has `at`, `event` and `execution`. Events:

    - `started`: caller, label, role, program_sha256
    - `call`: path, tool, arguments without secrets, decision, rule, state, duration_s, error; account where the source
      has several. Written before a call is sent, with state `unknown`, and again when it has ended.
    - `ended`: status, number of calls
    - `decided`: approval, tool, digest, verdict, by, via (the interface, over HTTP with the client's address), note;
      up_to and grant where one decision approves several calls
    - `remembered`, `revoked`: decision, approval, tool, digest, caller, by, expires
    - `notified`: message, about (the event), target, approval, result, attempt, error

    Creating one raises OSError if the file cannot be opened. After log rotation the next execution opens a new file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = self._open()

    def started(self, execution: ExecutionStart) -> None:
        """Write a `started` line."""
        self._follow()
        who = execution.caller
        self._write(
            execution.id, "started", caller=who.id, label=who.label, role=who.role, program_sha256=execution.digest
        )

    def called(self, execution: ExecutionStart, entry: LedgerEntry) -> None:
        """Write a `call` line."""
        self._write(
            execution.id,
            "call",
            path=entry.path,
            tool=entry.tool,
            arguments=entry.arguments,
            decision=entry.decision,
            rule=entry.rule,
            state=str(entry.state),
            duration_s=round(entry.duration_s, 6),
            error=entry.error,
            **({"account": entry.account} if entry.account else {}),
        )

    def ended(self, execution: ExecutionStart, outcome: ExecutionOutcome | None) -> None:
        """Write an `ended` line."""
        status = str(outcome.status) if outcome else "cancelled"
        self._write(execution.id, "ended", status=status, calls=len(outcome.calls) if outcome else None)

    def decided(self, call: PendingCall) -> None:
        """Write a `decided` line."""
        self._follow()
        self._write(
            call.execution,
            "decided",
            approval=call.id,
            tool=call.tool,
            digest=call.digest,
            verdict=call.verdict,
            by=call.by,
            via=call.via,
            note=call.note,
            up_to=call.up_to,
            grant=call.grant,
        )

    def remembered(self, decision: Remembered) -> None:
        """Write a `remembered` line, or a `revoked` one."""
        self._follow()
        self._write(
            decision.execution,
            "revoked" if decision.revoked_by else "remembered",
            decision=decision.id,
            approval=decision.approval,
            tool=decision.tool,
            digest=decision.digest,
            caller=decision.owner,
            by=decision.revoked_by or decision.by,
            expires=rfc3339(int(decision.expires * 1_000_000)),
        )

    def notified(self, delivery: Delivery) -> None:
        """Write a `notified` line."""
        facts = delivery._asdict()
        self._follow()
        self._write(facts.pop("execution"), "notified", message=facts.pop("id"), about=facts.pop("event"), **facts)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _open(self) -> int:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _follow(self) -> None:
        """Reopen the file if it was rotated."""
        try:
            there = self._path.stat()
        except FileNotFoundError:
            there = None
        here = os.fstat(self._descriptor)
        if there is None or (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino):
            os.close(self._descriptor)
            self._descriptor = self._open()

    def _write(self, execution: str, event: str, **facts: Any) -> None:
        at = rfc3339(time.time() * SECOND_US)
        line = json.dumps({"at": at, "event": event, "execution": execution, **facts}, ensure_ascii=False, default=str)
        os.write(self._descriptor, f"{line}\n".encode("utf-8", "backslashreplace"))
