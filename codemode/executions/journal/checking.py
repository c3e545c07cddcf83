"""Check of a whole journal: its structure, and the seals of every execution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.errors import ExecutionNotFound, JournalDamaged
from codemode.executions.journal.expired import ExpiredExecution, expired_executions
from codemode.executions.journal.sql import plans
from codemode.executions.types.record import Record

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal, StoredJournal

_PAGE = 200
_ALL_PLANS = 1_000_000


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check: the number of executions, damage to the store, and damage by execution or plan.

    `expired` are the last executions that expired with undecided calls.
    """

    executions: int
    structure: tuple[str, ...]
    damaged: dict[str, str]
    expired: tuple[ExpiredExecution, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the check found no damage."""
        return not self.structure and not self.damaged


async def check(journal: StoredJournal) -> CheckReport:
    """Check everything that an open journal stores for its project. Raises JournalUnavailable."""
    structure, tables = await journal.damages(), journal.tables
    damaged: dict[str, str] = {}
    count, before = 0, ""
    while page := await journal.list(limit=_PAGE, before=before):
        for one in page:
            try:
                await _require_whole(journal, one.request.id)
            except JournalDamaged as error:
                damaged[one.request.id] = str(error)
            except ExecutionNotFound:
                continue  # pruned meanwhile
            count += 1
        before = page[-1].request.id
    try:
        await tables.read(plans.list_plans(tables.seals, "", _ALL_PLANS, tables.expire_us))
    except JournalDamaged as error:
        damaged[error.execution] = str(error)
    return CheckReport(count, structure, damaged, await expired_executions(journal))


async def _require_whole(journal: Journal, execution: str) -> None:
    stored = await journal.get(execution)
    Record(execution, await journal.read(execution)).complete(stored)
    await journal.pending(execution=execution, unanswered=False)
