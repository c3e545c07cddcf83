"""Errors of requests about plans."""

from __future__ import annotations

from codemode.errors import ExecutionError, ExecutionNotFound


class PlanNotFound(ExecutionNotFound):
    """No plan has this id, or it belongs to another key."""

    code = "plan_not_found"

    def __init__(self, plan: str) -> None:
        ExecutionError.__init__(self, f"there is no plan {plan!r}: a dry run with planned calls returns a new one")


class PlanRefused(ExecutionError):
    """The plan cannot be decided on or run now. Nothing was recorded and nothing was run."""

    code = "plan_refused"
