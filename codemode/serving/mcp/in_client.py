"""Approvals in the MCP client: who is asked there, about which calls, and what an answer does.

An answer is valid for the call whose digest the person was asked about, and for that call only. The setting
`approvals.in_client` says who is asked; the default is nobody.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import mcp_types

from codemode.errors import ApprovalRefused
from codemode.gateway.caller import LOCAL, Caller
from codemode.serving.auth.callers import ANYBODY
from codemode.serving.mcp.questions import decision, question

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.executions.journal.base import Decision, PendingCall
    from codemode.service import CodeMode

#: Largest number of questions in one round.
MOST_QUESTIONS = 20

#: Callers without a key, each of them the only user of a process.
_WITHOUT_KEY = (LOCAL.id, ANYBODY.id)


@dataclass(frozen=True, slots=True)
class Round:
    """The questions of one round about an execution: the digests of calls by id, and the calls left to the inbox."""

    execution: str
    digests: Mapping[str, str]
    left: frozenset[str] = field(default_factory=frozenset)

    def state(self) -> str:
        """Return the round as a request state (MCP 2026-07-28, multi round-trip requests), to be sealed."""
        return json.dumps([self.execution, dict(self.digests), sorted(self.left)])

    @classmethod
    def of(cls, state: str) -> Round:
        """Return the round of an unsealed request state."""
        execution, digests, left = json.loads(state)
        return cls(execution, digests, frozenset(left))


class InClient:
    """Asks the person at an MCP client about the pending calls of an execution."""

    def __init__(self, service: CodeMode) -> None:
        self._service = service

    async def waiting(
        self, execution: str, caller: Caller, left: frozenset[str] = frozenset()
    ) -> tuple[PendingCall, ...]:
        """Return the calls that the person at this caller's client may decide on, without those `left` to the inbox.

        Raises ExecutionNotFound.
        """
        if await self._decider(execution, caller) is None:
            return ()
        pending = await self._service.executions.approvals(caller, execution)
        asked = [call for call in pending if call.kind == "approval" and call.id not in left]
        return tuple(asked[:MOST_QUESTIONS])

    async def answer(
        self, asked: Round, answers: Mapping[str, mcp_types.InputResponse], caller: Caller
    ) -> frozenset[str]:
        """Record the decisions in answers by call id. Return the calls that are left to the inbox.

        Other ids are ignored, and so is an answer to a call that was decided or changed meanwhile.
        """
        decider = await self._decider(asked.execution, caller)
        if decider is None:
            return asked.left
        left = set(asked.left)
        for call, digest in asked.digests.items():
            answer = answers.get(call)
            if not isinstance(answer, mcp_types.ElicitResult):
                continue
            decided = decision(call, digest, answer, decider.id)
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

    async def _decider(self, execution: str, caller: Caller) -> Caller | None:
        """Return who decides on calls of an execution in this caller's client, None if nobody may."""
        mode, approvers = self._service.settings.approvals.in_client, self._service.settings.policy.approvers
        if mode == "off":
            return None
        stored = await self._service.executions.get(execution, caller)
        if stored.given.owner != caller.id:
            return caller if caller.role in approvers else None
        if mode != "single_user" or (caller.id not in _WITHOUT_KEY and caller.role not in approvers):
            return None
        return Caller(f"{caller.id}, in person", next(iter(approvers), caller.role), caller.label)


def round_of(execution: str, calls: Iterable[PendingCall], left: frozenset[str]) -> Round:
    """Return the round that asks about calls."""
    return Round(execution, {call.id: call.digest for call in calls}, left)


def requests_of(calls: Iterable[PendingCall]) -> dict[str, mcp_types.InputRequest]:
    """Return the elicitation requests about calls, by call id."""
    return {call.id: question(call) for call in calls}


def can_fill_in(capabilities: mcp_types.ClientCapabilities | None) -> bool:
    """Return whether a client declares elicitation in form mode, which an empty declaration means too."""
    elicitation = capabilities.elicitation if capabilities is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)
