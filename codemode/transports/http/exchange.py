"""One request and its answer: connections, size limit and redirects, without policy.

Errors of this module are not redacted. The caller, which knows the secrets, redacts them.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, urljoin

from codemode.errors import (
    AnswerInvalid,
    CallError,
    ConfigurationError,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from codemode.transports.auth.credentials import Place
from codemode.transports.http.addresses import is_same_origin, origin, upgraded, without_query
from codemode.transports.http.answers import STREAMS, media_type_of, whole_part
from codemode.transports.http.certificates import distrusted
from codemode.transports.http.connection import ConnectError, ConnectionBroken, InvalidRequest, Request
from codemode.transports.http.connections import Timeouts
from codemode.transports.http.decompression import ACCEPTED, PackedWrongly, Unpacker
from codemode.transports.http.request import HttpRequest
from codemode.transports.http.uncertainty import Interrupted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.transports.auth.credentials import Credential
    from codemode.transports.http.addresses import Origin
    from codemode.transports.http.connections import Response

#: Redirects that are followed, for GET and HEAD on the same host.
MOST_REDIRECTS = 3

#: A connection's share of a call's time. Name lookups and handshakes are quick, unless something is wrong.
_CONNECT_SHARE, _CONNECT_AT_MOST_S = 0.8, 10.0

_ANY_TYPE = (("Accept", "*/*"),)

#: Time reserved to close an event stream before the call's deadline, in seconds.
_TO_CLOSE_S = 0.05


class Connections(Protocol):
    """A pool of connections that sends requests."""

    async def send(self, request: Request, timeouts: Timeouts) -> Response:
        """Send a request and return the response, which must be closed."""

    async def aclose(self) -> None:
        """Close all connections."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers (lower-case names) and decompressed body of an answer. `url` is the target of a redirect."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str = ""


class Redirected(UpstreamError):
    """A redirect to `target` that was not followed."""

    def __init__(self, message: str, *, status: int, target: str) -> None:
        self.target = target
        super().__init__(message, status=status)


class AnsweredElsewhere(AnswerInvalid):
    """A redirect to `target`, where the answer to a write that was done can be read (RFC 9110, 15.4.4)."""

    def __init__(self, message: str, *, status: int, target: str) -> None:
        self.target = target
        super().__init__(message, status=status)


