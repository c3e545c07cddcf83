"""A client for blocking libraries: it calls the configured origin only, at checked addresses."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import httpx2

from codemode.transports.http.addresses import AddressKind, PermittedOrigins, kind_of_address, origin

if TYPE_CHECKING:
    from collections.abc import Callable

    Resolve = Callable[[str, int], tuple[str, ...]]


def resolve(host: str, port: int) -> tuple[str, ...]:
    """Return the IP addresses of a name, in the system's order of preference. Raises OSError."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in entries))


def blocking_client(base_url: str, *, timeout_s: float, resolve: Resolve = resolve) -> httpx2.Client:
    """Return a client that sends requests to the origin of `base_url` only, and follows no redirects.

    Its requests raise AddressNotAllowed for any other address. Raises ConfigurationError for an invalid `base_url`.
    """
    transport = _Judged(PermittedOrigins((origin(base_url),)), resolve)
    return httpx2.Client(transport=transport, timeout=timeout_s, follow_redirects=False)


class _Judged(httpx2.BaseTransport):
    """Resolves a name, checks its addresses, and connects to one of them. TLS verifies the certificate for the name."""

    def __init__(self, permitted: PermittedOrigins, resolve: Resolve) -> None:
        self._permitted = permitted
        self._resolve = resolve
        self._transport = httpx2.HTTPTransport(trust_env=False)
        self._was_public = False

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises AddressNotAllowed, httpx2.TransportError."""
        place = origin(str(request.url))
        *others, last = self._addresses(place.host, place.port)
        for address in others:
            try:
                return self._transport.handle_request(_at(address, request, place.host))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return self._transport.handle_request(_at(last, request, place.host))

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def _addresses(self, host: str, port: int) -> tuple[str, ...]:
        configured = self._permitted.address_of(host, port)
        if configured is not None:
            return (configured,)
        try:
            resolved = self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            message = f"the name {host} cannot be resolved: {getattr(error, 'strerror', None) or error}"
            raise httpx2.ConnectError(message) from None
        allowed = self._permitted.judge(host, resolved, was_public=self._was_public)
        self._was_public |= all(kind_of_address(address) is AddressKind.PUBLIC for address in allowed)
        return allowed


def _at(address: str, request: httpx2.Request, host: str) -> httpx2.Request:
    """Return the request for an IP address, with its Host header unchanged."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )
