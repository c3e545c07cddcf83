"""Approval cards as callers may see them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from codemode.errors import ExecutionError, ExecutionNotFound
from codemode.executions.types.card import ApprovalCard, Requester
from codemode.executions.types.record import Record
from codemode.executions.types.records import KINDS, PAGE
from codemode.features.cards.building import arguments_of, brief_card, calls_made, earlier_approval
from codemode.features.cards.readings import Readings
from codemode.features.cards.table import LikeCalls
from codemode.features.feature import FeaturePart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.base import Journal
    from codemode.executions.life.access import Access
    from codemode.executions.types.records import PendingCall, QuestionKind, StoredExecution
    from codemode.features.feature import Core
    from codemode.gateway.caller import Caller

#: Approved calls that are searched for one with the same shape.
_MOST_EARLIER = 500


class ApprovalNotFound(ExecutionNotFound):
    """No pending or decided call has that id, it was removed, or it belongs to someone else."""

    code = "approval_not_found"

    def __init__(self, approval: str) -> None:
        message = f"there is no approval {approval[:80]!r}; it never existed, or retention removed it"
        ExecutionError.__init__(self, message)


class Cards(FeaturePart):
    """The cards of one journal. `public_url` is the server's address."""

    def __init__(self, access: Access, public_url: str) -> None:
        self._public_url = public_url
        self._journal = access.journal
        self._approvals = access.approvals
        self._visible = access.visible

    @classmethod
    def of(cls, core: Core) -> Self | None:
        """See `FeaturePart`."""
        executions = core.executions
        return cls(executions.access, core.settings.server.public_url) if executions is not None else None

    async def show(self, approval: str, caller: Caller) -> ApprovalCard:
        """Return the card of a pending or decided call, to approvers and to the owner of its execution.

        Raises ApprovalNotFound, JournalDamaged.
        """
        call, stored = await self._found(approval, caller)
        is_approver = self._approvals.are_up_to(caller)
        owner = "" if is_approver else caller.id
        card = await whole_card(self._journal, call, stored, public_url=self._public_url, owner=owner)
        return replace(card, shows_via=is_approver)

    async def call(self, approval: str, caller: Caller) -> PendingCall:
        """Return a pending or decided call alone, to those who may see its card. Raises ApprovalNotFound."""
        return (await self._found(approval, caller))[0]

    async def waiting(
        self,
        caller: Caller,
        execution: str = "",
        *,
        after: str = "",
        limit: int = PAGE,
        kinds: Sequence[QuestionKind] = KINDS,
    ) -> tuple[ApprovalCard, ...]:
        """Return a page of brief cards of the calls that wait, oldest first. `after` is the last id of the page before.

        If an execution is unreadable, its requester is "". Raises ExecutionNotFound.
        """
        await (self._visible.seen(execution, caller) if execution else self._visible.opened())
        calls = await self._approvals.waiting(caller, execution, after=after, limit=limit, kinds=kinds)
        executions = await self._journal.heads(dict.fromkeys(call.execution for call in calls))
        return tuple(
            brief_card(call, executions[call.execution], public_url=self._public_url)
            if call.execution in executions and not executions[call.execution].damage
            else ApprovalCard(call, Requester("", "", ""), 0, {})
            for call in calls
        )

    async def _found(self, approval: str, caller: Caller) -> tuple[PendingCall, StoredExecution]:
        await self._visible.opened()
        calls = await self._journal.pending(unanswered=False, question=approval)
        if not calls:
            raise ApprovalNotFound(approval)
        try:
            return calls[0], await self._visible.seen(calls[0].execution, caller)
        except ExecutionNotFound:
            raise ApprovalNotFound(approval) from None


async def whole_card(
    journal: Journal,
    call: PendingCall,
    stored: StoredExecution,
    *,
    public_url: str = "",
    owner: str = "",
) -> ApprovalCard:
    """Return the whole card of a call. `owner` limits earlier approvals to those of one owner's executions.

    Raises JournalDamaged.
    """
    record = Record(call.execution, await journal.read(call.execution))
    arguments = await asyncio.to_thread(lambda: arguments_of(call, Readings(record)))  # a large record takes long
    return replace(
        brief_card(call, stored, public_url=public_url),
        arguments=arguments,
        so_far=calls_made(record, stored),
        twins=await LikeCalls(journal).twins(call) if call.verdict is None else (),
        earlier=earlier_approval(call, await LikeCalls(journal).approved(owner=owner, most=_MOST_EARLIER)),
    )
