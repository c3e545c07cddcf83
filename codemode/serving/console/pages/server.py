"""The server: its version, load, layers of isolation, and roles."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING

from starlette.routing import Route

from codemode.serving.console.roles import require_operator

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.serving.console.views import Console


def routes(console: Console) -> list[Route]:
    """Return the route `/server`."""
    service, load = console.service, console.load

    async def server(request: Request) -> Response:
        require_operator(request, service)
        settings = service.settings
        data = {
            "version": version("codemode"),
            "python": platform.python_version(),
            "running": load.running,
            "waiting": load.waiting,
            "journal": await _journal(console),
            "engine": settings.sandbox.engine,
            "workers": settings.sandbox.workers,
            "layers": dict(await service.start_sandbox()),
            "roles": list(settings.policy.known_roles()),
            "approvers": list(settings.policy.approvers),
        }
        return console.page(request, "server/server.html", title="Server", data=data)

    return [Route("/server", server)]


async def _journal(console: Console) -> str:
    """Return the state of the journal."""
    if not console.service.settings.keeps_journal:
        return "off: executions are not recorded"
    return (
        "writable" if await console.service.executions.health.is_writable() else "not writable: programs may only read"
    )
