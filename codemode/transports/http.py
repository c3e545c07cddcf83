"""The HTTP transport of one source: pooled connections, time-outs, size limits, credentials.

It never follows a redirect to another host, keeps no cookies between calls, and reads no environment. Credentials are
added to the finished request and to nothing else; every error passes the redactor.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin
from weakref import WeakKeyDictionary

import httpx2

from codemode.errors import AnswerInvalid, CallError, UpstreamError, UpstreamTimeout, UpstreamUnreachable
from codemode.transports import answers
from codemode.transports.addresses import base_for, checked_base, origin
from codemode.transports.content import ContentStore
from codemode.transports.credentials import Credential, Place, Redactor
from codemode.transports.request import HttpRequest, RequestPlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.catalog.tool import Tool
    from codemode.transports.invocation import HttpInvocation

#: Redirects that are followed: of a GET, to the same host.
MOST_REDIRECTS = 3

_USER_AGENT = "codemode"


@dataclass(frozen=True, slots=True)
class Reach:
    """Where and how a source is reached.

    `base_url` is the operator's, `location` where the document came from, `servers` what the document suggests.
    """

    source: str
    base_url: str | None = None
    location: str = ""
    servers: tuple[str, ...] = ()
    timeout_s: float = 30.0
    response_limit_bytes: int = 16 * 1024 * 1024


class HttpTransport:
    """Calls the operations of one source. Safe to use from many tasks at once."""

    def __init__(
        self,
        reach: Reach,
        *,
        credentials: Iterable[Credential] = (),
        contents: ContentStore | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._reach = reach
        self._base_url = None if reach.base_url is None else checked_base(reach.base_url)
        self._credentials = tuple(credentials)
        self._redactor = Redactor(secret for credential in self._credentials for secret in credential.secrets)
        self._contents = contents or ContentStore()
        self._connections = transport or _connections()
        self._plans: WeakKeyDictionary[Tool, RequestPlan] = WeakKeyDictionary()
        timeout = httpx2.Timeout(reach.timeout_s)
        self._extensions = {"timeout": timeout.as_dict()}

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> Any:
        """Send validated arguments and return the answer's data.

        Raises ArgumentsInvalid for what cannot travel, AddressNotAllowed, UpstreamError, UpstreamTimeout,
        UpstreamUnreachable.
        """
        invocation: HttpInvocation = tool.invocation
        request = self._plan(tool).build(arguments, self._contents)
        try:
            async with asyncio.timeout(self._reach.timeout_s):
                status, headers, body = await self._exchange(request)
        except TimeoutError:
            raise self._late() from None
        if status >= 400:
            raise self._redacted(answers.error_of(body, headers, status, _reason(status), self._reach.source))
        try:
            return self._decoded(body, headers, status, wants_json=invocation.is_json)
        except AnswerInvalid as error:
            message = f"{self._reach.source} {error}"
            raise self._redacted(AnswerInvalid(message, status=error.status, body=error.body)) from None

    async def aclose(self) -> None:
        """Close all connections."""
        await self._connections.aclose()

    def _plan(self, tool: Tool) -> RequestPlan:
        plan = self._plans.get(tool)
        if plan is None:
            invocation: HttpInvocation = tool.invocation
            base_url = base_for(
                invocation.servers,
                common=self._reach.servers,
                configured=self._base_url,
                location=self._reach.location,
                source=self._reach.source,
            )
            plan = self._plans[tool] = RequestPlan(tool, base_url)
        return plan

    async def _exchange(self, request: HttpRequest) -> tuple[int, Mapping[str, str], bytes]:
        prepared = self._prepared(request)
        for _ in range(MOST_REDIRECTS):
            status, headers, body = await self._send(prepared)
            if not 300 <= status < 400 or status == 304:
                return status, headers, body
            prepared = self._redirected(prepared, status, headers)
        message = f"{self._reach.source} redirected more than {MOST_REDIRECTS} times"
        raise UpstreamError(message, status=status)

    def _prepared(self, request: HttpRequest) -> httpx2.Request:
        """The request with credentials, exactly as it was built otherwise."""
        url = request.url
        headers = [*request.headers, ("User-Agent", _USER_AGENT), ("Accept-Encoding", "gzip, deflate")]
        cookies = list(request.cookies)
        for credential in self._credentials:
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

    async def _send(self, request: httpx2.Request) -> tuple[int, Mapping[str, str], bytes]:
        source = self._reach.source
        try:
            response = await self._connections.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol) as error:
            where = f"{request.url.scheme}://{request.url.netloc.decode('ascii')}"
            reason = str(error) or type(error).__name__
            message = f"{source} at {where} cannot be reached ({self._redactor.text(reason)}); nothing was sent"
            raise UpstreamUnreachable(message, source=source) from None
        except httpx2.TimeoutException:
            raise self._late() from None
        except httpx2.TransportError as error:
            raise self._broken(error) from None
        try:
            return response.status_code, response.headers, await self._read(response)
        finally:
            await response.aclose()

    async def _read(self, response: httpx2.Response) -> bytes:
        limit = self._reach.response_limit_bytes
        chunks = []
        size = 0
        try:
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > limit:
                    message = f"{self._reach.source}: the answer is larger than {limit:,} bytes; ask for less of it"
                    raise AnswerInvalid(message, status=response.status_code)
                chunks.append(chunk)
        except httpx2.DecodingError as error:
            message = f"{self._reach.source}: the answer cannot be unpacked ({error})"
            raise AnswerInvalid(message, status=response.status_code) from None
        except httpx2.TimeoutException:
            raise self._late() from None
        except httpx2.TransportError as error:
            raise self._broken(error) from None
        return b"".join(chunks)

    def _late(self) -> UpstreamTimeout:
        message = f"{self._reach.source} did not answer within {self._reach.timeout_s:g} s"
        return UpstreamTimeout(f"{message}; whether it did the work is unknown")

    def _broken(self, error: httpx2.TransportError) -> UpstreamTimeout:
        reason = self._redactor.text(str(error) or type(error).__name__)
        message = f"the connection to {self._reach.source} broke before the answer was complete ({reason})"
        return UpstreamTimeout(f"{message}; whether it did the work is unknown")

    def _redirected(self, request: httpx2.Request, status: int, headers: Mapping[str, str]) -> httpx2.Request:
        target = urljoin(str(request.url), headers.get("location", ""))
        source = self._reach.source
        if "location" not in headers or request.method not in ("GET", "HEAD"):
            message = f"{source} answered {status}, a redirect that is not followed for {request.method}"
            raise UpstreamError(message, status=status)
        if not _is_same_origin(str(request.url), target):
            message = f"{source} answered {status}, a redirect to another host, which is never followed"
            raise UpstreamError(message, status=status)
        return httpx2.Request(request.method, target, headers=request.headers, extensions=self._extensions)

    def _decoded(self, body: bytes, headers: Mapping[str, str], status: int, *, wants_json: bool) -> Any:
        return answers.decode(body, headers, wants_json=wants_json, status=status, contents=self._contents)

    def _redacted(self, error: UpstreamError) -> UpstreamError:
        return type(error)(
            self._redactor.text(str(error)),
            status=error.status,
            body=self._redactor.value(error.body),
            retry_after_s=error.retry_after_s,
        )


def _connections() -> httpx2.AsyncHTTPTransport:
    limits = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=15.0)
    return httpx2.AsyncHTTPTransport(limits=limits, trust_env=False)


def _is_same_origin(left: str, right: str) -> bool:
    try:
        return origin(left) == origin(right)
    except CallError:
        return False


def _reason(status: int) -> str:
    return httpx2.codes.get_reason_phrase(status)
