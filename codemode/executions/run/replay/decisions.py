"""Who decides on the calls of a recorded run, in order.

1. The record: a call that was sent and has no recorded end may have taken effect. Reads are sent again, and so are
   writes whose service accepts an idempotency key. For any other call a person decides.
2. An earlier execution, whose calls a corrected program reuses.
3. The answers of people, their grants, and the plugins.
4. The program pauses for a person.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

from codemode.catalog.tool import Effect
from codemode.executions.run.deciders import ask_plugins
from codemode.executions.run.ends import decision_required, end_said, rejection, service_question
from codemode.executions.run.failures import approval_required, login_required
from codemode.executions.run.replay.dependencies import account_mark
from codemode.executions.run.replay.grants import Grants
from codemode.executions.run.replay.questions import Questions
from codemode.gateway.call import CallState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.executions.run.context import RunContext
    from codemode.executions.run.deciders import Decide
    from codemode.executions.run.replay.comparison import Comparison
    from codemode.executions.run.replay.recording import ExecutionRecording
    from codemode.executions.types.record import End, RecordedCall
    from codemode.executions.types.records import PendingCall, QuestionKind
    from codemode.gateway.call import JudgedCall
    from codemode.transports.questions import InputRequired
    from sandbox import Failure


class Decisions:
    """The decisions on the calls of one recorded run.

    `pending` lists the calls that need a person before the program can continue. `planned` holds, by path, what a plan
    lists where a call differs. `doubtful` holds the paths of writes that an earlier server sent, and that may have
    taken effect.
    """

    def __init__(self, run: RunContext, recording: ExecutionRecording, comparison: Comparison) -> None:
        self.run = run
        self.recording = recording
        self.comparison = comparison
        self.pending: list[PendingCall] = []
        self.planned: dict[str, Mapping[str, Any] | None] = {}
        self.doubtful: set[str] = set()
        self._questions = Questions(run.execution, run.gateway, recording.journal.digest, recording.gap)
        self._grants = Grants(recording.answered, recording.record.calls.values())

    def deciders(self) -> tuple[Decide, ...]:
        """Return who decides, in order."""
        plugins = partial(ask_plugins, self.run)
        return self._by_record, self._by_earlier, self._by_answer, self._by_grant, plugins, self._pause

    async def _by_record(self, judged: JudgedCall, recorded: RecordedCall | None) -> JudgedCall | End:
        if recorded is None:
            return judged
        if judged.state is CallState.PENDING:  # it was approved before it was sent
            judged = self.run.amend(judged.allowed(recorded.rule))
        return await self._of_unknown_end(judged, recorded.attempts)

    async def _by_earlier(self, judged: JudgedCall, recorded: RecordedCall | None) -> JudgedCall | End:
        reuse = self.recording.reuse
        if reuse is None or recorded is not None or judged.tool is None or judged.state is CallState.DENIED:
            return judged
        _, tool, digest = self.comparison.identity(judged.call.path)
        mark = account_mark(judged, self.recording.journal.digest)
        earlier = reuse.take(judged.call.path, tool, digest, mark)
        if earlier is not None and earlier.state is CallState.UNKNOWN:
            return await self._of_unknown_end(judged, 0)
        return earlier or judged

    async def _by_answer(self, judged: JudgedCall, _: RecordedCall | None) -> JudgedCall | End:
        if judged.state is not CallState.PENDING:
            return judged
        question, answered = self._asked(judged, "approval", 0)
        if answered is None or answered.verdict is None:
            return judged
        if answered.verdict == "rejected":
            return rejection(judged, "a person", answered.note)
        under = f" under grant {answered.grant}" if answered.grant else ""
        return self._approve(judged, question.id, f"{answered.by}{under}")

    async def _by_grant(self, judged: JudgedCall, _: RecordedCall | None) -> JudgedCall:
        grant = self._grants.take(judged, self._questions) if judged.state is CallState.PENDING else None
        return judged if grant is None else self._approve(judged, grant.id, f"{grant.by} under grant {grant.id}")

    def _approve(self, judged: JudgedCall, approval: str, by: str) -> JudgedCall:
        self.run.floor.answered[judged.call.path] = approval
        return self.run.amend(judged.approved(by))

    async def _pause(self, judged: JudgedCall, _: RecordedCall | None) -> JudgedCall:
        if judged.state is CallState.PENDING:
            await self._pause_for(self._asked(judged, "approval", 0)[0], CallState.PENDING)
        return judged

    async def _of_unknown_end(self, judged: JudgedCall, attempts: int) -> JudgedCall | End:
        """Decide on a sent call with an unknown end. A key is no help if `attempts` is 0: another execution sent it."""
        path = judged.call.path
        allowed = judged.approved("a person") if judged.state is CallState.PENDING else judged
        question, answered = self._asked(judged, "unknown", attempts)
        of_service = self._question(judged, "input", attempts).id
        if (answered is not None and answered.verdict == "send_again") or of_service in self.recording.answered:
            self.run.floor.answered.setdefault(path, "")
            return allowed
        if answered is not None and answered.verdict is not None:
            return end_said(answered)
        if judged.tool is None or judged.tool.effect is Effect.READ:
            return allowed
        if attempts and self.run.gateway.takes_key(judged.tool):
            self.doubtful.add(path)
            return allowed
        return await self._pause_for(question, CallState.UNKNOWN)

    def _asked(self, judged: JudgedCall, kind: QuestionKind, attempt: int) -> tuple[PendingCall, PendingCall | None]:
        """Return the question about a call with the answer to it, None without one. It is new if that is outdated."""
        question, now_us = self._question(judged, kind, attempt), time.time_ns() // 1000
        first, answered = question.id, self.recording.answered.get(question.id)
        for again in count(1):
            if answered is None or not answered.is_outdated(now_us):
                break
            question = replace(question, id=f"{first}_{again}")
            answered = self.recording.answered.get(question.id)
        return question, answered

    def _question(self, judged: JudgedCall, kind: QuestionKind, attempt: int) -> PendingCall:
        path = judged.call.path
        _, tool, digest = self.comparison.identity(path)
        arguments = self.run.ledger.entry(path).arguments
        question = self._questions.ask(judged, (tool, digest), arguments, kind, attempt)
        return replace(question, planned=self.planned.get(path)) if kind == "approval" else question

    async def pause_for_service(self, judged: JudgedCall, required: InputRequired) -> NoReturn:
        """Stop the program for a question that the service of a call asks a person."""
        question = self._question(judged, "input", self.recording.record.attempts(judged.call.path) + 1)
        await self._pause_for(service_question(question, required), CallState.PENDING)

    async def pause_for_login(self, judged: JudgedCall, asks: Mapping[str, Any]) -> bool:
        """Stop the program until the owner has logged in. Return False if they have declined.

        `asks` is the question, as `PendingCall.asks`. If it was answered and there is no login yet, it is asked again.
        """
        question = self._question(judged, "login", 0)
        first, numbers = question.id, count(1)
        while (answered := self.recording.answered.get(question.id)) is not None:
            if answered.verdict == "declined":
                return False
            question = replace(question, id=f"{first}_{next(numbers)}")
        return await self._pause_for(replace(question, reason=asks["message"], asks=asks), CallState.PENDING)

    async def _pause_for(self, question: PendingCall, state: CallState) -> NoReturn:
        self.pending.append(question)
        ledger, floor = self.run.ledger, self.run.floor
        entry = ledger.entry(question.path)
        error = question.reason if question.asks is not None else entry.error
        ledger.restore(entry._replace(state=state, question=question.id, error=error))
        try:
            await floor.ask(question.path, self._waits)
        except asyncio.CancelledError:
            if not floor.is_over:
                self.pending.remove(question)
                given_up = CallState.NOT_STARTED if state is CallState.PENDING else state
                ledger.restore(entry._replace(state=given_up))
            raise

    def _waits(self) -> Failure:
        hint = "a person must decide on these calls by their ids; then the program continues from here"
        unknown = [question for question in self.pending if question.kind == "unknown"]
        if unknown:
            return decision_required(unknown, hint)
        logins = [question.reason for question in self.pending if question.kind == "login"]
        if len(logins) == len(self.pending):
            return login_required(logins)
        return replace(approval_required(self.run.ledger.pending()), hint=hint)
