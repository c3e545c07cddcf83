"""The part of the remembered decisions: it makes, lists and ends them."""

from __future__ import annotations

import asyncio
import logging
import secrets
from typing import TYPE_CHECKING, Self

from codemode.errors import ApprovalRefused, ExecutionNotFound, JournalUnavailable
from codemode.executions.types.records import CONVERSATION
from codemode.executions.types.remembered import LIFE_S, Remembered
from codemode.features.decisions.memory import Memory, require_room
from codemode.features.decisions.stage import RememberedStage
from codemode.features.feature import FeaturePart

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.executions.life.access import Access
    from codemode.executions.life.observer import Observers
    from codemode.executions.run.stage import Staging
    from codemode.executions.types.records import Decision, PendingCall
    from codemode.executions.types.remembered import RememberScope
    from codemode.features.feature import Core
    from codemode.gateway.caller import Caller
    from codemode.settings import Settings
    from codemode.shared.values import ValueStore

log = logging.getLogger(__name__)


class DecisionNotFound(ExecutionNotFound):
    """No remembered decision in force has that id, or it belongs to someone else."""

    code = "decision_not_found"

    def __init__(self, decision: str) -> None:
        message = f"there is no remembered decision {decision[:80]!r} in force"
        super(ExecutionNotFound, self).__init__(message)


class RememberedDecisions(FeaturePart):
    """The remembered decisions of one project. `approvals.remember: false` turns them off, also those made before."""

    def __init__(
        self, access: Access, store: ValueStore, current: Callable[[], Settings], observers: Observers
    ) -> None:
        self._observers = observers
        self._journal = access.journal
        self._approvals = access.approvals
        self._memory = Memory(store)
        self._current = current

    @classmethod
    def of(cls, core: Core) -> Self | None:
        """See `FeaturePart`."""
        if core.executions is None:
            return None
        return cls(core.executions.access, core.store, core.current, core.runner.observers)

    @property
    def is_on(self) -> bool:
        """Whether approvals may be remembered."""
        return self._current().approvals.remember

    def stage(self, staging: Staging) -> RememberedStage | None:
        """See `FeaturePart`."""
        decisions = staging.decisions
        return RememberedStage(staging, decisions, self._memory) if decisions is not None and self.is_on else None

    async def deciding(self, decisions: Sequence[Decision]) -> None:
        """See `Part`. Raises ApprovalRefused if one cannot be remembered as it says."""
        for decision in decisions:
            scope = decision.remember
            if not scope:
                continue
            if not self.is_on:
                raise ApprovalRefused("decisions are not remembered here: `approvals.remember` is false")
            if decision.verdict != "approved":
                message = (
                    f"remember goes with the verdict approved only; {decision.id} is decided as {decision.verdict}"
                )
                raise ApprovalRefused(message)
            call = next(iter(await self._journal.pending(unanswered=False, question=decision.id)), None)
            if call is not None:
                await self._require_room(call, scope)

    async def decided(self, decisions: Sequence[Decision], calls: Sequence[PendingCall], caller: Caller) -> None:
        """See `Part`. If the store fails now, the calls are approved once, and their programs go on."""
        scopes = {decision.id: decision.remember for decision in decisions if decision.remember}
        new = [await self._remembered(call, scope, caller) for call in calls if (scope := scopes.get(call.id))]
        if not new:
            return
        try:
            await self._store(lambda: self._memory.add(new))
        except (ApprovalRefused, JournalUnavailable, ValueError) as error:
            log.error("an approval could not be remembered: %s", error)
            return
        for one in new:
            self._observers.remembered(one)

    async def list(self, caller: Caller) -> tuple[Remembered, ...]:
        """Return the decisions that have not ended, oldest first: of all keys to approvers, to others their own."""
        found = await asyncio.to_thread(self._memory.all)
        sees_all = self._approvals.are_up_to(caller)
        return tuple(one for one in found if sees_all or one.owner == caller.id)

    async def revoke(self, decision: str, caller: Caller) -> Remembered:
        """End a decision: as an approver, or one for calls of the caller. Raises DecisionNotFound."""
        if decision not in {one.id for one in await self.list(caller)}:
            raise DecisionNotFound(decision)
        ended: list[Remembered | None] = []
        await self._store(lambda: ended.append(self._memory.revoke(decision, caller.id)))
        if ended[0] is None:
            raise DecisionNotFound(decision)
        self._observers.remembered(ended[0])
        return ended[0]

    def now(self) -> float:
        """Return the time by which decisions end, in seconds since 1970."""
        return self._memory.clock()

    async def _remembered(self, call: PendingCall, scope: RememberScope, caller: Caller) -> Remembered:
        request = (await self._journal.get(call.execution)).request
        now = self._memory.clock()
        return Remembered(
            id=f"rd_{secrets.token_hex(8)}",
            approval=call.id,
            execution=call.execution,
            path=call.path,
            digest=call.digest,
            tool=call.tool,
            owner=request.owner,
            role=request.role,
            conversation=request.settings.get(CONVERSATION, "") if scope == "conversation" else "",
            arguments=call.arguments,
            by=caller.id,
            note=call.note,
            at=now,
            expires=now + LIFE_S[scope],
        )

    async def _require_room(self, call: PendingCall, scope: RememberScope) -> None:
        """Raise ApprovalRefused if the approval of a call cannot be remembered."""
        request = (await self._journal.get(call.execution)).request
        if scope == "conversation" and not request.settings.get(CONVERSATION):
            message = f"{call.id} is of no conversation: remember it for an hour, or approve this call alone"
            raise ApprovalRefused(message, execution=call.execution)
        require_room(await asyncio.to_thread(self._memory.all), request.owner)

    async def _store(self, function: Callable[[], object]) -> None:
        try:
            await asyncio.to_thread(function)
        except OSError as error:
            message = f"decisions cannot be remembered now: {error.strerror or error}"
            raise JournalUnavailable(message) from None
