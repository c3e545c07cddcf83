"""OAuth 2.0 access tokens: client credentials (RFC 6749, 4.4), refresh tokens (section 6), and what a login left."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlencode, urlsplit

from codemode.errors import AddressNotAllowed, CredentialsMissing, UpstreamError
from codemode.transports.auth.credentials import Credential
from codemode.transports.auth.token_store import Tokens
from codemode.transports.http.addresses import is_same_origin, origin
from codemode.transports.http.request import HttpRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.transports.auth.grant import Grant
    from codemode.transports.auth.token_store import TokenStore
    from codemode.transports.http.exchange import Answer, Exchange

#: A token is replaced this long before it expires: requests take time to arrive.
_MARGIN_S = 30.0

#: What a token without `expires_in` is taken to live where it can be renewed; else until a service refuses it.
_USUAL_LIFE_S = 3600.0
_FOREVER_S = 10 * 365 * 86_400.0

#: What a renewal may take to end when its source is closed.
_ENDING_S = 5.0

#: What an access token may be (RFC 6749, A.12).
_TOKEN = re.compile(r"[\x20-\x7e]+")

#: Tokens that are still looked for in texts after they were replaced: answers to earlier calls may come late.
_REMEMBERED = 8


class TokenSource:
    """Gives a valid access token, getting a new one when there is none or it is about to expire."""

    def __init__(
        self, grant: Grant, exchange: Exchange, *, source: str, clock: Callable[[], float] = time.time
    ) -> None:
        for url in grant.addresses:
            origin(url)
        self._grant = grant
        self._exchange = exchange
        self._source = source
        self._clock = clock
        self._renewal: asyncio.Task[None] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._tokens = Tokens("", grant.refresh_token, 0.0, grant.token_url, grant.client_id)
        self._seen: deque[str] = deque(maxlen=_REMEMBERED)
        self._refused = ""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that must never be seen."""
        return (*self._grant.secrets, *self._seen)

    async def credential(self) -> Credential:
        """The credential to send now. Raises UpstreamError where the token endpoint gives none, CredentialsMissing.

        There is one renewal at a time, for all who wait, and it comes to its end also where they give up: a refresh
        token may be good for one use, and the answer has the next one.
        """
        if not self._is_good(self._tokens):
            if self._renewal is None:
                self._renewal = asyncio.create_task(self._renew())
                self._renewal.add_done_callback(self._has_ended)
            await asyncio.shield(self._renewal)
        elif self._grant.store is not None and self._grant.store.is_behind and self._keeping is None:
            self._keeping = asyncio.create_task(self._grant.store.keep_late())
            self._keeping.add_done_callback(self._has_kept)
        return Credential.bearer(self._tokens.access_token)

    async def aclose(self) -> None:
        """Let a renewal come to its end, and write what could not be written: the login is lost without."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_ENDING_S):
                under_way = [task for task in (self._renewal, self._keeping) if task is not None]
                await asyncio.gather(*under_way, return_exceptions=True)
                if self._grant.store is not None:
                    await self._grant.store.aclose()

    def reject(self, credential: Credential) -> None:
        """Say that a service did not take a credential: the next one asked for is new."""
        if credential.value == f"Bearer {self._tokens.access_token}":
            self._refused = self._tokens.access_token

    def _has_ended(self, renewal: asyncio.Task[None]) -> None:
        self._renewal = None
        if not renewal.cancelled():
            renewal.exception()  # whoever waits is told; an error that nobody hears would be logged, secrets and all

    def _has_kept(self, _: asyncio.Task[None]) -> None:
        self._keeping = None

    def _is_good(self, tokens: Tokens) -> bool:
        token = tokens.access_token
        return bool(token) and token != self._refused and self._clock() < tokens.expires_at - _MARGIN_S

    async def _renew(self) -> None:
        try:
            async with asyncio.timeout(self._exchange.timeout_s):
                await self._renewed()
        except TimeoutError:
            raise self._exchange.unsent() from None

    async def _renewed(self) -> None:
        if self._grant.store is None:
            self._remember(await self._asked(self._tokens))
            return
        try:
            await self._renew_kept(self._grant.store)
        except OSError as error:
            message = f"the tokens of {self._source} cannot be kept: {error.strerror or error}"
            raise CredentialsMissing(message, hint=f"the login at {self._source} cannot be renewed") from None

    async def _renew_kept(self, store: TokenStore) -> None:
        async with store.locked():
            kept = await asyncio.to_thread(store.read)
            if kept is None or kept.client_id != self._grant.client_id:
                raise self._log_in("nobody is logged in")
            self._remember(kept)
            if self._is_good(kept):
                return  # another process has renewed it
            if not kept.refresh_token:
                raise self._log_in("the login is over")
            try:
                renewed = await self._asked(kept)
            except UpstreamError as error:
                if error.status in (400, 401) and "invalid_grant" in str(error):
                    raise self._log_in("the login is over, and the service does not renew it") from None
                raise
            self._remember(renewed)
            await asyncio.to_thread(store.keep, renewed, kept)

    def _remember(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._seen.extend(secret for secret in tokens.secrets if secret not in self._seen)

    def _log_in(self, reason: str) -> CredentialsMissing:
        message = f"{reason} at {self._source}; run: codemode auth login {self._source}"
        return CredentialsMissing(message, hint=f"{reason} at {self._source}: the operator must log in")

    async def _asked(self, tokens: Tokens) -> Tokens:
        grant = self._grant
        fields = {"grant_type": "client_credentials"}
        if tokens.refresh_token:
            fields = {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token}
        if grant.scopes:
            fields["scope"] = " ".join(grant.scopes)
        if grant.audience:
            fields["audience"] = grant.audience
        if not tokens.token_url:
            found = await discover(grant.issuer, self._exchange)
            tokens = Tokens("", tokens.refresh_token, 0.0, found["token_endpoint"], grant.client_id)
        data = await ask_for_tokens(grant, tokens.token_url, fields, self._exchange)
        return tokens_of(data, tokens, now=self._clock())


def tokens_of(data: Mapping[str, Any], before: Tokens, *, now: float) -> Tokens:
    """The tokens in an answer of a token endpoint; a refresh token stays until there is another (RFC 6749, 6)."""
    refresh = data.get("refresh_token")
    try:
        life = float(data["expires_in"])
    except (KeyError, TypeError, ValueError, OverflowError):
        life = _USUAL_LIFE_S if refresh or before.refresh_token else _FOREVER_S
    return Tokens(
        access_token=str(data["access_token"]),
        refresh_token=refresh if isinstance(refresh, str) and refresh else before.refresh_token,
        expires_at=now + life,
        token_url=before.token_url,
        client_id=before.client_id,
        scope=str(data.get("scope") or before.scope),
    )


async def ask_for_tokens(
    grant: Grant, url: str, fields: Mapping[str, str], exchange: Exchange, *, pending: frozenset[str] = frozenset()
) -> Mapping[str, Any]:
    """What a token endpoint answers to a request with the client's own credentials. Raises UpstreamError.

    An answer whose error is among `pending` is given as it is: it means to ask again.
    """
    answer = await post_as_client(grant, url, fields, exchange)
    data = _mapping(answer.body)
    if data.get("error") in pending:
        return data
    token = data.get("access_token")
    if answer.status != 200 or not isinstance(token, str) or not _TOKEN.fullmatch(token):
        said = ": ".join(str(data[key])[:200] for key in ("error", "error_description") if data.get(key))
        message = f"no access token: its endpoint answered {answer.status}{f' ({said})' if said else ''}"
        raise UpstreamError(message, status=answer.status)
    return data


async def post_as_client(grant: Grant, url: str, fields: Mapping[str, str], exchange: Exchange) -> Answer:
    """The answer to a form that is sent with the client's own credentials (RFC 6749, 2.3.1)."""
    sent = dict(fields)
    client: tuple[Credential, ...] = ()
    if grant.secret_in_body or not grant.client_secret:
        sent["client_id"] = grant.client_id
        if grant.client_secret:
            sent["client_secret"] = grant.client_secret
    else:  # both encoded as in a form
        client = (Credential.basic(quote_plus(grant.client_id), quote_plus(grant.client_secret)),)
    headers = (("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded"))
    return await exchange.send(HttpRequest("POST", url, headers, urlencode(sent).encode()), client)


