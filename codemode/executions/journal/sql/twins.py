"""The same call or program twice: a caller who sends it again while it waits for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.errors import ProgramWaiting
from codemode.executions.journal.sql.statements import Statement, Transaction, now_us

if TYPE_CHECKING:
    from codemode.executions.types.records import NewExecution, PendingCall

#: Twins that a card names.
_NAMED = 5

_WAITING = "verdict = '' AND status = 'paused' AND updated_us > $2"


def require_no_twin(project: str, new: NewExecution, expire_us: int) -> Transaction[None]:
    """Raise ProgramWaiting if the same request of the owner waits for a person, unless this one has its own key."""
    if new.request_key or not new.request_digest:
        return
    now = yield from now_us()
    waiting = yield Statement(
        f"SELECT executions.id, questions.id FROM executions JOIN questions ON execution = executions.id"
        f" WHERE project = $1 AND {_WAITING} AND owner = $3 AND request_digest = $4 ORDER BY number LIMIT 1",
        (project, now - expire_us, new.owner, new.request_digest),
    )
    for execution, question in waiting:
        message = (
            f"this program already waits for a person, as {execution} with {question}: nothing was run again; continue"
            f" it with resume_from={execution!r} after the decision, or send it with an idempotency key to run it twice"
        )
        raise ProgramWaiting(message, execution=execution)


def twins(project: str, call: PendingCall, expire_us: int) -> Transaction[tuple[str, ...]]:
    """Return the ids of calls that wait too: the same tool and arguments, of the same owner, in other executions."""
    now = yield from now_us()
    same = yield Statement(
        "SELECT questions.id FROM executions JOIN questions ON execution = executions.id"
        f" WHERE project = $1 AND {_WAITING} AND digest = $3 AND kind = $4 AND execution <> $5"
        f" AND owner = (SELECT owner FROM executions WHERE id = $5) ORDER BY asked_us, questions.id LIMIT {_NAMED}",
        (project, now - expire_us, call.digest, call.kind, call.execution),
    )
    return tuple(row[0] for row in same)


def approved_twin(project: str, call: PendingCall) -> Transaction[str]:
    """Return the id of the same call of the same program that was approved while this one waited, "" without one."""
    same = yield Statement(
        "SELECT questions.id FROM executions JOIN questions ON execution = executions.id"
        " JOIN executions AS own ON own.id = $2 WHERE executions.project = $1 AND executions.owner = own.owner"
        " AND executions.request_digest = own.request_digest AND own.request_digest <> ''"
        " AND executions.request_key = '' AND own.request_key = '' AND execution <> $2 AND kind = 'approval'"
        " AND digest = $3 AND verdict = 'approved' AND decided_us >= $4 ORDER BY decided_us LIMIT 1",
        (project, call.execution, call.digest, call.asked_us),
    )
    return same[0][0] if same else ""
