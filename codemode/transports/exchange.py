"""One request out, one answer in: connections, time-outs, the size limit, redirects. No policy in here."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin

import httpx2

from codemode.errors import (
    AnswerInvalid,
    CallError,
    ConfigurationError,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from codemode.transports.addresses import origin
from codemode.transports.credentials import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.transports.credentials import Credential, Redactor
    from codemode.transports.request import HttpRequest

#: Redirects that are followed: of a GET, to the same host.
MOST_REDIRECTS = 3

_USER_AGENT = "codemode"


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and unpacked body of an answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Interrupted(UpstreamTimeout):
    """The connection broke before the answer was complete; whether the other side did the work is unknown."""


class Exchange:
    """The connections to one source. No cookie is kept, no redirect to another host followed."""

    def __init__(
        self,
        source: str,
        *,
        timeout_s: float,
        limit_bytes: int,
        redactor: Redactor,
        connections: httpx2.AsyncBaseTransport,
    ) -> None:
        self._source = source
        self._timeout_s = timeout_s
        self._limit_bytes = limit_bytes
        self._redactor = redactor
        self._connections = connections
        self._extensions = {"timeout": httpx2.Timeout(timeout_s).as_dict()}

    async def send(self, request: HttpRequest, credentials: Iterable[Credential] = ()) -> Answer:
        """Send a request with credentials. Raises UpstreamUnreachable, UpstreamTimeout, UpstreamError."""
        prepared = self._prepared(request, credentials)
        for _ in range(MOST_REDIRECTS):
            answer = await self._once(prepared)
            if not 300 <= answer.status < 400 or answer.status == 304:
                return answer
            prepared = self._redirected(prepared, answer)
        message = f"{self._source} redirected more than {MOST_REDIRECTS} times"
        raise UpstreamError(message, status=answer.status)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._connections.aclose()

    def late(self) -> UpstreamTimeout:
        """The error of a call whose time is over."""
        message = f"{self._source} did not answer within {self._timeout_s:g} s"
        return UpstreamTimeout(f"{message}; whether it did the work is unknown")

    def _prepared(self, request: HttpRequest, credentials: Iterable[Credential]) -> httpx2.Request:
        """The request with credentials, exactly as it was built otherwise."""
        url = request.url
        headers = [*request.headers, ("User-Agent", _USER_AGENT), ("Accept-Encoding", "gzip, deflate")]
        cookies = list(request.cookies)
        for credential in credentials:
            match credential.place:
                case Place.HEADER:
                    headers.append((credential.name, credential.value))
                case Place.COOKIE:
                    cookies.append(f"{credential.name}={credential.value}")
                case Place.QUERY:
                    pair = f"{quote(credential.name, safe='')}={quote(credential.value, safe='')}"
                    url = f"{url}{'&' if '?' in url else '?'}{pair}"
        if cookies:
            headers.append(("Cookie", "; ".join(cookies)))
        prepared = httpx2.Request(
            request.method, url, headers=headers, content=request.body, extensions=self._extensions
        )
        if not url.endswith(prepared.url.raw_path.decode("ascii")):
            raise CallError("the address could not be sent as it was built; nothing was sent")
        return prepared

    async def _once(self, request: httpx2.Request) -> Answer:
        try:
            response = await self._connections.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol) as error:
            where = f"{request.url.scheme}://{request.url.netloc.decode('ascii')}"
            reason = self._redactor.text(str(error) or type(error).__name__)
            message = f"{self._source} at {where} cannot be reached ({reason}); nothing was sent"
            raise UpstreamUnreachable(message, source=self._source) from None
        except httpx2.TimeoutException:
            raise self.late() from None
        except httpx2.TransportError as error:
            raise self._broken(error) from None
        try:
            return Answer(response.status_code, response.headers, await self._read(response))
        finally:
            await response.aclose()

    async def _read(self, response: httpx2.Response) -> bytes:
        chunks = []
        size = 0
        try:
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > self._limit_bytes:
                    message = (
                        f"{self._source}: the answer is larger than {self._limit_bytes:,} bytes; ask for less of it"
                    )
                    raise AnswerInvalid(message, status=response.status_code)
                chunks.append(chunk)
        except httpx2.DecodingError as error:
            message = f"{self._source}: the answer cannot be unpacked ({error})"
            raise AnswerInvalid(message, status=response.status_code) from None
        except httpx2.TimeoutException:
            raise self.late() from None
        except httpx2.TransportError as error:
            raise self._broken(error) from None
        return b"".join(chunks)

    def _broken(self, error: httpx2.TransportError) -> Interrupted:
        reason = self._redactor.text(str(error) or type(error).__name__)
        message = f"the connection to {self._source} broke before the answer was complete ({reason})"
        return Interrupted(f"{message}; whether it did the work is unknown")

    def _redirected(self, request: httpx2.Request, answer: Answer) -> httpx2.Request:
        target = urljoin(str(request.url), answer.headers.get("location", ""))
        if "location" not in answer.headers or request.method not in ("GET", "HEAD"):
            message = f"{self._source} answered {answer.status}, a redirect that is not followed for {request.method}"
            raise UpstreamError(message, status=answer.status)
        if not _is_same_origin(str(request.url), target):
            message = f"{self._source} answered {answer.status}, a redirect to another host, which is never followed"
            raise UpstreamError(message, status=answer.status)
        return httpx2.Request(request.method, target, headers=request.headers, extensions=self._extensions)


def open_connections(
    *, certificate: tuple[str, str] | None = None, ca_file: str | None = None
) -> httpx2.AsyncHTTPTransport:
    """A pool of connections; with a client certificate and key (mutual TLS) or an authority of the operator's own.

    Raises ConfigurationError where these files are of no use.
    """
    limits = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=15.0)
    verify: ssl.SSLContext | bool = True
    if certificate is not None or ca_file is not None:
        try:
            verify = ssl.create_default_context(cafile=ca_file)
            if certificate is not None:
                verify.load_cert_chain(*certificate)
        except OSError as error:  # ssl.SSLError is one
            message = f"the TLS certificate files cannot be used: {error.strerror or error}"
            raise ConfigurationError(message) from None
    return httpx2.AsyncHTTPTransport(limits=limits, trust_env=False, verify=verify)


def _is_same_origin(left: str, right: str) -> bool:
    try:
        return origin(left) == origin(right)
    except ConfigurationError:
        return False
