"""OAuth 2.0 access tokens: client credentials (RFC 6749, 4.4), refresh tokens (section 6), and stored logins."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlencode, urlsplit

from codemode.errors import (
    AddressNotAllowed,
    CallError,
    CredentialsMissing,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from codemode.transports.auth.credentials import Credential
from codemode.transports.auth.requirements import login_needed
from codemode.transports.auth.token_store import Tokens
from codemode.transports.http.addresses import is_same_origin, origin
from codemode.transports.http.request import HttpRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.transports.auth.grant import OAuthGrant
    from codemode.transports.auth.token_store import TokenStore
    from codemode.transports.http.exchange import Answer, Exchange

#: A token is renewed this long before it expires, in seconds, because requests take time to arrive.
_MARGIN_S = 30.0

#: Assumed lifetime of a token without `expires_in` if it is renewable. Others are used until a service rejects them.
_USUAL_LIFE_S = 3600.0
_FOREVER_S = 10 * 365 * 86_400.0

#: Time limit for a renewal in progress when its source is closed, in seconds.
_ENDING_S = 5.0

#: The first status of a server whose answer says nothing about the request.
_SERVER_ERROR = 500

#: Characters of the name of a person.
_LONGEST_NAME = 200

#: Valid access tokens (RFC 6749, A.12).
_TOKEN = re.compile(r"[\x20-\x7e]+")

#: Replaced tokens that are still redacted, because answers to earlier calls may arrive late.
_REMEMBERED = 8


class TokenSource:
    """Provides a valid access token, and renews it if there is none or it is about to expire.

    With `owns_exchange`, the connections are closed with it.
    """

    def __init__(
        self,
        grant: OAuthGrant,
        exchange: Exchange,
        source: str,
        *,
        owns_exchange: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        for url in grant.addresses:
            origin(url)
        self._grant = grant
        self._exchange = exchange
        self._owns_exchange = owns_exchange
        self._source = source
        self._clock = clock
        self._renewal: asyncio.Task[None] | None = None
        self._late_write: asyncio.Task[None] | None = None
        self._tokens = Tokens("", grant.refresh_token, 0.0, grant.token_url, grant.client_id)
        self._seen: deque[str] = deque(maxlen=_REMEMBERED)
        self._refused = ""

    @property
    def client_id(self) -> str:
        """The client whose tokens these are."""
        return self._grant.client_id

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts to redact."""
        return (*self._grant.secrets, *self._seen)

    async def credential(self) -> Credential:
        """Return the credential to send now, with a valid access token.

        Concurrent callers share one renewal. It runs to its end even if they cancel: a refresh token may be valid for
        one use, and the answer carries the next one. Raises CredentialsMissing, and UpstreamError if the token endpoint
        issues none.
        """
        if not self._is_good(self._tokens):
            if self._renewal is None:
                self._renewal = asyncio.create_task(self._renew())
                self._renewal.add_done_callback(self._renewal_ended)
            try:
                await asyncio.shield(self._renewal)
            except CallError:
                if not self._is_good(self._tokens, margin_s=0):  # else there is time to try again
                    raise
        elif self._grant.store is not None and self._grant.store.is_behind and self._late_write is None:
            self._late_write = asyncio.create_task(self._grant.store.keep_late())
            self._late_write.add_done_callback(self._late_write_ended)
        return Credential.bearer(self._tokens.access_token)

    async def aclose(self) -> None:
        """Finish a renewal in progress, and write unwritten tokens. Otherwise the login would be lost."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_ENDING_S):
                under_way = [task for task in (self._renewal, self._late_write) if task is not None]
                await asyncio.gather(*under_way, return_exceptions=True)
                if self._grant.store is not None:
                    await self._grant.store.aclose()
        if self._owns_exchange:
            await self._exchange.aclose()

    def forget(self) -> None:
        """Read the stored tokens again for the next credential: there may be a newer login."""
        self._tokens = replace(self._tokens, access_token="")

    def reject(self, credential: Credential) -> None:
        """Mark a credential as rejected by the service, so that the next one is new."""
        if credential.value == f"Bearer {self._tokens.access_token}":
            self._refused = self._tokens.access_token

    async def lacks(self, scopes: str) -> CredentialsMissing:
        """See `AccessTokens.lacks`. The scopes of a configured grant are configured too."""
        reason = f"{self._source} asks for the scopes {scopes}"
        message = f"{reason}: write them under sources.{self._source}.credentials, at scopes"
        return CredentialsMissing(message, hint=f"{reason}, which the operator has not configured")

    def _renewal_ended(self, renewal: asyncio.Task[None]) -> None:
        self._renewal = None
        if not renewal.cancelled():
            renewal.exception()  # retrieved, so that asyncio does not log it with its secrets

    def _late_write_ended(self, _: asyncio.Task[None]) -> None:
        self._late_write = None

    def _is_good(self, tokens: Tokens, *, margin_s: float = _MARGIN_S) -> bool:
        token = tokens.access_token
        return bool(token) and token != self._refused and self._clock() < tokens.expires_at - margin_s

    async def _renew(self) -> None:
        try:
            async with asyncio.timeout(self._exchange.timeout_s):
                await self._renew_now()
        except TimeoutError:
            raise self._exchange.unsent() from None

    async def _renew_now(self) -> None:
        if self._grant.store is None:
            self._remember(await self._request(self._tokens))
            return
        try:
            await self._renew_kept(self._grant.store)
        except OSError as error:
            message = f"the tokens of {self._source} cannot be stored: {error.strerror or error}"
            raise CredentialsMissing(message, hint=f"the login at {self._source} cannot be renewed") from None

    async def _renew_kept(self, store: TokenStore) -> None:
        async with store.locked():
            stored = await asyncio.to_thread(store.read)
            if stored is None or stored.client_id != self._grant.client_id:
                raise self._log_in("nobody is logged in")
            self._remember(stored)
            if self._is_good(stored):
                return  # renewed by another process
            if not stored.refresh_token:
                raise self._log_in("the login has expired")
            try:
                renewed = await self._request_twice(stored)
            except UpstreamError as error:
                if error.status in (400, 401) and "invalid_grant" in str(error):
                    raise self._log_in("the login has expired, and the service does not renew it") from None
                raise
            self._remember(renewed)
            await asyncio.to_thread(store.keep, renewed, stored)

    def _remember(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._seen.extend(secret for secret in tokens.secrets if secret not in self._seen)

    def _log_in(self, reason: str) -> CredentialsMissing:
        return login_needed(self._source, f"{reason} at {self._source}")

    async def _request_twice(self, tokens: Tokens) -> Tokens:
        """Request tokens again if the answer was lost: services accept a spent refresh token for a moment longer."""
        try:
            return await self._request(tokens)
        except (UpstreamTimeout, UpstreamUnreachable, UpstreamError) as error:
            if isinstance(error, UpstreamError) and (error.status or 0) < _SERVER_ERROR:
                raise
        return await self._request(tokens)

    async def _request(self, tokens: Tokens) -> Tokens:
        grant = self._grant
        fields = {"grant_type": "client_credentials"}
        if tokens.refresh_token:
            fields = {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token}
        if grant.scopes:
            fields["scope"] = " ".join(grant.scopes)
        fields |= {name: value for name in ("audience", "resource") if (value := getattr(grant, name))}
        if not tokens.token_url:
            endpoints = await discover(grant.issuer, self._exchange)
            tokens = Tokens("", tokens.refresh_token, 0.0, endpoints["token_endpoint"], grant.client_id)
        data = await ask_for_tokens(grant, tokens.token_url, fields, self._exchange)
        return tokens_of(data, tokens, now=self._clock())


def tokens_of(data: Mapping[str, Any], before: Tokens, *, now: float) -> Tokens:
    """Return the tokens in a token endpoint's answer. Without a new refresh token, the old one stays (RFC 6749, 6)."""
    refresh = data.get("refresh_token")
    try:
        life = float(data["expires_in"])
    except (KeyError, TypeError, ValueError, OverflowError):
        life = _USUAL_LIFE_S if refresh or before.refresh_token else _FOREVER_S
    return replace(
        before,
        access_token=str(data["access_token"]),
        refresh_token=refresh if isinstance(refresh, str) and refresh else before.refresh_token,
        expires_at=now + life,
        scope=str(data.get("scope") or before.scope),
        login=before.login or login_of(data),
        identity=before.identity or _claim(data, *_NAMES),
    )


