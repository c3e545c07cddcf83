"""Access to pending calls: which callers may see them, and which may decide."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from codemode.errors import ApprovalForbidden, ApprovalRefused
from codemode.executions.types.records import KINDS, OF_OWNER, PAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from codemode.executions.journal.base import Journal
    from codemode.executions.types.records import Decision, PendingCall, QuestionKind
    from codemode.gateway.caller import Caller


class Approvals:
    """Pending calls of one journal. `roles` returns the roles that decide, `decided` receives each decided call."""

    def __init__(
        self, journal: Journal, roles: Callable[[], Collection[str]], decided: Callable[[PendingCall], None]
    ) -> None:
        self._journal = journal
        self._roles = roles
        self._decided = decided

    def are_up_to(self, caller: Caller) -> bool:
        """Return whether the caller is an approver."""
        return caller.role in self._roles()

    def require_approver(self, caller: Caller) -> None:
        """Raise ApprovalForbidden if the caller is no approver."""
        if not self.are_up_to(caller):
            roles = ", ".join(sorted(self._roles()))
            message = f"only the roles {roles} may decide on calls; this key has the role {caller.role}"
            raise ApprovalForbidden(message)

    async def waiting(
        self,
        caller: Caller,
        execution: str = "",
        *,
        after: str = "",
        limit: int = PAGE,
        kinds: Sequence[QuestionKind] = KINDS,
    ) -> tuple[PendingCall, ...]:
        """Return a page of brief pending calls: of all executions to approvers, to other callers of their own."""
        owner = "" if self.are_up_to(caller) else caller.id
        return await self._journal.waiting(owner=owner, execution=execution, after=after, limit=limit, kinds=kinds)

    async def decide(self, decisions: Sequence[Decision], caller: Caller) -> tuple[PendingCall, ...]:
        """Record the caller's decisions, all or none. A service's question may also be answered by the owner.

        A decision without `via` was made in Python. `up_to` of an approval also approves the calls of the same tool
        that already wait in the execution, each by its own digest. Raises ApprovalRefused, and ApprovalForbidden if the
        caller may not decide on a call.
        """
        asked = {decision.id: await self._question(decision.id) for decision in decisions}
        for decision in decisions:
            question = asked[decision.id]
            if not self.are_up_to(caller) and not await self._is_asked(question, caller):
                roles = ", ".join(sorted(self._roles()))
                message = f"only the roles {roles} may decide on calls; this key has the role {caller.role}"
                raise ApprovalForbidden(message)
            if question is None:
                message = f"no call is pending under {decision.id}"
                raise ApprovalRefused(message)
            if question.kind not in OF_OWNER and await self._is_owner(question, caller):
                message = f"{decision.id} belongs to an execution of the same key; a different person must decide"
                raise ApprovalForbidden(message, execution=question.execution)
            _require_grantable(decision, question)
        together = [*decisions, *await self._under_grants(decisions, asked)]
        complete = [replace(decision, by=caller.id, via=decision.via or "python") for decision in together]
        decided = await self._journal.decide(complete)
        for call in decided:
            self._decided(call)
        return decided

    async def _question(self, id_: str) -> PendingCall | None:
        """Return the question with an id, also one that was answered: the journal then says how."""
        return next(iter(await self._journal.pending(unanswered=False, question=id_)), None)

    async def _under_grants(
        self, decisions: Sequence[Decision], asked: Mapping[str, PendingCall | None]
    ) -> list[Decision]:
        """Return approvals of further waiting calls, as far as the grants among the decisions reach. Oldest first."""
        together: list[Decision] = []
        for decision in decisions:
            granted = asked[decision.id] if decision.up_to > 1 else None
            if granted is not None:
                taken = {one.id for one in (*decisions, *together)}
                waiting = await self._journal.pending(execution=granted.execution)
                alike = (one for one in waiting if one.id not in taken and _same(one) == _same(granted))
                together += [
                    replace(decision, id=call.id, digest=call.digest, up_to=0, grant=granted.id)
                    for call in islice(alike, decision.up_to - 1)
                ]
        return together

    async def _is_asked(self, question: PendingCall | None, caller: Caller) -> bool:
        """Return whether this is a question to the owner of an execution, and the caller is the owner."""
        return question is not None and question.kind in OF_OWNER and await self._is_owner(question, caller)

    async def _is_owner(self, question: PendingCall, caller: Caller) -> bool:
        return (await self._journal.get(question.execution)).request.owner == caller.id


def _require_grantable(decision: Decision, question: PendingCall) -> None:
    """Raise ApprovalRefused if `up_to` is given for anything but an approval."""
    if decision.up_to and (decision.verdict != "approved" or question.kind != "approval"):
        message = f"up_to goes with the verdict approved only; {decision.id} was decided as {decision.verdict}"
        raise ApprovalRefused(message, execution=question.execution)


def _same(call: PendingCall) -> tuple[str, ...]:
    """Return what a grant is for, in one execution: calls of one tool at one host, as one account."""
    return call.kind, call.tool, call.operation, call.host, call.account
