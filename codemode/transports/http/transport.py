"""The HTTP transport of one source: what is sent, with which credentials, how often, and what comes of it.

Credentials are added to the finished request and to nothing else; every error passes the redactor.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from codemode.catalog.paging import items_of, next_arguments, paging_of
from codemode.catalog.tool import Effect
from codemode.errors import AnswerInvalid, CallError, ConfigurationError, CredentialsMissing
from codemode.transports.auth.credentials import CallerCredentials, Credential
from codemode.transports.auth.grant import Grant
from codemode.transports.auth.oauth import TokenSource
from codemode.transports.auth.requirements import Authentication, CallerSupply, Configured
from codemode.transports.base import Page
from codemode.transports.content import ContentStore
from codemode.transports.http import answers
from codemode.transports.http.addresses import Permitted, base_for, checked_base, origin, without_userinfo
from codemode.transports.http.exchange import Answer, Exchange
from codemode.transports.http.network import open_pool, resolve
from codemode.transports.http.request import HttpRequest, RequestPlan
from codemode.transports.http.uncertainty import in_doubt, is_in_progress, leaves_doubt
from codemode.transports.rate_limit import Pace, wait_before_retry
from codemode.transports.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.catalog.tool import Tool
    from codemode.transports.base import CallContext
    from codemode.transports.content import OwnedContents
    from codemode.transports.http.exchange import Connections
    from codemode.transports.http.invocation import HttpInvocation
    from codemode.transports.http.network import Resolve

_UNAUTHORIZED = 401

#: What helps where a document says of an operation that it takes no credentials, and it does.
_UNASKED = 'no credential was sent, for the document asks for none here: `scheme: "*"` at one sends it with every call'

#: Connections beyond those of calls: for tokens.
_SPARE_CONNECTIONS = 4


#: From this many bytes on an answer is read in a thread: much of that lets the event loop have its turns.
_LARGE = 1 << 18


@dataclass(frozen=True, slots=True)
class Reach:
    """Where and how a source is reached.

    `base_url` is the operator's, `address` the IP address of its host where that is not to be asked of the resolver,
    `location` where the document came from, `servers` what the document suggests.
    `retries` are further attempts of what is safe to repeat, all within `timeout_s`; `concurrency` and `rate_per_s`
    bound what the service gets from us at once and in a second. `idempotency_header` is the name under which it takes a
    key by which it knows a write that is sent twice.
    """

    source: str
    base_url: str | None = None
    address: str | None = None
    location: str = ""
    servers: tuple[str, ...] = ()
    timeout_s: float = 30.0
    response_limit_bytes: int = 16 * 1024 * 1024
    retries: int = 2
    concurrency: int = 32
    rate_per_s: float | None = None
    idempotency_header: str = ""
    certificate: tuple[str, str] | None = None
    ca_file: str | None = None


class HttpTransport:
    """Calls the operations of one source. Safe to use from many tasks at once.

    Without `authentication` nothing of that kind is sent, whatever an operation requires.
    """

    def __init__(
        self,
        reach: Reach,
        *,
        authentication: Authentication | None = None,
        contents: ContentStore | None = None,
        connections: Connections | None = None,
        resolve: Resolve = resolve,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._reach = reach
        self._base_url = None if reach.base_url is None else checked_base(reach.base_url)
        self._authentication = authentication or Authentication.none(reach.source)
        self._contents = contents or ContentStore()
        supplies = [one.supply for one in self._authentication.configured]
        grants = [supply for supply in supplies if isinstance(supply, Grant)]
        self._exchange = Exchange(
            reach.source,
            timeout_s=reach.timeout_s,
            limit_bytes=reach.response_limit_bytes,
            connections=connections or _pool(reach, grants, resolve),
        )
        self._tokens = {grant: TokenSource(grant, self._exchange, source=reach.source) for grant in grants}
        known = {secret for supply in supplies if isinstance(supply, (Credential, Grant)) for secret in supply.secrets}
        self._redactor = self._lasting = Redactor(known)
        self._callers: WeakKeyDictionary[CallerCredentials, Redactor] = WeakKeyDictionary()
        self._pace = Pace(reach.concurrency, reach.rate_per_s)
        self._plans: WeakKeyDictionary[Tool, tuple[RequestPlan, tuple[Configured, ...]]] = WeakKeyDictionary()
        self._sleep = sleep

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Send validated arguments and return the answer's data.

        Raises ArgumentsInvalid for what cannot travel, AddressNotAllowed, CredentialsMissing, UpstreamError,
        UpstreamTimeout, UpstreamUnreachable.
        """
        value, _ = await self._call(tool, arguments, context)
        return value

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """Call a tool for one page of its list. Raises what `call` raises, and CallError where it has no pages."""
        paging = paging_of(tool)
        if paging is None:
            message = f"{tool.id} has no pages: call it as it is"
            raise CallError(message)
        value, headers = await self._call(tool, arguments, context)
        address = headers.get("next-page", "")  # Kinto's, with the whole address
        link = headers.get("link") or (f'<{address}>; rel="next"' if address else "")
        link = self._redactor_for(context.credentials).text(link)
        return Page(value, items_of(paging, value), next_arguments(tool, paging, arguments, value, link))

    async def aclose(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(source.aclose() for source in self._tokens.values()))
        await self._exchange.aclose()

    async def _call(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> tuple[Any, Mapping[str, str]]:
        plan, chosen = self._plan(tool)
        contents, caller = self._contents.of(context.owner), context.credentials
        request = self._keyed(plan.build(arguments, contents), tool, context.idempotency_key)
        deadline = asyncio.get_running_loop().time() + self._reach.timeout_s
        attempt, is_doubtful = 0, False
        while True:
            try:
                answer = await self._attempt(request, chosen, context, deadline)
                data = await self._data(tool, answer, contents)
                return self._redactor_for(caller).answer(data, answer.body), answer.headers
            except CallError as error:
                self._redactor_for(caller).clean(error)
                is_working = is_in_progress(error, request)
                wait = self._wait(error, request, attempt, deadline, is_working=is_working)
                if wait is None and tool.effect is not Effect.READ and (is_doubtful or is_working):
                    raise in_doubt(error) from None
                if wait is None:
                    raise
                is_doubtful = is_doubtful or leaves_doubt(error)
            attempt += 1
            await self._sleep(wait)

    def _wait(
        self, error: CallError, request: HttpRequest, attempt: int, deadline: float, *, is_working: bool
    ) -> float | None:
        """Seconds until the next attempt, None where there is none; the end of one in progress is waited for."""
        wait = wait_before_retry(error, request, attempt)
        if wait is None or asyncio.get_running_loop().time() + wait >= deadline:
            return None
        return wait if is_working or attempt < self._reach.retries else None

    @property
    def idempotency_header(self) -> str:
        """The request header of idempotency keys, "" if the service accepts none."""
        return self._reach.idempotency_header

    def _keyed(self, request: HttpRequest, tool: Tool, key: str) -> HttpRequest:
        """Add the key to a write, if the service accepts one and the program has given none."""
        name = self._reach.idempotency_header
        if not name or not key or tool.effect is Effect.READ:
            return request
        if any(given.lower() == name.lower() for given, _ in request.headers):
            return replace(request, is_keyed=True)
        return replace(request, headers=(*request.headers, (name, key)), is_keyed=True)

    def _plan(self, tool: Tool) -> tuple[RequestPlan, tuple[Configured, ...]]:
        known = self._plans.get(tool)
        if known is None:
            invocation: HttpInvocation = tool.invocation
            base_url = base_for(
                invocation.servers,
                common=self._reach.servers,
                configured=self._base_url,
                location=without_userinfo(self._reach.location),
                source=self._reach.source,
            )
            chosen = self._authentication.chosen(invocation.security)
            known = self._plans[tool] = (RequestPlan(tool, base_url), chosen)
        return known

    async def _attempt(
        self, request: HttpRequest, chosen: tuple[Configured, ...], context: CallContext, deadline: float
    ) -> Answer:
        is_waiting = True
        try:
            async with asyncio.timeout_at(deadline):
                given = [await self._given(one, context.credentials) for one in chosen]
                async with self._pace:
                    await context.before_send()
                    is_waiting = False
                    answer = await self._authorized(request, given, chosen, context, deadline)
        except TimeoutError:
            raise (self._exchange.unsent() if is_waiting else self._exchange.late()) from None
        if answer.status >= 400:
            error = answers.error_of(answer.body, answer.headers, answer.status, self._reach.source)
            if answer.status == _UNAUTHORIZED and not chosen and self._authentication.has_credentials:
                error.args = (f"{error}; {_UNASKED}",)
            raise error
        return answer

    async def _authorized(
        self,
        request: HttpRequest,
        given: list[Credential],
        chosen: tuple[Configured, ...],
        context: CallContext,
        deadline: float,
    ) -> Answer:
        """The answer to the request with credentials; a token that is refused is replaced once."""
        sources = [self._tokens[one.supply] for one in chosen if isinstance(one.supply, Grant)]
        answer = await self._exchange.send(request, given, deadline=deadline)
        if answer.status != _UNAUTHORIZED or not sources:
            return answer
        for source in sources:
            for credential in given:
                source.reject(credential)
        again = [await self._given(one, context.credentials) for one in chosen]
        await context.before_send()
        return await self._exchange.send(request, again, deadline=deadline)

    async def _given(self, one: Configured, caller: CallerCredentials) -> Credential:
        """A configured credential as it is sent now. Raises CredentialsMissing, UpstreamError."""
        match one.supply:
            case Credential() as credential:
                return credential
            case CallerSupply(name, make):
                secret = caller.get(name)
                if secret is None:
                    hint = f"{self._reach.source} is called with credentials of who calls, and none came as {name!r}"
                    message = f"{hint}; nothing was sent"
                    raise CredentialsMissing(message, hint=hint)
                try:
                    return make(secret)
                except ConfigurationError as error:
                    hint = f"what came as {name!r} cannot be sent to {self._reach.source}"
                    message = f"{hint}: {error}"
                    raise CredentialsMissing(message, hint=hint) from None
            case Grant() as grant:
                source = self._tokens[grant]
                try:
                    return await source.credential()
                finally:
                    self._see_tokens()
        raise AssertionError  # a credential of the kind none is never chosen

    def _see_tokens(self) -> None:
        """Look for the tokens of now, and for the last few before them."""
        tokens = {secret for source in self._tokens.values() for secret in source.secrets}
        if not tokens <= self._redactor.secrets:
            self._redactor = self._lasting.extended(tokens)

    async def _data(self, tool: Tool, answer: Answer, contents: OwnedContents) -> Any:
        invocation: HttpInvocation = tool.invocation
        read = partial(
            answers.decode,
            answer.body,
            answer.headers,
            wants_json=invocation.is_json,
            status=answer.status,
            contents=contents,
        )
        try:
            return read() if len(answer.body) < _LARGE else await asyncio.to_thread(read)
        except AnswerInvalid as error:
            error.args = (f"{self._reach.source} {error}",)
            raise

    def _redactor_for(self, caller: CallerCredentials) -> Redactor:
        """What takes out the secrets of the operator and those of the caller, which are forgotten with the caller."""
        if not caller.secrets:
            return self._redactor
        known = self._callers.get(caller)
        if known is None or known is not known.extended(self._redactor.secrets):
            known = self._callers[caller] = self._redactor.extended(caller.secrets)
        return known


def _is_http(location: str) -> bool:
    return location.lower().startswith(("http://", "https://"))


def _pool(reach: Reach, grants: list[Grant], resolve: Resolve) -> Connections:
    """Connections to what the operator wrote: the base URL, else the document's own address, and token endpoints."""
    base = reach.base_url or reach.location
    addresses = [without_userinfo(base)] if _is_http(base) else []
    addresses += [address for grant in grants for address in grant.addresses]
    return open_pool(
        Permitted(tuple(origin(address) for address in addresses), reach.address),
        most=reach.concurrency + _SPARE_CONNECTIONS,
        certificate=reach.certificate,
        ca_file=reach.ca_file,
        resolve=resolve,
    )
