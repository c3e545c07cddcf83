"""The access tokens of a source whose login is not configured: `codemode auth login` stored the whole grant."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codemode.errors import CredentialsMissing
from codemode.transports.auth.grant import OAuthGrant
from codemode.transports.auth.requirements import login_needed
from codemode.transports.oauth.exchange import open_exchange
from codemode.transports.oauth.tokens import TokenSource

if TYPE_CHECKING:
    from codemode.transports.auth.credentials import Credential
    from codemode.transports.auth.grant import AccessTokens
    from codemode.transports.auth.token_store import Tokens, TokenStore
    from codemode.transports.http.exchange import Exchange


class StoredLogin:
    """Provides the access tokens of whoever is logged in at `server` now.

    Tokens for another address are not sent: that of the source may have changed since the login.
    """

    def __init__(
        self, store: TokenStore, server: str, source: str, *, ca_file: str | None = None, timeout_s: float = 30.0
    ) -> None:
        self._store = store
        self._server = server
        self._source = source
        self._ca_file = ca_file
        self._timeout_s = timeout_s
        self._opening = asyncio.Lock()
        self._opened: TokenSource | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts to redact."""
        return () if self._opened is None else self._opened.secrets

    async def credential(self) -> Credential:
        """See `AccessTokens.credential`. A later login, also as another client, replaces this one."""
        opened = await self._open(None)
        try:
            return await opened.credential()
        except CredentialsMissing:
            again = await self._open(opened)
            if again is opened:
                raise
            return await again.credential()

    def reject(self, credential: Credential) -> None:
        """See `AccessTokens.reject`."""
        if self._opened is not None:
            self._opened.reject(credential)

    async def lacks(self, scopes: str) -> CredentialsMissing:
        """See `AccessTokens.lacks`. The next login asks for them."""
        await asyncio.to_thread(self._store.want, scopes)
        if self._opened is not None:
            self._opened.forget()
        return login_needed(self._source, f"{self._source} asks for the scopes {scopes}")

    async def aclose(self) -> None:
        """See `AccessTokens.aclose`."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.aclose()

    async def _open(self, outdated: TokenSource | None) -> TokenSource:
        """Return the tokens of the present login. If `outdated` is still the present one, return it."""
        async with self._opening:
            if self._opened is not None and self._opened is not outdated:
                return self._opened
            stored = await asyncio.to_thread(self._store.read)
            if stored is None or stored.server != self._server:
                raise login_needed(self._source, f"nobody is logged in at {self._source}")
            if outdated is not None and stored.client_id == outdated.client_id:
                return outdated
            exchange = open_exchange(
                self._source, (stored.token_url,), ca_file=self._ca_file, timeout_s=self._timeout_s
            )
            self._opened = TokenSource(grant_in(stored, self._store), exchange, self._source, owns_exchange=True)
        if outdated is not None:
            await outdated.aclose()
        return self._opened


def access_tokens(grant: OAuthGrant, exchange: Exchange, source: str, *, ca_file: str | None = None) -> AccessTokens:
    """Return the access tokens of a grant: those of whoever is logged in at its server, or of its own requests."""
    if grant.server and grant.store is not None:
        return StoredLogin(grant.store, grant.server, source, ca_file=ca_file, timeout_s=exchange.timeout_s)
    return TokenSource(grant, exchange, source)


def grant_in(tokens: Tokens, store: TokenStore) -> OAuthGrant:
    """Return the grant that was stored with tokens."""
    return OAuthGrant(
        token_url=tokens.token_url,
        client_id=tokens.client_id,
        client_secret=tokens.client_secret,
        secret_in_body=tokens.secret_in_body,
        resource=tokens.resource,
        store=store,
    )
