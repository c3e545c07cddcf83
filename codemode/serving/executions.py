"""Executions as every face shows them, and what follows from a decision."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from codemode.errors import ExecutionChanged, ExecutionEnded, ExecutionWaiting, LeaseHeld
from codemode.executions.execution import ExecutionOutcome
from codemode.executions.executor import nothing
from codemode.executions.ledger import unwatched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.executions.journal.base import PendingCall, StoredExecution
    from codemode.executions.ledger import LedgerEntry
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.two_tools import ExecuteArguments

#: Seconds that an execution may be under way beyond its program's own limit: to begin, and to be put down.
BEYOND_S = 30.0

_MICROSECONDS = 1_000_000


async def run_or_continue(
    service: CodeMode,
    asked: ExecuteArguments,
    caller: Caller,
    *,
    credentials: Mapping[str, str] = MappingProxyType({}),
    begun: Callable[[], None] = nothing,
    watch: Callable[[LedgerEntry], None] = unwatched,
) -> ExecutionOutcome:
    """What `execute` does for a model: run a program, or without one let an earlier execution go on.

    Whoever gives up on it cancels it. Raises what `CodeMode.execute` and `Executions.resume` do.
    """
    if asked.code or not asked.resume_from:
        return await service.execute(
            asked.code,
            caller=caller,
            credentials=credentials,
            resume_from=asked.resume_from,
            begun=begun,
            watch=watch,
        )
    execution, waits = asked.resume_from, ""
    try:
        await service.executions.resume(execution, caller, credentials)
    except ExecutionWaiting as error:
        waits = str(error)
    except (ExecutionEnded, LeaseHeld):
        pass  # its outcome says how it ended, or somebody else goes on with it
    begun()
    try:
        stored = await service.executions.wait(execution, caller, service.settings.limits.wall_s + BEYOND_S)
    except asyncio.CancelledError:
        await service.executions.cancel(execution, caller)
        raise
    outcome = ExecutionOutcome.from_json({**(stored.outcome or {}), "id": execution, "status": stored.status})
    return replace(outcome, notes=(*outcome.notes, waits)) if waits else outcome


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
    data = {name: value for name, value in asdict(call).items() if value is not None}
    return data if call.damage else {name: value for name, value in data.items() if name != "damage"}


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
        **({"damage": stored.damage} if stored.damage else {}),
    }
