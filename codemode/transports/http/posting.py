"""One POST to an address that the operator configured: no redirects, no cookies, a short answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2

from codemode.errors import AddressNotAllowed, UpstreamUnreachable
from codemode.transports.http.addresses import AddressKind, PermittedOrigins, kind_of_address, origin
from codemode.transports.http.network import PinnedTransport, open_pool

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Bytes of an answer that are read. Receivers of messages answer with little or nothing.
_ANSWER_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """The status and the headers of an answer."""

    status: int
    headers: Mapping[str, str]


class OnlyPublic(PermittedOrigins):
    """Permits names that resolve to public addresses. A configured IP address permits itself."""

    @staticmethod
    def judge(host: str, addresses: tuple[str, ...], *, was_public: bool) -> tuple[str, ...]:
        """See `PermittedOrigins`."""
        public = tuple(address for address in addresses if kind_of_address(address) is AddressKind.PUBLIC)
        if not public:
            first = addresses[0]
            message = (
                f"{host} resolves to {first}, a {kind_of_address(first)} address, which is not allowed; to allow it,"
                f" write `address: {first}` beside its url"
            )
            raise AddressNotAllowed(message)
        return public


async def post(
    url: str, body: bytes, headers: Mapping[str, str], *, timeout_s: float, address: str | None = None
) -> PostAnswer:
    """Send a body and return the answer, also a redirect, which is not followed.

    Raises ConfigurationError for an invalid URL, AddressNotAllowed, and UpstreamUnreachable if no answer arrives within
    `timeout_s` seconds. Its message holds neither the path nor the query of the URL, which may be secret.
    """
    place = origin(url)
    transport = PinnedTransport(open_pool(OnlyPublic((place,), address), most=1), limit_bytes=_ANSWER_BYTES)
    try:
        async with (
            asyncio.timeout(timeout_s),
            httpx2.AsyncClient(transport=transport, timeout=timeout_s, follow_redirects=False) as client,
        ):
            answer = await client.post(url, content=body, headers=dict(headers))
            return PostAnswer(answer.status_code, {name.lower(): value for name, value in answer.headers.items()})
    except (TimeoutError, httpx2.TimeoutException):
        message = f"{place.host} did not answer within {timeout_s:g} s"
        raise UpstreamUnreachable(message, source=place.host) from None
    except (httpx2.TransportError, httpx2.StreamError) as error:
        message = f"{place.host} cannot be reached ({type(error).__name__})"
        raise UpstreamUnreachable(message, source=place.host) from None
