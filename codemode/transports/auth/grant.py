"""OAuth 2.0 grants: the parameters of access token requests (RFC 6749, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from codemode.errors import CredentialsMissing
    from codemode.transports.auth.credentials import Credential
    from codemode.transports.auth.token_store import TokenStore


@dataclass(frozen=True, slots=True, repr=False)
class OAuthGrant:
    """The parameters of token requests.

    The operator configures `token_url`, or else the `issuer` that publishes it (RFC 8414). Tokens come from a login if
    there is a `store`, else from the `refresh_token`, else from client credentials. `resource` is the address that they
    are for (RFC 8707). With `server`, the address of a service without settings for its login, everything else comes
    from the `store`.
    """

    token_url: str
    client_id: str
    client_secret: str = ""
    scopes: tuple[str, ...] = ()
    refresh_token: str = ""
    audience: str = ""
    resource: str = ""
    secret_in_body: bool = False
    issuer: str = ""
    store: TokenStore | None = None
    server: str = ""

    def __repr__(self) -> str:
        return f"OAuthGrant({self.token_url or self.issuer}, {self.client_id})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts to redact."""
        return tuple(secret for secret in (self.client_secret, self.refresh_token) if secret)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The configured addresses."""
        return tuple(url for url in (self.token_url, self.issuer) if url)


class AccessTokens(Protocol):
    """The access tokens of one grant."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts to redact."""

    async def credential(self) -> Credential:
        """Return the credential to send now. Raises CredentialsMissing, UpstreamError."""

    def reject(self, credential: Credential) -> None:
        """Mark a credential as rejected by the service, so that the next one is new."""

    async def lacks(self, scopes: str) -> CredentialsMissing:
        """Return the error of a call for which the service asks for further scopes, separated by spaces."""

    async def aclose(self) -> None:
        """Finish a renewal in progress."""