async def discover(issuer: str, exchange: Exchange) -> Mapping[str, str]:
    """The endpoints of an authorization server (RFC 8414, or OpenID Connect Discovery), on the issuer's own origin.

    Raises UpstreamError where it tells none, AddressNotAllowed where one is elsewhere.
    """
    parts = urlsplit(issuer.rstrip("/"))
    start = f"{parts.scheme}://{parts.netloc}"
    tried = (
        f"{start}/.well-known/oauth-authorization-server{parts.path}",
        f"{start}{parts.path}/.well-known/openid-configuration",
    )
    for url in tried:
        answer = await exchange.send(HttpRequest("GET", url, (("Accept", "application/json"),)))
        data = _mapping(answer.body) if answer.status == 200 else {}
        if str(data.get("issuer", "")).rstrip("/") == issuer.rstrip("/"):
            return _endpoints(data, issuer)
    message = f"the issuer {issuer} describes itself at neither {tried[0]} nor {tried[1]}: write its endpoints"
    raise UpstreamError(message)


def _endpoints(data: Mapping[str, Any], issuer: str) -> Mapping[str, str]:
    found = {key: str(value) for key, value in data.items() if key.endswith("_endpoint") and isinstance(value, str)}
    for key in ("token_endpoint", "device_authorization_endpoint"):
        if key in found and not is_same_origin(found[key], issuer):
            written = {"token_endpoint": "token_url", "device_authorization_endpoint": "device_url"}[key]
            message = f"the issuer {issuer} names another host; write {written}: {found[key]} if you trust it"
            raise AddressNotAllowed(message)
    if "token_endpoint" not in found:
        message = f"the issuer {issuer} names no token endpoint: write token_url"
        raise UpstreamError(message)
    return found


def _mapping(body: bytes) -> Mapping[str, Any]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
