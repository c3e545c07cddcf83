"""The addresses that a server may send us to for its login, and connections to them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from codemode.errors import AddressNotAllowed, ConfigurationError
from codemode.transports.http.addresses import AddressKind, kind_of_address, origin
from codemode.transports.oauth.exchange import open_exchange
from codemode.transports.oauth.tokens import document_at

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from codemode.transports.http.exchange import Answer, Exchange
    from codemode.transports.http.request import HttpRequest


@dataclass(frozen=True, slots=True)
class ServerReach:
    """Connections to the addresses that a `server` names for the login of a `source`.

    Allowed are addresses on its own origin, and https elsewhere: names, and public IP addresses. Only a server on this
    machine may name others on this machine. `ca_file` is the operator's own authority.
    """

    server: str
    source: str
    ca_file: str | None = None

    @property
    def origin(self) -> str:
        """The origin of the server."""
        place = origin(self.server)
        return f"{place.scheme}://{place.authority}"

    def check(self, url: str) -> None:
        """Raise AddressNotAllowed for an address that the server may not send us to."""
        try:
            place, own = origin(url), origin(self.server)
        except ConfigurationError as error:
            message = f"{self.source} names no usable address for its login: {error}"
            raise AddressNotAllowed(message) from None
        if place == own or (_is_loopback(place.host) and _is_loopback(own.host)):
            return
        if place.scheme != "https" or _kind(place.host) not in (None, AddressKind.PUBLIC):
            named = f"{place.scheme}://{place.authority}"
            message = f"{self.source} names {named} for its login, which must be a public https host"
            raise AddressNotAllowed(message)

    @asynccontextmanager
    async def exchange(self, url: str) -> AsyncIterator[Exchange]:
        """Yield connections to an address that the server named. Raises AddressNotAllowed."""
        self.check(url)
        exchange = open_exchange(self.source, (url,), ca_file=self.ca_file)
        try:
            yield exchange
        finally:
            await exchange.aclose()

    async def send(self, request: HttpRequest) -> Answer:
        """Return the answer to a request without credentials. Raises AddressNotAllowed, UpstreamError."""
        async with self.exchange(request.url) as exchange:
            return await exchange.send(request)

    async def document(self, url: str) -> Mapping[str, Any]:
        """Return a JSON object, empty if there is none. Raises AddressNotAllowed, UpstreamError."""
        async with self.exchange(url) as exchange:
            return await document_at(url, exchange)


def _kind(host: str) -> AddressKind | None:
    """Return the kind of an IP address, None for a name."""
    try:
        ip_address(host)
    except ValueError:
        return AddressKind.LOOPBACK if host == "localhost" or host.endswith(".localhost") else None
    return kind_of_address(host)


def _is_loopback(host: str) -> bool:
    return _kind(host) is AddressKind.LOOPBACK
