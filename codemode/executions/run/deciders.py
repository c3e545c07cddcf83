"""Who decides on the calls of a run: one after the other, until the call is allowed, refused or has an end.

A run without a record asks the plugins, and then stops for a person. A recorded run asks more; see
`codemode.executions.run.replay.decisions`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from codemode.executions.plugins.plugin import Rejected
from codemode.executions.run.ends import rejection
from codemode.executions.run.failures import approval_required
from codemode.executions.types.record import End, RecordedCall
from codemode.gateway.call import CallState, JudgedCall

if TYPE_CHECKING:
    from codemode.executions.run.context import RunContext
    from codemode.gateway.call import ToolCall

#: Judges a call and adds it to the ledger.
Judge = Callable[["ToolCall"], JudgedCall]

#: Returns a judged call as the next decider gets it, or the end of a call that is not sent. The record is that of a
#: call that was sent before and has no recorded end, else None.
Decide = Callable[[JudgedCall, RecordedCall | None], Awaitable[JudgedCall | End]]


def unrecorded(run: RunContext) -> tuple[Decide, ...]:
    """Return who decides on the calls of a run without a record."""
    return partial(ask_plugins, run), partial(_ask_person, run)


async def ask_plugins(run: RunContext, judged: JudgedCall, _: RecordedCall | None) -> JudgedCall | End:
    """Decide on a pending call as a plugin does, if one does."""
    answered = await run.hooks.approval(judged) if judged.state is CallState.PENDING else None
    if answered is None:
        return judged
    by, answer = answered
    if isinstance(answer, Rejected):
        return rejection(judged, by, answer.reason)
    return run.amend(run.gateway.approve(judged, by))


async def _ask_person(run: RunContext, judged: JudgedCall, _: RecordedCall | None) -> JudgedCall:
    """Stop the program if the call needs a person."""
    if judged.state is CallState.PENDING:
        await run.floor.ask(judged.call.path, lambda: approval_required(run.ledger.pending()))
    return judged
