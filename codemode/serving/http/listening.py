"""The listening socket."""

from __future__ import annotations

import errno
import ipaddress
import socket
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError

if TYPE_CHECKING:
    from codemode.settings import ServerSettings


def bind(server: ServerSettings) -> socket.socket:
    """Bind a socket to the server's address, not yet listening. Raises ConfigurationError if that fails."""
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the protocol is named; without it an answer takes 40 ms longer
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((server.host, server.port))
    except OSError as error:
        listener.close()
        is_taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        other = "--port" if is_taken else "--host, or `server.host` of the configuration"
        message = f"cannot listen on {server.host}:{server.port}: {error.strerror}; choose another with {other}"
        raise ConfigurationError(message) from None
    return listener


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach that address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