class Exchange:
    """The connections to one source. It stores no cookies.

    `may_upgrade` allows a redirect from http to https on the same host. Redirects to other hosts lead to `permitted`
    origins only, without credentials and without arguments of the call.
    """

    def __init__(
        self,
        source: str,
        *,
        timeout_s: float,
        limit_bytes: int,
        connections: Connections,
        may_upgrade: bool = False,
        permitted: frozenset[Origin] = frozenset(),
    ) -> None:
        self._may_upgrade = may_upgrade
        self._permitted = permitted
        self._source = source
        self.timeout_s = timeout_s
        self._limit_bytes = limit_bytes
        self._connections = connections
        self._timeouts = Timeouts(timeout_s, min(timeout_s * _CONNECT_SHARE, _CONNECT_AT_MOST_S))
        self._origins: dict[str, Origin] = {}

    async def send(
        self, request: HttpRequest, credentials: Iterable[Credential] = (), *, deadline: float | None = None
    ) -> Answer:
        """Send a request with credentials. Raises UpstreamUnreachable, UpstreamTimeout, UpstreamError.

        For an event stream that is still open at the `deadline` (loop clock), return what has arrived.
        """
        credentials = tuple(credentials)
        url = request.url
        for _ in range(MOST_REDIRECTS):
            answer = await self._once(self._prepared(request, url, credentials), deadline)
            if not 300 <= answer.status < 400 or answer.status == 304:
                return answer if url == request.url else replace(answer, url=url)
            target = self._redirected(request.method, url, answer)
            if not is_same_origin(url, target) and not self._is_upgrade(url, target):
                request, credentials = HttpRequest(request.method, request.url, _ANY_TYPE), ()
            url = target
        message = f"{self._source} redirected more than {MOST_REDIRECTS} times"
        raise UpstreamError(message, status=answer.status)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._connections.aclose()

    def unsent(self) -> UpstreamUnreachable:
        """Return the error of a call whose time ended while it waited for its turn or a token."""
        message = f"{self._source} was busy with other calls, or issued no token, for {self.timeout_s:g} s"
        message += "; nothing was sent"
        return UpstreamUnreachable(message, source=self._source)

    def late(self) -> UpstreamTimeout:
        """Return the error of a call whose time has ended."""
        message = f"{self._source} did not answer within {self.timeout_s:g} s"
        return UpstreamTimeout(f"{message}; it is unknown whether it did the work")

    def _prepared(self, request: HttpRequest, url: str, credentials: tuple[Credential, ...]) -> Request:
        """Return the request with credentials, which replace arguments of the same name."""
        start, slash, rest = _halves(url)
        target, _, query = f"{slash}{rest}".partition("?")
        place = self._origins.get(start) or self._origins.setdefault(start, origin(start))
        headers = list(request.headers)
        cookies = list(request.cookies)
        for credential in credentials:
            match credential.place:
                case Place.HEADER:
                    name = credential.name.lower()
                    headers = [header for header in headers if header[0].lower() != name]
                    headers.append((credential.name, credential.value))
                case Place.COOKIE:
                    cookies = [cookie for cookie in cookies if not cookie.startswith(f"{credential.name}=")]
                    cookies.append(f"{credential.name}={credential.value}")
                case Place.QUERY:
                    name = f"{quote(credential.name, safe='')}="
                    kept = [pair for pair in query.split("&") if pair and not pair.startswith(name)]
                    query = "&".join((*kept, name + quote(credential.value, safe="")))
        if cookies:
            headers.append(("Cookie", "; ".join(cookies)))
        if not any(name.lower() == "user-agent" for name, _ in headers):
            headers.append(("User-Agent", "codemode"))
        headers.append(("Accept-Encoding", ACCEPTED))
        return Request(
            request.method,
            place,
            f"{target}?{query}" if query else target,
            headers,
            request.body,
        )

    async def _once(self, request: Request, deadline: float | None) -> Answer:
        try:
            response = await self._connections.send(request, self._timeouts)
        except ConnectError as error:
            place = request.origin
            where = f"{place.scheme}://{place.host}:{place.port}"
            why = distrusted(error) or str(error)
            message = f"{self._source} at {where} cannot be reached ({why}); nothing was sent"
            raise UpstreamUnreachable(message, source=self._source) from None
        except InvalidRequest as error:
            message = f"{self._source}: the request is invalid ({error}); nothing was sent"
            raise CallError(message) from None
        except ConnectionBroken as error:
            raise self._broken(error, is_stale=True) from None
        headers: dict[str, str] = {}
        for raw, value in response.headers:
            name, text = raw.decode("ascii").lower(), _text(value)
            headers[name] = f"{headers[name]}, {text}" if name in headers else text
        try:
            until = deadline - _TO_CLOSE_S if deadline is not None and _may_stay_open(headers) else None
            return Answer(response.status, headers, await self._read(response, headers, until))
        finally:
            response.close()

    async def _read(self, response: Response, headers: Mapping[str, str], until: float | None) -> bytes:
        chunks: list[bytes] = []
        try:
            unpacker = Unpacker(headers.get("content-encoding", ""))
            async with asyncio.timeout_at(until):
                await self._collect(response, unpacker, chunks)
            unpacker.end()
        except TimeoutError:
            whole = whole_part(b"".join(chunks), media_type_of(headers)[0])
            if not whole:
                raise self.late() from None
            return whole
        except PackedWrongly as error:
            message = f"{self._source}: the answer cannot be decompressed: {error}"
            raise _unusable(message, response.status) from None
        except ConnectionBroken as error:
            raise self._broken(error) from None
        return b"".join(chunks)

    async def _collect(self, response: Response, unpacker: Unpacker, chunks: list[bytes]) -> None:
        size = 0
        while packed := await response.read():
            for chunk in unpacker.pieces(packed):
                size += len(chunk)
                if size > self._limit_bytes:
                    message = f"{self._source}: the answer is larger than {self._limit_bytes:,} bytes; request less"
                    raise _unusable(message, response.status)
                chunks.append(chunk)

    def _broken(self, error: Exception, *, is_stale: bool = False) -> Interrupted:
        message = f"the connection to {self._source} broke before the answer was complete ({error})"
        return Interrupted(f"{message}; it is unknown whether it did the work", is_stale=is_stale)

    def _redirected(self, method: str, url: str, answer: Answer) -> str:
        if "location" not in answer.headers:
            message = f"{self._source} answered {answer.status}, a redirect without a target"
            raise UpstreamError(message, status=answer.status)
        target = urljoin(url, answer.headers["location"])
        said = f"{self._source} answered {answer.status}, a redirect to {without_query(target)}"
        if answer.status == HTTPStatus.SEE_OTHER and method not in ("GET", "HEAD"):
            message = f"{said}: the work was done, and its answer is there; .response(…) gives the location"
            raise AnsweredElsewhere(message, status=answer.status, target=target)
        if method not in ("GET", "HEAD"):
            message = f"{said}, which is not followed for {method}: {_advice(self._source, url, target)}"
            raise Redirected(message, status=answer.status, target=target)
        if target.isascii() and (
            is_same_origin(url, target) or self._is_upgrade(url, target) or self._is_permitted(target)
        ):
            return target.partition("#")[0]
        message = f"{said}, another host, which is not followed; .response(…) gives the whole location"
        place = _halves(without_query(target))[0]
        message += f"; the operator can permit it: sources.{self._source}.servers: [{place}]"
        raise Redirected(message, status=answer.status, target=target)

    def _is_permitted(self, target: str) -> bool:
        try:
            return origin(target) in self._permitted
        except ConfigurationError:
            return False

    def _is_upgrade(self, url: str, target: str) -> bool:
        try:
            return self._may_upgrade and upgraded(origin(url)) == origin(target)
        except ConfigurationError:
            return False


def _unusable(message: str, status: int) -> UpstreamError:
    """Return the error of an unreadable answer. Its status still says whether the service did the work."""
    kind = AnswerInvalid if status < HTTPStatus.BAD_REQUEST else UpstreamError
    return kind(message, status=status)


def _advice(source: str, url: str, target: str) -> str:
    """Return what the operator can do about a redirect of a write."""
    if not is_same_origin(url, target):
        return f"if the API is there, set sources.{source}.base_url to it"
    return "the document names another path than the service"


def _halves(url: str) -> tuple[str, str, str]:
    """Split an absolute URL into scheme and authority, the `/` after them, and the rest."""
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    host, mark, query = authority.partition("?")
    return (f"{scheme}://{host}", "/", f"?{query}") if mark else (f"{scheme}://{authority}", slash or "/", path)


def _may_stay_open(headers: Mapping[str, str]) -> bool:
    """Return whether an answer may be a stream: events, lines, or JSON of unknown length (Kubernetes' watches)."""
    name, _ = media_type_of(headers)
    return name in STREAMS or (name == "application/json" and "content-length" not in headers)


def _text(value: bytes) -> str:
    """Return a header value: UTF-8 if valid, else the older Latin-1 (RFC 9110, 5.5)."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
