"""What an OAuth 2.0 access token is requested with (RFC 6749, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemode.transports.auth.token_store import TokenStore


@dataclass(frozen=True, slots=True, repr=False)
class Grant:
    """How tokens are got. `token_url`, or else the `issuer` that names it (RFC 8414), is the operator's.

    With a `store` they are those of a login; else with a `refresh_token` by that; else by client credentials.
    """

    token_url: str
    client_id: str
    client_secret: str = ""
    scopes: tuple[str, ...] = ()
    refresh_token: str = ""
    audience: str = ""
    secret_in_body: bool = False
    issuer: str = ""
    store: TokenStore | None = None

    def __repr__(self) -> str:
        return f"Grant({self.token_url or self.issuer}, {self.client_id})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that must never be seen."""
        return tuple(secret for secret in (self.client_secret, self.refresh_token) if secret)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses that the operator wrote."""
        return tuple(url for url in (self.token_url, self.issuer) if url)
