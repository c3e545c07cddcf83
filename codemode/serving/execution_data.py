"""Stored executions as JSON data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.executions.journal.base import PendingCall, StoredExecution

_MICROSECONDS = 1_000_000


def complete(stored: StoredExecution, waiting: Iterable[PendingCall]) -> dict[str, Any]:
    """Return one execution as JSON data, including its program, outcome and pending calls."""
    outcome = None if stored.outcome is None else {**stored.outcome, "status": stored.status}
    return {
        **brief(stored),
        "code": stored.given.code,
        "outcome": outcome,
        "pending": [pending_json(call) for call in waiting],
    }


def pending_json(call: PendingCall) -> dict[str, Any]:
    """Return a pending call as JSON data."""
    data = {name: value for name, value in asdict(call).items() if value is not None}
    return data if call.damage else {name: value for name, value in data.items() if name != "damage"}


def brief(stored: StoredExecution) -> dict[str, Any]:
    """Return one execution as JSON data, without its program and outcome. Times are seconds since the epoch."""
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
