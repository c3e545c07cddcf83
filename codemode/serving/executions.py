"""Executions as JSON data, and continuing them after a decision. Shared by all interfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.errors import ExecutionChanged, ExecutionEnded, ExecutionWaiting, LeaseHeld
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.records import PendingCall
from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.executions.types.records import StoredExecution
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

#: The outcome of an execution that ended before its program ran.
_EMPTY = ExecutionOutcome.cancelled("").to_json() | {"failure": None}


def execution_json(stored: StoredExecution, waiting: Iterable[PendingCall]) -> dict[str, Any]:
    """Return one execution as JSON data, including its program, outcome and pending calls."""
    return {
        **summary_json(stored),
        "code": stored.request.code,
        "outcome": None if stored.outcome is None else outcome_json(stored),
        "pending": [call.to_json() for call in waiting],
    }


def outcome_json(stored: StoredExecution) -> dict[str, Any]:
    """Return the outcome of an execution as JSON data with all fields, also if it ended before it had one."""
    outcome = {**_EMPTY, **(stored.outcome or {})}
    pending = [PendingCall.from_json(call).to_json() for call in outcome["pending"]]
    return outcome | {"id": stored.request.id, "status": stored.status, "pending": pending}


def summary_json(stored: StoredExecution) -> dict[str, Any]:
    """Return one execution as JSON data, without its program and outcome."""
    request = stored.request
    return {
        "id": request.id,
        "status": stored.status,
        "owner": request.owner,
        "role": request.role,
        "started": rfc3339(request.start_us),
        "updated": rfc3339(stored.updated_us),
        "ended": rfc3339(stored.ended_us) if stored.ended_us else None,
        "resume_from": request.resume_from,
        "credentials": list(request.credentials),
        "damage": stored.damage,
    }


#: What a person can do about a decided execution that cannot continue.
_WAY_OUT = (
    "The decision is recorded: undo the change and continue with `codemode executions resume {0}`, or end it with"
    " `codemode executions cancel {0}`"
)


async def continue_after_decision(service: CodeMode, execution: str, caller: Caller) -> dict[str, Any]:
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


async def read_execution(service: CodeMode, execution: str, caller: Caller) -> dict[str, Any]:
    """Return one execution as JSON data, including its program, outcome and pending calls."""
    stored = await service.executions.get(execution, caller)
    waiting = await service.executions.approvals(caller, execution) if stored.status == "paused" else ()
    return execution_json(stored, waiting)