#: Claims of an identity token by which people know each other, best first.
_NAMES = ("email", "preferred_username", "sub")


def login_of(data: Mapping[str, Any]) -> str:
    """Return what tells the person of an identity token from others, "" without one.

    The token came from the issuer itself (OpenID Connect Core 1.0, 3.1.3.7), so its signature proves nothing more.
    """
    subject = _claim(data, "sub")
    return blake2b(f"{_claim(data, 'iss')} {subject}".encode(), digest_size=16).hexdigest() if subject else ""


def _claim(data: Mapping[str, Any], *names: str) -> str:
    """Return the first of these claims of the identity token in an answer, "" if there is none."""
    token = data.get("id_token")
    parts = token.split(".") if isinstance(token, str) else []
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))) if len(parts) == 3 else {}
    except ValueError:
        return ""
    found = (claims.get(name) for name in names) if isinstance(claims, dict) else ()
    return next((one[:_LONGEST_NAME] for one in found if isinstance(one, str) and one.isprintable() and one), "")


async def ask_for_tokens(
    grant: OAuthGrant, url: str, fields: Mapping[str, str], exchange: Exchange, *, pending: frozenset[str] = frozenset()
) -> Mapping[str, Any]:
    """Return a token endpoint's answer to a request with the client's own credentials. Raises UpstreamError.

    An answer whose error is in `pending` is returned as it is: the caller must ask again.
    """
    answer = await post_as_client(grant, url, fields, exchange)
    data = _mapping(answer.body)
    if data.get("error") in pending:
        return data
    token = data.get("access_token")
    if answer.status != 200 or not isinstance(token, str) or not _TOKEN.fullmatch(token):
        details = ": ".join(str(data[key])[:200] for key in ("error", "error_description") if data.get(key))
        message = f"no access token: the token endpoint answered {answer.status}{f' ({details})' if details else ''}"
        raise UpstreamError(message, status=answer.status)
    return data


