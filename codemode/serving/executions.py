"""Executions as JSON data, and continuing them after a decision. Shared by all interfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.errors import ExecutionChanged, ExecutionEnded, ExecutionWaiting, LeaseHeld
from codemode.serving.execution_data import complete

if TYPE_CHECKING:
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

#: What a person can do about a decided execution that cannot continue.
_WAY_OUT = (
    "The decision is recorded: undo the change and continue with `codemode executions resume {0}`, or end it with"
    " `codemode executions cancel {0}`"
)


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
