"""The server: its version, load, layers of isolation, keys and roles."""

from __future__ import annotations

import asyncio
import platform
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from codemode.serving.auth.keys import keys_of
from codemode.serving.console.roles import require_operator
from codemode.text.times import SECOND_US, rfc3339

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.serving.auth.keys import Keys
    from codemode.serving.console.views import Console
    from codemode.settings import Settings


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
            "keys": await asyncio.to_thread(_keys, settings, keys_of(settings, service.store)),
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


def _keys(settings: Settings, keys: Keys) -> list[dict[str, Any]]:
    """Return the keys without their secrets: those of the configuration first, then those made with `codemode keys`."""
    configured = [
        {
            "id": "",
            "label": key.label or f"key {number}",
            "role": key.role,
            "status": "active",
            "place": "configuration",
        }
        for number, key in enumerate(settings.server.keys, 1)
    ]
    made = [
        {
            "id": key.id,
            "label": key.label,
            "role": key.role,
            "status": key.status(time.time()),
            "place": "codemode keys",
            "created": rfc3339(key.created * SECOND_US),
            "expires": rfc3339(key.expires * SECOND_US) if key.expires else None,
        }
        for key in keys.entries()
    ]
    return [*configured, *made]
