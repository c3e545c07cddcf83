"""Executions as JSON data, and continuing them. Shared by all interfaces."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from codemode.errors import ExecutionChanged, ExecutionEnded, ExecutionWaiting, LeaseHeld
from codemode.executions.execution import ExecutionOutcome
from codemode.executions.executor import nothing
from codemode.executions.ledger import unwatched
from codemode.executions.plans.plan import may_be_plan
from codemode.serving.execution_data import complete

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.executions.ledger import LedgerEntry
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.two_tools import ExecuteArguments

#: What a person can do about a decided execution that cannot continue.
_WAY_OUT = (
    "The decision is recorded: undo the change and continue with `codemode executions resume {0}`, or end it with"
    " `codemode executions cancel {0}`"
)

#: Seconds allowed on top of the program's own time limit, for start-up and clean-up.
BEYOND_S = 30.0


async def run_or_continue(
    service: CodeMode,
    asked: ExecuteArguments,
    caller: Caller,
    *,
    credentials: Mapping[str, str] = MappingProxyType({}),
    key: str = "",
    conversation: str = "",
    begun: Callable[[], None] = nothing,
    watch: Callable[[LedgerEntry], None] = unwatched,
) -> ExecutionOutcome:
    """Run a program or an approved plan, or continue an earlier execution if no code is given.

    `key` is the idempotency key of the program.

    The program shares the state of the `conversation` with this id.
    An earlier execution with `dry_run` is only looked at: nothing runs, whatever was decided.

    Cancelling this coroutine cancels the execution. Raises the errors of `CodeMode.execute` and `Executions.resume`.
    """
    if asked.code or not asked.resume_from or may_be_plan(asked.resume_from):
        return await service.execute(
            asked.code,
            caller=caller,
            credentials=credentials,
            resume_from=asked.resume_from,
            dry_run=asked.dry_run,
            conversation=conversation,
            idempotency_key=key,
            begun=begun,
            watch=watch,
        )
    execution, waits = asked.resume_from, ""
    if asked.dry_run:
        begun()
        return await _as_it_is(service, execution, caller)
    try:
        await service.executions.resume(execution, caller, credentials)
    except ExecutionWaiting as error:
        waits = str(error)
    except (ExecutionEnded, LeaseHeld):
        pass  # the stored outcome says how it ended, or another process is already running it
    begun()
    try:
        stored = await service.executions.wait(execution, caller, service.settings.limits.wall_s + BEYOND_S)
    except asyncio.CancelledError:
        await service.executions.cancel(execution, caller)
        raise
    outcome = ExecutionOutcome.from_json({**(stored.outcome or {}), "id": execution, "status": stored.status})
    return replace(outcome, notes=(*outcome.notes, waits)) if waits else outcome


async def _as_it_is(service: CodeMode, execution: str, caller: Caller) -> ExecutionOutcome:
    """Return the stored outcome of an execution, with the calls that still wait. Raises ExecutionNotFound."""
    stored = await service.executions.get(execution, caller)
    waiting = await service.executions.approvals(caller, execution) if stored.status == "paused" else ()
    outcome = ExecutionOutcome.from_json({**(stored.outcome or {}), "id": execution, "status": stored.status})
    decided = () if waiting or stored.status != "paused" else ("decided: it continues without dry_run",)
    return replace(outcome, pending=waiting, notes=(*outcome.notes, *decided))


async def gone_on(service: CodeMode, execution: str, caller: Caller) -> dict[str, Any]:
    """Continue an execution after a decision. Return its `status`, and in `reason` why it cannot continue yet.

    If something has changed that it depends on, its outcome gets the reason as a note.
    """
    try:
        if not await service.executions.waits_for(execution, caller):
            await service.executions.resume(execution, caller)
        waits = await service.executions.waits_for(execution, caller)
        why = f"waiting for a decision on {', '.join(waits)}" if waits else ""
    except ExecutionWaiting as error:
        why = str(error)
    except ExecutionChanged as error:
        why = f"{error}. {_WAY_OUT.format(execution)}"
        await service.executions.explain(execution, why)
    except (LeaseHeld, ExecutionEnded):
        why = ""  # another process continued it first
    return {"status": (await service.executions.get(execution, caller)).status, "reason": why}


async def whole(service: CodeMode, execution: str, caller: Caller) -> dict[str, Any]:
    """Return one execution as JSON data, including its program, outcome and pending calls."""
    stored = await service.executions.get(execution, caller)
    waiting = await service.executions.approvals(caller, execution) if stored.status == "paused" else ()
    return complete(stored, waiting)
