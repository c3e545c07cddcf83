"""codemode as a resource server: what clients read to log in at the issuer of its tokens (RFC 9728, RFC 6750)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.serving.web.paths import MCP

if TYPE_CHECKING:
    from codemode.settings import ServerSettings, TokenSettings

#: Path of the metadata. The path of a part of the server follows it.
METADATA = "/.well-known/oauth-protected-resource"

#: The parts of the server that take tokens, and the server as a whole.
_PARTS = (MCP, "/v1", "")


class ProtectedResource:
    """The identifiers of a server and its parts, below its public address."""

    def __init__(self, address: str, tokens: TokenSettings) -> None:
        self._address = address.rstrip("/")
        self._tokens = tokens

    @classmethod
    def of(cls, server: ServerSettings) -> ProtectedResource | None:
        """Return the resource of a server, None without tokens or without a public address, which names it."""
        return None if server.tokens is None or not server.public_url else cls(server.public_url, server.tokens)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The resources that a client may ask the issuer for (RFC 8707), which are audiences of its tokens."""
        return tuple(f"{self._address}{part}" for part in _PARTS)

    def metadata(self, part: str) -> dict[str, Any] | None:
        """Return the metadata of a part (`/mcp`), None if there is no such part."""
        if part not in _PARTS:
            return None
        scopes = {"scopes_supported": list(self._tokens.scopes)} if self._tokens.scopes else {}
        return {
            "resource": f"{self._address}{part}",
            "authorization_servers": [self._tokens.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "codemode",
            **scopes,
        }

    def challenge(self, path: str, *, has_token: bool) -> str:
        """Return `WWW-Authenticate` for a request without a valid token."""
        part = next(part for part in _PARTS if path.startswith(part))
        fields = {
            "error": "invalid_token" if has_token else "",
            "resource_metadata": f"{self._address}{METADATA}{part}",
            "scope": " ".join(self._tokens.scopes),
        }
        return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in fields.items() if value)
