"""Pending calls in the MCP client: who is asked there, about which calls, and what an answer does.

An answer is valid for the call whose digest the person was asked about, and for that call only. The setting
`approvals.in_client` says who is asked for approvals; the default is nobody. Questions of services about a call go to
the client that started the execution.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import mcp_types

from codemode.errors import ApprovalRefused
from codemode.executions.types.records import OF_OWNER
from codemode.features.cards.desk import Cards
from codemode.gateway.caller import LOCAL, Caller
from codemode.serving.auth.callers import ANYBODY
from codemode.serving.mcp.questions import decision, question

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.executions.types.card import ApprovalCard
    from codemode.executions.types.records import Decision, PendingCall, QuestionKind
    from codemode.service import CodeMode

#: Largest number of questions in one round.
MOST_QUESTIONS = 20

#: Callers without a key, each of them the only user of a process.
_WITHOUT_KEY = (LOCAL.id, ANYBODY.id)


@dataclass(frozen=True, slots=True)
class Round:
    """One round of questions about an execution: kind and digest of calls by id, and the calls left to the inbox."""

    execution: str
    calls: Mapping[str, tuple[QuestionKind, str]]
    left: frozenset[str] = field(default_factory=frozenset)

    def state(self) -> str:
        """Return the round as a request state (MCP 2026-07-28, multi round-trip requests), to be sealed."""
        return json.dumps([self.execution, dict(self.calls), sorted(self.left)])

    @classmethod
    def of(cls, state: str) -> Round:
        """Return the round of an unsealed request state."""
        execution, calls, left = json.loads(state)
        return cls(execution, {call: (kind, digest) for call, (kind, digest) in calls.items()}, frozenset(left))


@dataclass(frozen=True, slots=True)
class _Deciders:
    """Who decides in a client by kind of question. None: nobody there."""

    approval: Caller | None = None
    input: Caller | None = None

    def of(self, kind: QuestionKind) -> Caller | None:
        return self.input if kind in OF_OWNER else self.approval if kind == "approval" else None


class InClient:
    """Asks the person at an MCP client about the pending calls of an execution."""

    def __init__(self, service: CodeMode) -> None:
        self._service = service

    async def waiting(
        self,
        execution: str,
        caller: Caller,
        capabilities: mcp_types.ClientCapabilities | None,
        left: frozenset[str] = frozenset(),
    ) -> tuple[ApprovalCard, ...]:
        """Return cards of the calls that the caller's client can ask about, without those `left` to the inbox.

        Raises ExecutionNotFound.
        """
        if capabilities is None or capabilities.elicitation is None:
            return ()
        deciders = await self._deciders(execution, caller)
        if deciders == _Deciders():
            return ()
        executions, cards = self._service.executions, self._service.runtime.features.find(Cards)
        if cards is None:
            return ()
        shown = [
            call.id
            for call in await executions.approvals(caller, execution)
            if deciders.of(call.kind) is not None and can_show(capabilities.elicitation, call) and call.id not in left
        ]
        return tuple([await cards.show(call, caller) for call in shown[:MOST_QUESTIONS]])

    async def answer(
        self, asked: Round, answers: Mapping[str, mcp_types.InputResponse], caller: Caller
    ) -> frozenset[str]:
        """Record the decisions in answers by call id. Return the calls that are left to the inbox.

        Other ids are ignored, and so is an answer to a call that was decided or changed meanwhile.
        """
        deciders, left = await self._deciders(asked.execution, caller), set(asked.left)
        for call, (kind, digest) in asked.calls.items():
            answer, decider = answers.get(call), deciders.of(kind)
            if not isinstance(answer, mcp_types.ElicitResult) or decider is None:
                continue
            decided = decision(kind, call, digest, answer, decider.id)
            if decided is None:
                left.add(call)
            else:
                await self._decide(decided, decider)
        return frozenset(left)

    async def _decide(self, decided: Decision, decider: Caller) -> None:
        try:
            await self._service.executions.decide((decided,), decider)
        except ApprovalRefused:
            return

    async def _deciders(self, execution: str, caller: Caller) -> _Deciders:
        stored = await self._service.executions.get(execution, caller)
        mode, approvers = self._service.settings.approvals.in_client, self._service.settings.policy.approvers
        if stored.request.owner != caller.id:
            return _Deciders(approval=caller if mode != "off" and caller.role in approvers else None)
        if mode != "single_user" or (caller.id not in _WITHOUT_KEY and caller.role not in approvers):
            return _Deciders(input=caller)
        person = Caller(f"{caller.id}, in person", next(iter(approvers), caller.role), caller.label)
        return _Deciders(approval=person, input=caller)


def round_of(execution: str, cards: Iterable[ApprovalCard], left: frozenset[str]) -> Round:
    """Return the round that asks about calls."""
    return Round(execution, {card.call.id: (card.call.kind, card.call.digest) for card in cards}, left)


def requests_of(cards: Iterable[ApprovalCard]) -> dict[str, mcp_types.InputRequest]:
    """Return the elicitation requests about calls, by call id."""
    return {card.call.id: question(card) for card in cards}


def can_show(elicitation: mcp_types.ElicitationCapability, call: PendingCall) -> bool:
    """Return whether a client shows the mode of a question. An empty declaration means forms."""
    if call.asks is not None and call.asks["mode"] == "url":
        return elicitation.url is not None and bool(call.asks["url"])
    return elicitation.form is not None or elicitation.url is None
