"""The transactions of questions to people: what is asked, and what was decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.errors import ApprovalRefused
from codemode.executions.journal import rows
from codemode.executions.journal.base import VERDICTS, Decision, JournalEntry, PendingCall
from codemode.executions.journal.statements import Statement, Transaction, now_us
from codemode.executions.journal.transactions import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.seals import Seals


_QUESTION = (
    "questions.id, execution, asked_us, digest, kind, asked, verdict, answer, decided_us, questions.seal, verdict_seal,"
    " number, status FROM questions JOIN executions ON executions.id = execution"
)


def pending(seals: Seals, execution: str, *, unanswered: bool) -> Transaction[tuple[PendingCall, ...]]:
    """See `Journal.pending`."""
    condition = "verdict = '' AND status = 'paused' AND " if unanswered else ""
    found = yield Statement(
        f"SELECT {_QUESTION} WHERE project = $2 AND {condition}($1 = '' OR execution = $1)"
        " ORDER BY asked_us, questions.id",
        (execution, seals.project),
    )
    read = rows.pending_call if execution else rows.listed_call
    return tuple(read(row, seals) for row in found)


def decide(seals: Seals, decisions: Sequence[Decision]) -> Transaction[tuple[PendingCall, ...]]:
    """See `Journal.decide`."""
    now = yield from now_us()
    answered = []
    for decision in decisions:
        execution, asked = yield from _require_open_question(seals, decision)
        answer = rows.answer_text(decision)
        seal = seals.verdict(decision.id, asked, decision.verdict, answer, now)
        taken = yield Statement(
            "UPDATE questions SET verdict = $1, answer = $2, decided_us = $3, verdict_seal = $5"
            " WHERE questions.id = $4 AND verdict = '' RETURNING id",
            (decision.verdict, answer, now, decision.id, seal),
        )
        if not taken:
            raise _refused(decision, "it has been answered already", execution)
        found = yield Statement(f"SELECT {_QUESTION} WHERE questions.id = $1", (decision.id,))
        call = rows.pending_call(found[0], seals)
        data = {"question": call.id, "verdict": call.verdict, "by": call.by}
        if not (yield from note(seals, execution, JournalEntry("decided", call.path, data), "paused", now)):
            raise _refused(decision, "its execution is not paused any more", execution)
        answered.append(call)
    return tuple(answered)


def _require_open_question(seals: Seals, decision: Decision) -> Transaction[tuple[str, bytes]]:
    """The execution that a decision is about, and the question's seal. Raises ApprovalRefused, JournalDamaged."""
    found = yield Statement(
        f"SELECT {_QUESTION} WHERE questions.id = $1 AND project = $2", (decision.id, seals.project)
    )
    if not found:
        raise _refused(decision, "there is no such question", "")
    call, seal, status = rows.pending_call(found[0], seals), found[0][9], found[0][-1]
    execution = call.execution
    if call.verdict:
        raise _refused(decision, f"it has been answered already: {call.verdict}", execution)
    if status != "paused":
        raise _refused(decision, f"its execution is {status}, not paused", execution)
    if call.digest != decision.digest:
        raise _refused(decision, "it was given for other arguments; look at the call again", execution)
    if decision.verdict not in VERDICTS[call.kind]:
        raise _refused(decision, f"it can be answered by {', '.join(VERDICTS[call.kind])}", execution)
    return execution, bytes(seal)


def _refused(decision: Decision, why: str, execution: str) -> ApprovalRefused:
    return ApprovalRefused(f"the answer to {decision.id} is refused: {why}", execution=execution)
