"""Executions as every face shows them, and what follows from a decision."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from codemode.errors import ExecutionChanged, ExecutionEnded, ExecutionWaiting, LeaseHeld

if TYPE_CHECKING:
    from codemode.executions.journal import PendingCall, StoredExecution
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

_MICROSECONDS = 1_000_000


async def gone_on(service: CodeMode, execution: str, caller: Caller) -> dict[str, Any]:
    """Let an execution go on of which something was decided; `waits` says what for where it cannot yet."""
    try:
        if not await service.executions.approvals(caller, execution):
            await service.executions.resume(execution, caller)
        waits = [call.id for call in await service.executions.approvals(caller, execution)]
        why = f"it waits for a decision on {', '.join(waits)}" if waits else ""
    except (ExecutionWaiting, ExecutionChanged) as error:
        why = str(error)
    except (LeaseHeld, ExecutionEnded):
        why = ""  # somebody else was faster
    return {"status": (await service.executions.get(execution, caller)).status, "waits": why}


async def whole(service: CodeMode, execution: str, caller: Caller) -> dict[str, Any]:
    """One execution as JSON data, with the calls that it waits for."""
    stored = await service.executions.get(execution, caller)
    waiting = await service.executions.approvals(caller, execution) if stored.status == "paused" else ()
    outcome = None if stored.outcome is None else {**stored.outcome, "status": stored.status}
    return {
        **brief(stored),
        "code": stored.given.code,
        "outcome": outcome,
        "pending": [pending_json(call) for call in waiting],
    }


def pending_json(call: PendingCall) -> dict[str, Any]:
    """A call that waits for a person, as JSON data."""
    return {name: value for name, value in asdict(call).items() if value is not None}


def brief(stored: StoredExecution) -> dict[str, Any]:
    """One execution as JSON data, without program and outcome; times are seconds since the epoch."""
    given = stored.given
    return {
        "id": given.id,
        "status": stored.status,
        "owner": given.owner,
        "role": given.role,
        "started": given.start_us / _MICROSECONDS,
        "updated": stored.updated_us / _MICROSECONDS,
        "ended": stored.ended_us / _MICROSECONDS if stored.ended_us else None,
        "resume_from": given.resume_from,
        "credentials": list(given.credentials),
    }
