"""How calls fail: as errors that the program sees, and as the failure that asks for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.errors import CodeModeError, UpstreamError
from sandbox import CallFailed, Failure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.executions.types.ledger import LedgerEntry
    from codemode.gateway.call import JudgedCall

#: Pending calls that the failure names individually.
_NAMED = 5


def approval_required(pending: tuple[LedgerEntry, ...]) -> Failure:
    """Return the failure that names the pending calls, without secrets."""
    reasons = [entry.error for entry in pending[:_NAMED]]
    reasons += [f"and {len(pending) - _NAMED} more"] if len(pending) > _NAMED else []
    calls = "; ".join(f"{entry.tool}({_shown(entry.arguments)})" for entry in pending[:_NAMED])
    return Failure(
        "ApprovalRequired",
        "; ".join(dict.fromkeys(reasons)) + f". Pending: {calls}",
        hint="committed calls in the ledger took effect; a person must approve the pending calls, or make them",
    )


def login_required(logins: Iterable[str]) -> Failure:
    """Return the failure of a program that waits until its owner has logged in."""
    hint = "give the user this address; the program goes on from here by itself after the login"
    return Failure("LoginRequired", "; ".join(dict.fromkeys(logins)), hint=hint)


def _shown(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())[:500]


def rejected(judged: JudgedCall, by: str, reason: str) -> CallFailed:
    """Return the error of a call that a person or a plugin rejected."""
    tool = judged.tool.id if judged.tool is not None else judged.call.tool
    message = f"{by} rejected {tool}" + (f": {reason}" if reason else "") + "; nothing was sent"
    return CallFailed(message, kind="rejected", body=reason or None)


def for_program(error: CodeModeError) -> CallFailed:
    """Return the error in the form that a program sees."""
    if isinstance(error, UpstreamError):
        return CallFailed(
            error.for_model(),
            kind=error.code,
            status=error.status,
            body=error.body,
            retry_after_s=error.retry_after_s,
        )
    return CallFailed(error.for_model(), kind=error.code)
