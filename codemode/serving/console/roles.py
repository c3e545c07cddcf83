"""What the person of a session may see, and as which role."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from codemode.serving.console.session import caller_of
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from starlette.requests import Request

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.console.session import Session


def is_operator(request: Request, service: CodeMode) -> bool:
    """Whether the caller may see what other callers did, and the state of the server."""
    session: Session | None = request.state.session
    is_open = session is not None and session.is_open
    return is_open or caller_of(request).role in service.settings.policy.approvers


def require_operator(request: Request, service: CodeMode) -> None:
    """Raise HTTPException with status 403 for a caller who is no operator."""
    if not is_operator(request, service):
        roles = ", ".join(sorted(service.settings.policy.approvers)) or "none"
        detail = f"this page is for the roles that approve calls ({roles}); your role is {caller_of(request).role}"
        raise HTTPException(403, detail)


def roles_for(request: Request, service: CodeMode) -> tuple[str, ...]:
    """Return the roles that the caller may look as: all for an operator, else the caller's own."""
    return service.discovery.policy.roles if is_operator(request, service) else (caller_of(request).role,)


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
    if role not in service.discovery.policy.roles:
        detail = f"role: there is no role {role[:80]!r}{did_you_mean(role, service.discovery.policy.roles)}"
        raise HTTPException(422, detail)
    return replace(caller, role=role)
