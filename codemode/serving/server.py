"""`codemode serve`: the HTTP application under uvicorn, on a socket that is bound before anything is promised."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import TYPE_CHECKING

import uvicorn

from codemode.errors import ConfigurationError
from codemode.service import CodeMode
from codemode.serving import console as show
from codemode.serving.http import create_app

if TYPE_CHECKING:
    from codemode.settings import ServerSettings, Settings

#: Seconds that requests under way may take to end after a SIGTERM. Longer than the default wall limit of a program.
SHUTDOWN_S = 35


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM. Raises ConfigurationError, SourceError or `sandbox.SandboxError` at start."""
    keys = tuple(reference.resolve().get_secret_value() for reference in settings.server.keys)
    if not keys and not is_loopback(settings.server.host):
        message = (
            f"server.host is {settings.server.host!r}, which others can reach, and server.keys is empty: "
            "add a key (keys: [{env: CODEMODE_API_KEY}]; with --source, set CODEMODE_API_KEY) or listen on 127.0.0.1"
        )
        raise ConfigurationError(message)
    asyncio.run(_serve(settings, keys, bind(settings.server)))


async def _serve(settings: Settings, keys: tuple[str, ...], listener: socket.socket) -> None:
    async with CodeMode.from_settings(settings) as service:
        await service.start_sandbox()
        application = create_app(service, keys=keys)
        config = uvicorn.Config(application, log_level="warning", timeout_graceful_shutdown=SHUTDOWN_S, lifespan="off")
        address = listener.getsockname()
        show.errors.print(f"codemode serves {len(service.catalog)} tools on http://{_host(address)}:{address[1]}")
        if not keys:
            show.errors.print("no server.keys: whoever can reach this port may use it", style="yellow")
        await uvicorn.Server(config).serve(sockets=[listener])


def bind(server: ServerSettings) -> socket.socket:
    """A socket for the server's address, not yet listening. Raises ConfigurationError where it cannot be had."""
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only where the protocol is named; with it an answer takes 40 ms more
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((server.host, server.port))
    except OSError as error:
        listener.close()
        message = f"cannot listen on {server.host}:{server.port}: {error.strerror}; choose another with --port"
        raise ConfigurationError(message) from None
    return listener


def _host(address: tuple[str, int]) -> str:
    return f"[{address[0]}]" if ":" in address[0] else address[0]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach that address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
