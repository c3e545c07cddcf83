"""Transactions for questions to people and their decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.errors import ApprovalRefused
from codemode.executions.journal.sql import rows
from codemode.executions.journal.sql.statements import Statement, Transaction, now_us
from codemode.executions.journal.sql.transactions import note
from codemode.executions.journal.sql.twins import approved_twin
from codemode.executions.types.records import VERDICTS, Decision, JournalEntry, PendingCall, QuestionKind
from codemode.text.times import has_passed, rfc3339

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.seals import Seals


_QUESTION = (
    "questions.id, execution, asked_us, digest, kind, asked, verdict, answer, decided_us, questions.seal, verdict_seal,"
    " number, status, updated_us FROM questions JOIN executions ON executions.id = execution"
)

#: The same, with no more than the beginning of a large question, and its size.
_BRIEF_QUESTION = _QUESTION.replace(
    " asked, ",
    f" CASE WHEN length(asked) <= {rows.MOST_LISTED} THEN asked ELSE substr(asked, 1, {rows.HEAD}) END, ",
).replace(" updated_us FROM", " updated_us, length(asked) FROM")


def pending(
    seals: Seals, expire_us: int, execution: str, question: str, *, unanswered: bool
) -> Transaction[tuple[PendingCall, ...]]:
    """See `Journal.pending`."""
    now = yield from now_us()
    condition = "verdict = '' AND status = 'paused' AND updated_us > $4 AND " if unanswered else ""
    question_rows = yield Statement(
        f"SELECT {_QUESTION} WHERE project = $2 AND {condition}($1 = '' OR execution = $1)"
        " AND ($3 = '' OR questions.id = $3) ORDER BY asked_us, questions.id",
        (execution, seals.project, question, *((now - expire_us,) if unanswered else ())),
    )
    read = rows.pending_call if execution else rows.listed_call
    return tuple(read(row, seals, expire_us) for row in question_rows)


def waiting(
    seals: Seals, expire_us: int, owner: str, execution: str, after: str, limit: int, kinds: Sequence[QuestionKind]
) -> Transaction[tuple[PendingCall, ...]]:
    """See `Journal.waiting`. An empty string means every owner, every execution, or the oldest."""
    now = yield from now_us()
    question_rows = yield Statement(
        f"SELECT {_BRIEF_QUESTION} WHERE project = $1 AND verdict = '' AND status = 'paused' AND updated_us > $2"
        " AND ($3 = '' OR owner = $3) AND ($4 = '' OR execution = $4) AND kind IN ($5, $6, $7)"
        " AND ($8 = '' OR (asked_us, questions.id) > (SELECT asked_us, id FROM questions WHERE id = $8))"
        " ORDER BY asked_us, questions.id LIMIT $9",
        (seals.project, now - expire_us, owner, execution, *(*kinds, "", "")[:3], after, limit),
    )
    return tuple(rows.brief_call(row, seals, expire_us) for row in question_rows)


def approved(seals: Seals, expire_us: int, owner: str, most: int) -> Transaction[tuple[PendingCall, ...]]:
    """See `LikeCalls.approved`."""
    question_rows = yield Statement(
        f"SELECT {_QUESTION} WHERE project = $1 AND verdict = 'approved' AND ($2 = '' OR owner = $2)"
        " ORDER BY decided_us DESC, questions.id LIMIT $3",
        (seals.project, owner, most),
    )
    calls = (rows.listed_call(row, seals, expire_us) for row in question_rows)
    return tuple(call for call in calls if not call.damage)


def decide(seals: Seals, expire_us: int, decisions: Sequence[Decision]) -> Transaction[tuple[PendingCall, ...]]:
    """See `Journal.decide`."""
    now = yield from now_us()
    answered = []
    data: dict[str, Any]
    for decision in decisions:
        execution, asked = yield from _require_open_question(seals, decision, now, expire_us)
        answer = rows.answer_text(decision)
        seal = seals.verdict(decision.id, asked, decision.verdict, answer, now)
        updated = yield Statement(
            "UPDATE questions SET verdict = $1, answer = $2, decided_us = $3, verdict_seal = $5"
            " WHERE questions.id = $4 AND verdict = '' RETURNING id",
            (decision.verdict, answer, now, decision.id, seal),
        )
        if not updated:
            raise _refused(decision, "it was already answered", execution)
        question_rows = yield Statement(f"SELECT {_QUESTION} WHERE questions.id = $1", (decision.id,))
        call = rows.pending_call(question_rows[0], seals, expire_us)
        more = {"via": call.via, "up_to": call.up_to, "grant": call.grant}
        data = {"question": call.id, "verdict": call.verdict, "by": call.by}
        data |= {name: value for name, value in more.items() if value}
        if not (yield from note(seals, execution, JournalEntry("decided", call.path, data), "paused", now)):
            raise _refused(decision, "its execution is no longer paused", execution)
        answered.append(call)
    return tuple(answered)


def _require_open_question(
    seals: Seals, decision: Decision, now: int, expire_us: int
) -> Transaction[tuple[str, bytes]]:
    """Return the execution of a decision and the question's seal. Raises ApprovalRefused, JournalDamaged."""
    question_rows = yield Statement(
        f"SELECT {_QUESTION} WHERE questions.id = $1 AND project = $2", (decision.id, seals.project)
    )
    if not question_rows:
        raise _refused(decision, "nothing is pending under this id", "")
    call, seal = rows.pending_call(question_rows[0], seals, expire_us), question_rows[0][9]
    status, updated_us = question_rows[0][-2:]
    execution = call.execution
    if call.verdict:
        by = f" by {call.by}" if call.by else ""
        raise _refused(decision, f"it was already answered: {call.verdict}{by}", execution)
    if status != "paused":
        raise _refused(decision, f"its execution is {status}, not paused", execution)
    if has_passed(updated_us + expire_us, now):
        raise _refused(decision, f"its execution expired at {rfc3339(updated_us + expire_us)}", execution)
    if call.digest != decision.digest:
        raise _refused(decision, "the decision is for other arguments; read the pending call again", execution)
    twin = (yield from approved_twin(seals.project, call)) if decision.verdict == "approved" else ""
    if twin:
        why = f"the same call of the same program was approved as {twin}; reject this one"
        raise _refused(decision, why, execution)
    if decision.verdict not in VERDICTS[call.kind]:
        raise _refused(decision, f"the valid answers are {', '.join(VERDICTS[call.kind])}", execution)
    return execution, bytes(seal)


def _refused(decision: Decision, why: str, execution: str) -> ApprovalRefused:
    return ApprovalRefused(f"the decision on {decision.id} was rejected: {why}", execution=execution)
