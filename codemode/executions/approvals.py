"""Who may see the calls that wait for a person, and who may decide on them."""

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
    """The calls of one journal that wait for a person. `roles` are those of who decides on them."""

    def __init__(self, journal: Journal, roles: Callable[[], Collection[str]]) -> None:
        self._journal = journal
        self._roles = roles

    def are_up_to(self, caller: Caller) -> bool:
        """Whether the caller has one of the roles."""
        return caller.role in self._roles()

    async def waiting(self, caller: Caller, execution: str) -> tuple[PendingCall, ...]:
        """All that wait for approvers, else those of the caller's own executions."""
        found = await self._journal.pending(execution=execution)
        if self.are_up_to(caller):
            return found
        owners = {}
        for one in {each.execution for each in found}:
            with suppress(JournalDamaged):  # whose it is cannot be read
                owners[one] = (await self._journal.get(one)).given.owner
        return tuple(each for each in found if owners.get(each.execution) == caller.id)

    async def decide(self, decisions: Sequence[Decision], caller: Caller) -> tuple[PendingCall, ...]:
        """Record the answers of a caller, all or none. Raises ApprovalRefused, ApprovalForbidden for who may not."""
        if not self.are_up_to(caller):
            roles = ", ".join(sorted(self._roles()))
            message = f"deciding on calls takes one of the roles {roles}; the key has {caller.role}"
            raise ApprovalForbidden(message)
        waiting = {question.id: question for question in await self._journal.pending()}
        for decision in decisions:
            question = waiting.get(decision.id)
            if question is None:
                message = f"nothing waits for a decision under {decision.id}"
                raise ApprovalRefused(message)
            if (await self._journal.get(question.execution)).given.owner == caller.id:
                message = f"{decision.id} was asked by an execution of the same key: another person decides"
                raise ApprovalForbidden(message, execution=question.execution)
        return await self._journal.decide([replace(decision, by=caller.id) for decision in decisions])
