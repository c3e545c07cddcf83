"""The HTTP transport of one source: requests, credentials, retries and answers.

Credentials are added to the finished request only. Every error passes the redactor.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from codemode.catalog.next_page import PAGE_HEADERS, page_fields
from codemode.catalog.paging import walked
from codemode.catalog.tool import Effect
from codemode.errors import AnswerInvalid, CallError, ConfigurationError, CredentialsMissing, WrongArgument
from codemode.transports.auth.credentials import CallerCredentials, Credential
from codemode.transports.auth.grant import OAuthGrant
from codemode.transports.auth.requirements import (
    Authentication,
    CallerSupply,
    Configured,
    challenge_advice,
    challenge_parameter,
)
from codemode.transports.base import Page
from codemode.transports.content import ContentStore
from codemode.transports.http import answers
from codemode.transports.http.addresses import PermittedOrigins, base_for, checked_base, origin, without_userinfo
from codemode.transports.http.exchange import Answer, AnsweredElsewhere, Exchange, Redirected
from codemode.transports.http.headers import shown_headers
from codemode.transports.http.long_running import wait_for_result
from codemode.transports.http.network import open_pool, resolve
from codemode.transports.http.rate_limit import (
    FIRST_WAIT_S,
    MOST_WAITS,
    Attempts,
    Pace,
    is_limit,
    wait_before_retry,
)
from codemode.transports.http.request import HttpRequest, RequestPlan
from codemode.transports.http.uncertainty import in_doubt, is_in_progress, leaves_doubt
from codemode.transports.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.catalog.tool import Tool
    from codemode.transports.allowances import Allowances
    from codemode.transports.auth.grant import AccessTokens
    from codemode.transports.base import CallContext
    from codemode.transports.content import OwnedContents
    from codemode.transports.http.exchange import Connections
    from codemode.transports.http.invocation import HttpInvocation
    from codemode.transports.http.network import Resolve

    OpenTokens = Callable[[OAuthGrant, Exchange, str], AccessTokens]  #: of a grant, for a source's name

_UNAUTHORIZED = 401
_FORBIDDEN = 403
_HEAD = "HEAD"

#: Characters of a location in a note.
_LONGEST_LOCATION = 300

#: Advice for an operation that needs credentials although its document declares none.
_UNASKED = 'no credential was sent, because the document declares none here; set `scheme: "*"` to send one always'

#: Methods whose requests usually have a body, statuses of requests that lack one, and the advice then.
_WITH_BODY, _OF_BODIES = ("POST", "PUT", "PATCH"), (400, 411, 415, 422)
_NO_BODY = "no body was sent; if the service needs one, body={...} sends it as JSON"

#: Connections reserved for token requests, beyond those of calls.
_SPARE_CONNECTIONS = 4


#: Size from which an answer is decoded in a thread, in bytes, so that the event loop keeps running.
_LARGE = 1 << 18


@dataclass(frozen=True, slots=True)
class Reach:
    """The location of a source, and the limits of its calls.

    - `connection`: the connection whose limits these are, "" for those of the source.
    - `base_url`: the operator's base URL. `address`: the IP address of its host, if it must not be resolved.
    - `location`: the address of the source document. `servers`: the base URLs that the document suggests.
    - `permitted`: the operator's further servers, for single operations and for redirects.
    - `retries`: further attempts of calls that are safe to repeat, all within `timeout_s`.
    - `concurrency`, `rate_per_s`: the largest number of calls at once and per second.
    - `idempotency_header`: the header in which the service accepts an idempotency key.
    """

    source: str
    base_url: str | None = None
    address: str | None = None
    location: str = ""
    servers: tuple[str, ...] = ()
    permitted: tuple[str, ...] = ()
    timeout_s: float = 30.0
    response_limit_bytes: int = 16 * 1024 * 1024
    retries: int = 2
    concurrency: int = 32
    rate_per_s: float | None = None
    idempotency_header: str = ""
    certificate: tuple[str, str] | None = None
    ca_file: str | None = None
    connection: str = ""


class HttpTransport:
    """Calls the operations of one source. Safe for concurrent use.

    Without `authentication`, no credentials are sent, whatever an operation requires. `open_tokens` provides the access
    tokens of OAuth grants; `codemode.transports.oauth.tokens.TokenSource` is the one in use.
    """

    def __init__(
        self,
        reach: Reach,
        *,
        authentication: Authentication | None = None,
        contents: ContentStore | None = None,
        allowances: Allowances | None = None,
        connections: Connections | None = None,
        open_tokens: OpenTokens | None = None,
        resolve: Resolve = resolve,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._reach = reach
        self._base_url = None if reach.base_url is None else checked_base(reach.base_url)
        self._authentication = authentication or Authentication.none(reach.source)
        self._contents = contents or ContentStore()
        supplies: list[Any] = [one.supply for one in self._authentication.configured]
        grants = [supply for supply in (*supplies, self._authentication.login) if isinstance(supply, OAuthGrant)]
        self._exchange = Exchange(
            reach.source,
            timeout_s=reach.timeout_s,
            limit_bytes=reach.response_limit_bytes,
            permitted=frozenset(origin(without_userinfo(url)) for url in reach.permitted),
            connections=connections or _pool(reach, grants, resolve),
        )
        self._tokens = _tokens(grants, self._exchange, reach.source, open_tokens)
        supplies += self._authentication.headers
        known = {
            secret for supply in supplies if isinstance(supply, (Credential, OAuthGrant)) for secret in supply.secrets
        }
        self._redactor = self._lasting = Redactor(known)
        self._callers: WeakKeyDictionary[CallerCredentials, Redactor] = WeakKeyDictionary()
        self._pace = Pace.of_source(
            f"{reach.source} {reach.connection}".rstrip(), reach.concurrency, reach.rate_per_s, allowances
        )
        self._plans: WeakKeyDictionary[Tool, tuple[RequestPlan, tuple[Configured, ...]]] = WeakKeyDictionary()
        self._is_logged_in = False
        self._sleep = sleep

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Send validated arguments and return the answer's data.

        Raises ArgumentsInvalid for values that cannot be sent, AddressNotAllowed, CredentialsMissing, UpstreamError,
        UpstreamTimeout, UpstreamUnreachable.
        """
        value, answer = await self._call(tool, arguments, context)
        if headers := self._page_headers(answer, context):
            context.on_page(headers)
        location = answer.headers.get("location", "")
        if location and not answer.body and tool.invocation.method != _HEAD:
            location = self._redactor_for(context.credentials).text(location)[:_LONGEST_LOCATION]
            context.on_note(
                f"{tool.id} answered {answer.status} with location {location}; .response(…) gives its headers"
            )
        return value

    async def call_response(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """Return the whole answer, also a redirect that is not followed. Raises what `call` raises."""
        try:
            value, answer = await self._call(tool, arguments, context)
        except (Redirected, AnsweredElsewhere) as error:
            headers = {"location": self._redactor_for(context.credentials).text(error.target)}
            return Page(None, [], None, status=error.status or 0, headers=headers)
        return self._whole(value, answer, context)

    def _whole(self, value: Any, answer: Answer, context: CallContext) -> Page:
        headers = shown_headers(answer.headers, self._redactor_for(context.credentials))
        return Page(value, [], None, status=answer.status, headers=headers)

    async def call_result(self, tool: Tool, first: Page, context: CallContext, wait_s: float) -> Page:
        """Wait for the end of the work that `first` answered about (see `long_running`). Raises what `call` raises.

        Its status is read at the host of the source only, with the credentials of the tool.
        """
        plan, _ = self._plan(tool)

        async def read(url: str) -> Page:
            request = HttpRequest("GET", url, (("Accept", "application/json, */*;q=0.5"),))
            return self._whole(*await self._sent(tool, request, context, wants_json=False), context)

        try:
            return await wait_for_result(first, plan.address, read, self._sleep, wait_s, tool.id)
        except CallError as error:
            self._redactor_for(context.credentials).clean(error)
            raise

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """Return one page of a tool's list. Raises what `call` raises, and CallError if the tool has no pages."""
        paging = walked(tool)
        if paging is None:
            message = f"{tool.id} has no pages: call it without .items or .pages"
            raise CallError(message)
        value, answer = await self._call(tool, arguments, context)
        headers = self._page_headers(answer, context)
        return Page(value, **page_fields(tool, paging, arguments, value, headers))

    def _page_headers(self, answer: Answer, context: CallContext) -> dict[str, str]:
        """Return the headers of an answer that describe a page of a list."""
        names = [name for name in PAGE_HEADERS if name in answer.headers]
        redactor = self._redactor_for(context.credentials) if names else None
        return {name: redactor.text(answer.headers[name]) for name in names} if redactor else {}

    async def aclose(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(source.aclose() for source in self._tokens.values()))
        await self._exchange.aclose()

    async def _call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> tuple[Any, Answer]:
        plan, _ = self._plan(tool)
        request = plan.build(arguments, self._contents.of(context.owner), context.query)
        request = self._keyed(request, tool, context.idempotency_key)
        return await self._sent(tool, request, context, wants_json=tool.invocation.is_json)

    async def _sent(
        self, tool: Tool, request: HttpRequest, context: CallContext, *, wants_json: bool
    ) -> tuple[Any, Answer]:
        _, chosen = self._plan(tool)
        contents, caller = self._contents.of(context.owner), context.credentials
        attempts = Attempts(asyncio.get_running_loop().time() + self._reach.timeout_s)
        is_doubtful = False
        while True:
            try:
                answer = await self._attempt(request, chosen, context, attempts.deadline)
                if request.method == _HEAD:  # all that it answers are headers
                    return shown_headers(answer.headers, self._redactor_for(caller)), answer
                data = await self._data(answer, contents, wants_json=wants_json)
                return self._redactor_for(caller).answer(data, answer.body), answer
            except CallError as error:
                self._redactor_for(caller).clean(error)
                is_working = is_in_progress(error, request)
                if await self._waited(error, request, attempts, context, is_working=is_working):
                    is_doubtful = is_doubtful or leaves_doubt(error)
                elif tool.effect is not Effect.READ and (is_doubtful or is_working):
                    raise in_doubt(error) from None
                else:
                    raise

    async def _waited(
        self, error: CallError, request: HttpRequest, attempts: Attempts, context: CallContext, *, is_working: bool
    ) -> bool:
        """Wait before another attempt. Return False if there must be none. Work in progress is waited for."""
        wait_s = wait_before_retry(error, request, attempts.made)
        if wait_s is None:
            return False
        if is_limit(error) and context.wait_out is not None:
            wait_s = max(wait_s, attempts.waits * FIRST_WAIT_S)
            attempts.waits += 1
            attempts.deadline += wait_s
            return attempts.waits <= MOST_WAITS and await context.wait_out(wait_s)
        is_late = asyncio.get_running_loop().time() + wait_s >= attempts.deadline
        if is_late or not (is_working or attempts.made < self._reach.retries):
            return False
        attempts.made += 1
        await self._sleep(wait_s)
        return True

    @property
    def idempotency_header(self) -> str:
        """The request header of idempotency keys, "" if the service accepts none."""
        return self._reach.idempotency_header

    def _keyed(self, request: HttpRequest, tool: Tool, key: str) -> HttpRequest:
        """Add the key to a write if the service accepts one and the program has set none."""
        name = self._reach.idempotency_header
        if not name or not key or tool.effect is Effect.READ:
            return request
        if any(header.lower() == name.lower() for header, _ in request.headers):
            return replace(request, is_keyed=True)
        return replace(request, headers=(*request.headers, (name, key)), is_keyed=True)

    def _plan(self, tool: Tool) -> tuple[RequestPlan, tuple[Configured, ...]]:
        if self._is_logged_in != self._authentication.is_logged_in:
            self._is_logged_in = not self._is_logged_in
            self._plans.clear()
        known = self._plans.get(tool)
        if known is None:
            invocation: HttpInvocation = tool.invocation
            base_url = base_for(
                invocation.servers,
                common=self._reach.servers,
                configured=self._base_url,
                location=without_userinfo(self._reach.location),
                source=self._reach.source,
                permitted=self._reach.permitted,
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
                credentials = await self._credentials(chosen, context)
                async with self._pace:
                    await context.before_send()
                    is_waiting = False
                    answer = await self._authorized(request, credentials, chosen, context, deadline)
        except TimeoutError:
            raise (self._exchange.unsent() if is_waiting else self._exchange.late()) from None
        if answer.status >= 400:
            await self._check_scopes(answer, chosen)
            error = answers.error_of(answer.body, answer.headers, answer.status, self._reach.source)
            if answer.status == _UNAUTHORIZED and not chosen and self._authentication.has_credentials:
                error.args = (f"{error}; {_UNASKED}",)
            if answer.status in _OF_BODIES and request.body is None and request.method in _WITH_BODY:
                error.args = (f"{error}; {_NO_BODY}",)
            elif answer.status == _UNAUTHORIZED:
                error.args = (f"{error}{challenge_advice(answer.headers.get('www-authenticate', ''))}",)
            raise error
        return answer

    async def _check_scopes(self, answer: Answer, chosen: tuple[Configured, ...]) -> None:
        """Raise CredentialsMissing for an answer that asks for a token with further scopes (RFC 6750, 3.1)."""
        challenge = answer.headers.get("www-authenticate", "")
        if answer.status != _FORBIDDEN or challenge_parameter(challenge, "error") != "insufficient_scope":
            return
        scopes = challenge_parameter(challenge, "scope")
        for one in chosen if scopes else ():
            if isinstance(one.supply, OAuthGrant):
                raise await self._tokens[one.supply].lacks(scopes)

    async def _authorized(
        self,
        request: HttpRequest,
        credentials: list[Credential],
        chosen: tuple[Configured, ...],
        context: CallContext,
        deadline: float,
    ) -> Answer:
        """Return the answer to the request with credentials. Replace a rejected token once."""
        sources = [self._tokens[one.supply] for one in chosen if isinstance(one.supply, OAuthGrant)]
        answer = await self._exchange.send(request, credentials, deadline=deadline)
        if answer.status != _UNAUTHORIZED or not sources:
            return answer
        for source in sources:
            for credential in credentials:
                source.reject(credential)
        again = await self._credentials(chosen, context)
        await context.before_send()
        return await self._exchange.send(request, again, deadline=deadline)

    async def _credentials(self, chosen: tuple[Configured, ...], context: CallContext) -> list[Credential]:
        """Return the headers of the source and the chosen credentials, which replace them."""
        own = [await self._credential(one, context.credentials) for one in chosen]
        return [*self._authentication.headers, *own]

    async def _credential(self, one: Configured, caller: CallerCredentials) -> Credential:
        """Return a configured credential for this request. Raises CredentialsMissing, UpstreamError."""
        match one.supply:
            case Credential() as credential:
                return credential
            case CallerSupply(name, make):
                secret = caller.get(name)
                if secret is None:
                    hint = f"{self._reach.source} needs the caller's own credential {name!r}, and it is missing"
                    message = f"{hint}; nothing was sent"
                    raise CredentialsMissing(message, hint=hint)
                try:
                    return make(secret)
                except ConfigurationError as error:
                    hint = f"the caller's credential {name!r} cannot be sent to {self._reach.source}"
                    message = f"{hint}: {error}"
                    raise CredentialsMissing(message, hint=hint) from None
            case OAuthGrant() as grant:
                source = self._tokens[grant]
                try:
                    return await source.credential()
                finally:
                    self._redact_tokens()
        raise AssertionError  # credentials of the kind `none` are never chosen

    def _redact_tokens(self) -> None:
        """Redact the current tokens and the last few before them."""
        tokens = {secret for source in self._tokens.values() for secret in source.secrets}
        if not tokens <= self._redactor.secrets:
            self._redactor = self._lasting.extended(tokens)

    async def _data(self, answer: Answer, contents: OwnedContents, *, wants_json: bool) -> Any:
        read = partial(
            answers.decode,
            answer.body,
            answer.headers,
            wants_json=wants_json,
            status=answer.status,
            contents=contents,
        )
        try:
            return read() if len(answer.body) < _LARGE else await asyncio.to_thread(read)
        except AnswerInvalid as error:
            error.args = (f"{self._reach.source} {error}",)
            raise

    def _redactor_for(self, caller: CallerCredentials) -> Redactor:
        """Return a redactor of the operator's and the caller's secrets. It is dropped with the caller."""
        if not caller.secrets:
            return self._redactor
        known = self._callers.get(caller)
        if known is None or known is not known.extended(self._redactor.secrets):
            known = self._callers[caller] = self._redactor.extended(caller.secrets)
        return known


def _tokens(
    grants: list[OAuthGrant], exchange: Exchange, source: str, open_tokens: OpenTokens | None
) -> dict[OAuthGrant, AccessTokens]:
    if grants and open_tokens is None:
        raise WrongArgument("a transport with OAuth grants needs `open_tokens`")
    return {} if open_tokens is None else {grant: open_tokens(grant, exchange, source) for grant in grants}


def _is_http(location: str) -> bool:
    return location.lower().startswith(("http://", "https://"))


def _pool(reach: Reach, grants: list[OAuthGrant], resolve: Resolve) -> Connections:
    """Return connections to the configured origins: the base URL, or else the document's own, and token endpoints."""
    base = reach.base_url or reach.location
    addresses = [without_userinfo(base)] if _is_http(base) else []
    addresses += map(without_userinfo, reach.permitted)
    addresses += [address for grant in grants for address in grant.addresses]
    return open_pool(
        PermittedOrigins(tuple(origin(address) for address in addresses), reach.address),
        most=reach.concurrency + _SPARE_CONNECTIONS,
        certificate=reach.certificate,
        ca_file=reach.ca_file,
        resolve=resolve,
    )
