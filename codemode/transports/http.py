"""The HTTP transport of one source: what is sent, with which credentials, how often, and what comes of it.

Credentials are added to the finished request and to nothing else; every error passes the redactor.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import httpx2

from codemode.catalog.paging import items_of, next_arguments, paging_of
from codemode.errors import AnswerInvalid, CallError, UpstreamError, UpstreamTimeout
from codemode.transports import answers
from codemode.transports.addresses import base_for, checked_base
from codemode.transports.content import ContentStore
from codemode.transports.credentials import Credential, Redactor
from codemode.transports.exchange import Answer, Exchange, open_connections
from codemode.transports.oauth import Grant, TokenSource
from codemode.transports.pace import Pace, wait_before_retry
from codemode.transports.request import HttpRequest, RequestPlan

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from codemode.catalog.tool import Tool
    from codemode.transports.invocation import HttpInvocation

_UNAUTHORIZED = 401


@dataclass(frozen=True, slots=True)
class Reach:
    """Where and how a source is reached.

    `base_url` is the operator's, `location` where the document came from, `servers` what the document suggests.
    `retries` are further attempts of what is safe to repeat, all within `timeout_s`; `concurrency` and `rate_per_s`
    bound what the service gets from us at once and in a second.
    """

    source: str
    base_url: str | None = None
    location: str = ""
    servers: tuple[str, ...] = ()
    timeout_s: float = 30.0
    response_limit_bytes: int = 16 * 1024 * 1024
    retries: int = 2
    concurrency: int = 32
    rate_per_s: float | None = None
    certificate: tuple[str, str] | None = None
    ca_file: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: the whole answer, its items, and the arguments of the next page (None after the last)."""

    value: Any
    items: list[Any]
    next_arguments: dict[str, Any] | None


class HttpTransport:
    """Calls the operations of one source. Safe to use from many tasks at once."""

    def __init__(
        self,
        reach: Reach,
        *,
        credentials: Iterable[Credential] = (),
        grant: Grant | None = None,
        contents: ContentStore | None = None,
        connections: httpx2.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._reach = reach
        self._base_url = None if reach.base_url is None else checked_base(reach.base_url)
        self._credentials = tuple(credentials)
        known = {secret for credential in self._credentials for secret in credential.secrets}
        self._redactor = Redactor(known | set(grant.secrets if grant else ()))
        self._contents = contents or ContentStore()
        self._exchange = Exchange(
            reach.source,
            timeout_s=reach.timeout_s,
            limit_bytes=reach.response_limit_bytes,
            redactor=self._redactor,
            connections=connections or open_connections(certificate=reach.certificate, ca_file=reach.ca_file),
        )
        self._tokens = None if grant is None else TokenSource(grant, self._exchange)
        self._pace = Pace(reach.concurrency, reach.rate_per_s)
        self._plans: WeakKeyDictionary[Tool, RequestPlan] = WeakKeyDictionary()
        self._sleep = sleep

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> Any:
        """Send validated arguments and return the answer's data.

        Raises ArgumentsInvalid for what cannot travel, AddressNotAllowed, UpstreamError, UpstreamTimeout,
        UpstreamUnreachable.
        """
        value, _ = await self._call(tool, arguments)
        return value

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any]) -> Page:
        """Call a tool for one page of its list. Raises what `call` raises, and CallError where it has no pages."""
        paging = paging_of(tool)
        if paging is None:
            message = f"{tool.id} has no pages: call it as it is"
            raise CallError(message)
        value, headers = await self._call(tool, arguments)
        link = headers.get("link", "")
        return Page(value, items_of(paging, value), next_arguments(tool, paging, arguments, value, link))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._exchange.aclose()

    async def _call(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[Any, Mapping[str, str]]:
        request = self._plan(tool).build(arguments, self._contents)
        deadline = asyncio.get_running_loop().time() + self._reach.timeout_s
        attempt = 0
        while True:
            try:
                return await self._attempt(tool, request, deadline)
            except (UpstreamError, UpstreamTimeout) as error:
                wait = wait_before_retry(error, request.method, attempt)
                too_late = wait is None or asyncio.get_running_loop().time() + wait >= deadline
                if wait is None or too_late or attempt >= self._reach.retries:
                    raise
            attempt += 1
            await self._sleep(wait)

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

    async def _attempt(self, tool: Tool, request: HttpRequest, deadline: float) -> tuple[Any, Mapping[str, str]]:
        invocation: HttpInvocation = tool.invocation
        try:
            async with asyncio.timeout_at(deadline), self._pace:
                answer = await self._authorized(request)
        except TimeoutError:
            raise self._exchange.late() from None
        except UpstreamError as error:
            raise self._redacted(error) from None
        if answer.status >= 400:
            reason = httpx2.codes.get_reason_phrase(answer.status)
            raise self._redacted(
                answers.error_of(answer.body, answer.headers, answer.status, reason, self._reach.source)
            )
        try:
            data = answers.decode(
                answer.body,
                answer.headers,
                wants_json=invocation.is_json,
                status=answer.status,
                contents=self._contents,
            )
        except AnswerInvalid as error:
            message = f"{self._reach.source} {error}"
            raise self._redacted(AnswerInvalid(message, status=error.status, body=error.body)) from None
        return self._redactor.answer(data, answer.body), answer.headers

    async def _authorized(self, request: HttpRequest) -> Answer:
        """The answer to the request with credentials; a token that is refused is replaced once."""
        if self._tokens is None:
            return await self._exchange.send(request, self._credentials)
        token = await self._tokens.credential()
        self._redactor.add(self._tokens.secrets)
        answer = await self._exchange.send(request, (*self._credentials, token))
        if answer.status != _UNAUTHORIZED:
            return answer
        await self._tokens.reject(token)
        fresh = await self._tokens.credential()
        self._redactor.add(self._tokens.secrets)
        return await self._exchange.send(request, (*self._credentials, fresh))

    def _redacted(self, error: UpstreamError) -> UpstreamError:
        return type(error)(
            self._redactor.text(str(error)),
            status=error.status,
            body=self._redactor.value(error.body),
            retry_after_s=error.retry_after_s,
        )
