"""Stored executions as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.records import PendingCall
from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.executions.types.records import StoredExecution
#: The outcome of an execution that ended before its program ran.
_EMPTY = ExecutionOutcome.cancelled("").to_json() | {"failure": None}


def complete(stored: StoredExecution, waiting: Iterable[PendingCall]) -> dict[str, Any]:
    """Return one execution as JSON data, including its program, outcome and pending calls."""
    return {
        **brief(stored),
        "code": stored.given.code,
        "outcome": None if stored.outcome is None else outcome_json(stored),
        "pending": [call.to_json() for call in waiting],
    }


def outcome_json(stored: StoredExecution) -> dict[str, Any]:
    """Return the outcome of an execution as JSON data with all fields, also if it ended before it had one."""
    outcome = {**_EMPTY, **(stored.outcome or {})}
    pending = [PendingCall.from_json(call).to_json() for call in outcome["pending"]]
    return outcome | {"id": stored.given.id, "status": stored.status, "pending": pending}


def brief(stored: StoredExecution) -> dict[str, Any]:
    """Return one execution as JSON data, without its program and outcome."""
    given = stored.given
    return {
        "id": given.id,
        "status": stored.status,
        "owner": given.owner,
        "role": given.role,
        "started": rfc3339(given.start_us),
        "updated": rfc3339(stored.updated_us),
        "ended": rfc3339(stored.ended_us) if stored.ended_us else None,
        "resume_from": given.resume_from,
        "credentials": list(given.credentials),
        "damage": stored.damage,
    }
