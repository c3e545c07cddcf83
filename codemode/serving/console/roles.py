"""Looking as another role: approvers see what the tools of a role are, because they decide on its calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from codemode.serving.console.access import is_operator
from codemode.serving.console.session import caller_of
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from starlette.requests import Request

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode


def roles_for(request: Request, service: CodeMode) -> tuple[str, ...]:
    """Return the roles that the caller may look as: all for an operator, else the caller's own."""
    return service.policy.roles if is_operator(request, service) else (caller_of(request).role,)


def looking_as(request: Request, service: CodeMode) -> Caller:
    """Return the caller in the role that the query parameter `role` names. Raises HTTPException.

    Use it to show, never to run: the id stays that of the caller.
    """
    caller = caller_of(request)
    role = request.query_params.get("role") or caller.role
    if role == caller.role:
        return caller
    if not is_operator(request, service):
        raise HTTPException(403, "role: only approvers may look as another role")
    if role not in service.policy.roles:
        detail = f"role: there is no role {role[:80]!r}{did_you_mean(role, service.policy.roles)}"
        raise HTTPException(422, detail)
    return replace(caller, role=role)