async def post_as_client(grant: OAuthGrant, url: str, fields: Mapping[str, str], exchange: Exchange) -> Answer:
    """Return the answer to a form sent with the client's own credentials (RFC 6749, 2.3.1)."""
    sent = {**fields, "client_id": grant.client_id}  # some endpoints look for it beside the header, too
    client: tuple[Credential, ...] = ()
    if not grant.client_secret:
        pass
    elif grant.secret_in_body:
        sent["client_secret"] = grant.client_secret
    else:  # both form-encoded
        client = (Credential.basic(quote_plus(grant.client_id), quote_plus(grant.client_secret)),)
    headers = (("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded"))
    return await exchange.send(HttpRequest("POST", url, headers, urlencode(sent).encode()), client)


async def discover(issuer: str, exchange: Exchange) -> Mapping[str, str]:
    """Return an authorization server's endpoints on the issuer's own origin.

    Raises UpstreamError if none are published, AddressNotAllowed if one is on another host.
    """
    return _endpoints(await metadata_of(issuer, exchange), issuer)


async def metadata_of(issuer: str, exchange: Exchange) -> Mapping[str, Any]:
    """Return what an authorization server publishes (RFC 8414, OpenID Connect Discovery). Raises UpstreamError."""
    parts = urlsplit(issuer.rstrip("/"))
    start = f"{parts.scheme}://{parts.netloc}"
    tried = (
        f"{start}/.well-known/oauth-authorization-server{parts.path}",
        f"{start}{parts.path}/.well-known/openid-configuration",
        f"{start}/.well-known/openid-configuration{parts.path}",
    )
    for url in dict.fromkeys(tried):
        data = await document_at(url, exchange)
        if str(data.get("issuer", "")).rstrip("/") == issuer.rstrip("/"):
            return data
    message = f"the issuer {issuer} publishes no metadata at {tried[0]} or {tried[1]}: configure its endpoints"
    raise UpstreamError(message)


async def document_at(url: str, exchange: Exchange, *credentials: Credential) -> Mapping[str, Any]:
    """Return a JSON object, empty if there is none."""
    answer = await exchange.send(HttpRequest("GET", url, (("Accept", "application/json"),)), credentials)
    return _mapping(answer.body) if answer.status == 200 else {}


def _endpoints(data: Mapping[str, Any], issuer: str) -> Mapping[str, str]:
    endpoints = {key: str(value) for key, value in data.items() if key.endswith("_endpoint") and isinstance(value, str)}
    for key in ("token_endpoint", "device_authorization_endpoint"):
        if key in endpoints and not is_same_origin(endpoints[key], issuer):
            setting = {"token_endpoint": "token_url", "device_authorization_endpoint": "device_url"}[key]
            message = f"the issuer {issuer} names another host; if you trust it, write {setting}: {endpoints[key]}"
            raise AddressNotAllowed(message)
    if "token_endpoint" not in endpoints:
        message = f"the issuer {issuer} names no token endpoint: configure token_url"
        raise UpstreamError(message)
    return endpoints


def _mapping(body: bytes) -> Mapping[str, Any]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
