"""OAuth 2.0 access tokens: client credentials (RFC 6749, 4.4) and refresh tokens (section 6)."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from codemode.errors import UpstreamError
from codemode.transports.addresses import origin
from codemode.transports.credentials import Credential
from codemode.transports.request import HttpRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.transports.exchange import Exchange

#: A token is replaced this long before it expires: requests take time to arrive.
_MARGIN_S = 30.0

#: What a token without `expires_in` is taken to live.
_USUAL_LIFE_S = 3600.0


@dataclass(frozen=True, slots=True, repr=False)
class Grant:
    """How tokens are got. `token_url` is the operator's; with a `refresh_token` that grant is used."""

    token_url: str
    client_id: str
    client_secret: str = ""
    scopes: tuple[str, ...] = ()
    refresh_token: str = ""
    audience: str = ""
    secret_in_body: bool = False

    def __repr__(self) -> str:
        return f"Grant({self.token_url}, {self.client_id})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that must never be seen."""
        return tuple(secret for secret in (self.client_secret, self.refresh_token) if secret)


class TokenSource:
    """Gives a valid access token, getting a new one when there is none or it is about to expire."""

    def __init__(self, grant: Grant, exchange: Exchange, *, clock: Callable[[], float] = time.monotonic) -> None:
        origin(grant.token_url)
        self._grant = grant
        self._refresh_token = grant.refresh_token
        self._exchange = exchange
        self._clock = clock
        self._lock = asyncio.Lock()
        self._token = ""
        self._expires = 0.0
        self.secrets: set[str] = set(grant.secrets)

    async def credential(self) -> Credential:
        """The credential to send now. Raises UpstreamError where the token endpoint gives none."""
        async with self._lock:
            if not self._token or self._clock() >= self._expires:
                await self._renew()
            return Credential.bearer(self._token)

    async def reject(self, credential: Credential) -> None:
        """Say that a service did not take a credential: the next one asked for is new."""
        async with self._lock:
            if credential.value == f"Bearer {self._token}":
                self._token = ""

    async def _renew(self) -> None:
        answer = await self._exchange.send(self._request(), self._client())
        try:
            data = json.loads(answer.body)
        except ValueError:
            data = None
        token = data.get("access_token") if isinstance(data, dict) else None
        if answer.status != 200 or not isinstance(token, str) or not token:
            said = _said(data)
            message = f"no access token: its endpoint answered {answer.status}{f' ({said})' if said else ''}"
            raise UpstreamError(message, status=answer.status)
        self._token = token
        life = data.get("expires_in")
        self._expires = self._clock() + (float(life) if isinstance(life, (int, float)) else _USUAL_LIFE_S) - _MARGIN_S
        refreshed = data.get("refresh_token")
        if isinstance(refreshed, str) and refreshed and self._refresh_token:
            self._refresh_token = refreshed
        self.secrets |= {token, self._refresh_token} - {""}

    def _request(self) -> HttpRequest:
        grant = self._grant
        fields = {"grant_type": "client_credentials"}
        if self._refresh_token:
            fields = {"grant_type": "refresh_token", "refresh_token": self._refresh_token}
        if grant.scopes:
            fields["scope"] = " ".join(grant.scopes)
        if grant.audience:
            fields["audience"] = grant.audience
        if grant.secret_in_body or not grant.client_secret:
            fields["client_id"] = grant.client_id
            if grant.client_secret:
                fields["client_secret"] = grant.client_secret
        headers = (("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded"))
        return HttpRequest("POST", grant.token_url, headers, urlencode(fields).encode())

    def _client(self) -> tuple[Credential, ...]:
        grant = self._grant
        if grant.secret_in_body or not grant.client_secret:
            return ()
        return (Credential.basic(grant.client_id, grant.client_secret),)


def _said(data: Any) -> str:
    """The error of RFC 6749, 5.2."""
    if not isinstance(data, dict):
        return ""
    return ": ".join(str(data[key])[:200] for key in ("error", "error_description") if data.get(key))
