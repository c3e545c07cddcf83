"""Access to pending calls: which callers may see them, and which may decide."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from codemode.errors import ApprovalForbidden, ApprovalRefused, JournalDamaged

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from codemode.executions.journal.base import Decision, Journal, PendingCall
    from codemode.gateway.caller import Caller


class Approvals:
    """Pending calls of one journal. `roles` returns the roles that may approve or deny them."""

    def __init__(self, journal: Journal, roles: Callable[[], Collection[str]]) -> None:
        self._journal = journal
        self._roles = roles

    def are_up_to(self, caller: Caller) -> bool:
        """Return whether the caller is an approver."""
        return caller.role in self._roles()

    def require_approver(self, caller: Caller) -> None:
        """Raise ApprovalForbidden if the caller is no approver."""
        if not self.are_up_to(caller):
            roles = ", ".join(sorted(self._roles()))
            message = f"only the roles {roles} may decide on calls; this key has the role {caller.role}"
            raise ApprovalForbidden(message)

    async def waiting(self, caller: Caller, execution: str) -> tuple[PendingCall, ...]:
        """Return all pending calls to approvers, and to other callers those of their own executions."""
        pending = await self._journal.pending(execution=execution)
        if self.are_up_to(caller):
            return pending
        owners = {}
        for execution_id in {each.execution for each in pending}:
            with suppress(JournalDamaged):  # the owner is unreadable
                owners[execution_id] = (await self._journal.get(execution_id)).given.owner
        return tuple(each for each in pending if owners.get(each.execution) == caller.id)

    async def decide(self, decisions: Sequence[Decision], caller: Caller) -> tuple[PendingCall, ...]:
        """Record the caller's decisions, all or none.

        Raises ApprovalRefused, and ApprovalForbidden if the caller may not decide on a call.
        """
        self.require_approver(caller)
        waiting = {question.id: question for question in await self._journal.pending()}
        for decision in decisions:
            question = waiting.get(decision.id)
            if question is None:
                message = f"no call is pending under {decision.id}"
                raise ApprovalRefused(message)
            if (await self._journal.get(question.execution)).given.owner == caller.id:
                message = f"{decision.id} belongs to an execution of the same key; a different person must decide"
                raise ApprovalForbidden(message, execution=question.execution)
        return await self._journal.decide([replace(decision, by=caller.id) for decision in decisions])
