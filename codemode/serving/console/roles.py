"""Looking as another role: approvers see what the tools of a role are, because they decide on its calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from codemode.serving.auth.callers import ANYBODY
from codemode.serving.console.session import caller_of
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from starlette.requests import Request

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode


def roles_for(caller: Caller, service: CodeMode) -> tuple[str, ...]:
    """Return the roles that a caller may look as: all for approvers, and on a server without keys."""
    may_choose = caller.role in service.settings.policy.approvers or caller == ANYBODY
    return service.policy.roles if may_choose else (caller.role,)


def looking_as(request: Request, service: CodeMode) -> Caller:
    """Return the caller in the role that the query parameter `role` names. Raises HTTPException.

    Use it to show, never to run: the id stays that of the caller.
    """
    caller = caller_of(request)
    role = request.query_params.get("role") or caller.role
    if role == caller.role:
        return caller
    if caller.role not in service.settings.policy.approvers and caller != ANYBODY:
        raise HTTPException(403, "role: only approvers may look as another role")
    if role not in service.policy.roles:
        detail = f"role: there is no role {role[:80]!r}{did_you_mean(role, service.policy.roles)}"
        raise HTTPException(422, detail)
    return replace(caller, role=role)
