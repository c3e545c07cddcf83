"""Pages for operators: approvers see them, and everybody on a server without keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from codemode.serving.console.session import caller_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from codemode.service import CodeMode
    from codemode.serving.console.session import Session


def is_operator(request: Request, service: CodeMode) -> bool:
    """Whether the caller may see what other callers did, and the state of the server."""
    session: Session | None = request.state.session
    is_open = session is not None and not session.key
    return is_open or caller_of(request).role in service.settings.policy.approvers


def require_operator(request: Request, service: CodeMode) -> None:
    """Raise HTTPException with status 403 for a caller who is no operator."""
    if not is_operator(request, service):
        roles = ", ".join(sorted(service.settings.policy.approvers)) or "none"
        detail = f"this page is for the roles that approve calls ({roles}); your role is {caller_of(request).role}"
        raise HTTPException(403, detail)
