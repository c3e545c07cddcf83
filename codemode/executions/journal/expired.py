"""Executions that expired before a person had decided on all of their calls, with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.errors import ExecutionNotFound, JournalDamaged
from codemode.executions.journal.migrations import UNSEALED

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal

_UNDECIDED = "nobody decided in time (journal.expire_s)"


@dataclass(frozen=True, slots=True)
class ExpiredExecution:
    """An execution that has expired, its undecided calls as `tool, id`, the time, and the reason."""

    execution: str
    undecided: tuple[str, ...]
    ended_us: int
    reason: str


async def expired_executions(journal: Journal, limit: int = 20) -> tuple[ExpiredExecution, ...]:
    """Return the executions with undecided calls that expired, newest first. Damaged ones are left out."""
    expired = []
    for listed in await journal.list(status="expired", limit=limit):
        execution = listed.request.id
        try:
            stored = await journal.get(execution)
            calls = await journal.pending(execution=execution, unanswered=False)
        except (JournalDamaged, ExecutionNotFound):
            continue
        undecided = tuple(f"{call.tool}, {call.id}" for call in calls if call.verdict is None)
        is_migrated = UNSEALED in (stored.outcome or {}).get("notes", ())
        if undecided:
            reason = UNSEALED if is_migrated else _UNDECIDED
            expired.append(ExpiredExecution(execution, undecided, stored.ended_us, reason))
    return tuple(expired)
