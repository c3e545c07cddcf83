"""Whether a model gets tools over HTTP at all: the mode `off` holds here as over MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request  # noqa: TC002 -- FastAPI reads it at run time

from codemode.model.modes import ModeRejected, mode_of
from codemode.serving.http.intake import WORK

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.service import CodeMode
    from codemode.settings import ModeName

#: The header by which a request asks for another mode.
HEADER = "codemode-mode"


def offering(service: CodeMode) -> Callable[[Request], Awaitable[None]]:
    """Return the dependency that rejects searches and programs of callers whose mode is off."""

    async def is_offered(request: Request) -> None:
        """Raise ModeRejected for such a request. FastAPI would run a plain function in a thread."""
        if not service.settings.modes or not hasattr(request.state, "caller") or request.url.path not in WORK:
            return
        if mode_of_http(service, request) == "off":
            raise ModeRejected("no tools are offered to this client: the mode is off")

    return is_offered


def mode_of_http(service: CodeMode, request: Request, wanted: str = "") -> ModeName:
    """Return the mode of an authenticated request: what it asks for, else of the rules. Raises ModeRejected."""
    agent, role = request.headers.get("user-agent", ""), request.state.caller.role
    wanted = wanted or request.headers.get(HEADER, "")
    rules = service.settings.modes
    return mode_of(rules, "code", role=role, clients=(agent,), wanted=wanted, sees=service.visible)
