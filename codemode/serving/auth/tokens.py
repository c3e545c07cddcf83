"""JSON Web Tokens of a trusted issuer. PyJWT checks signature, issuer, audience and times.

Signing keys come from the configured address. An unknown key id causes another fetch, at most one every 30 seconds.
Only the configured algorithms are accepted, all of them asymmetric.
"""

from __future__ import annotations

import asyncio
import hmac
import importlib
import json
import time
from typing import TYPE_CHECKING, Any

from codemode.errors import ConfigurationError, SourceError
from codemode.gateway.caller import Caller

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.settings import TokenSettings

#: Seconds between two fetches of the issuer's keys.
PAUSE_S = 30.0

_FETCH_S = 5.0
_LARGEST_BYTES = 256 * 1024
_LONGEST_TOKEN = 16_384
_REQUIRED = ("exp", "iss", "aud", "sub")


class TokenRefused(Exception):
    """The token is rejected. The message gives the reason, but no content of the token."""


class TokenCheck:
    """Checks tokens. Raises ConfigurationError if PyJWT is not installed.

    `resources` are further audiences: identifiers of this server that clients may ask the issuer for (RFC 8707).
    """

    def __init__(self, settings: TokenSettings, resources: Sequence[str] = ()) -> None:
        try:
            self._jwt = importlib.import_module("jwt")
            importlib.import_module("cryptography")
        except ModuleNotFoundError as error:
            message = f"server.tokens needs the package {error.name}: pip install 'codemode[jwt]'"
            raise ConfigurationError(message) from None
        self._settings = settings
        self._audiences = (settings.audience, *resources)
        self._keys: dict[str, Any] = {}
        self._asked = -PAUSE_S
        self._asking = asyncio.Lock()

    @staticmethod
    def is_token(presented: str) -> bool:
        """Whether a text has the three parts of a token (RFC 7519, section 3.1), which API keys never have."""
        return presented.count(".") == 2

    async def caller(self, presented: str) -> Caller:
        """Return the caller that a token identifies. Raises TokenRefused."""
        claims = await self._claims(presented, self._audiences)
        good_until = claims["exp"] + self._settings.leeway_s
        return Caller(self._id(claims), self._role(claims), secrets=(presented,), good_until=good_until)

    async def person(self, presented: str, *, client_id: str, nonce: str) -> Caller:
        """Return the caller that an identity token names (OpenID Connect Core 1.0, 3.1.3.7). Raises TokenRefused.

        `client_id` is the client for which it was issued, and `nonce` belongs to the attempt to log in.
        """
        claims = await self._claims(presented, (client_id,))
        audience = claims["aud"]
        is_shared = isinstance(audience, list) and len(audience) > 1
        if claims.get("azp", None if is_shared else client_id) != client_id:
            raise TokenRefused("it is for another client")
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise TokenRefused("it is for another attempt")
        until = time.time() + self._settings.session_s
        return Caller(self._id(claims), self._role(claims), _label(claims), good_until=until)

    def _id(self, claims: dict[str, Any]) -> str:
        return f"token:{self._settings.issuer}#{claims['sub']}"

    async def _claims(self, presented: str, audiences: Sequence[str]) -> dict[str, Any]:
        settings = self._settings
        if len(presented) > _LONGEST_TOKEN:
            raise TokenRefused("it is too long")
        try:
            key = await self._key(self._jwt.get_unverified_header(presented))
            claims: dict[str, Any] = self._jwt.decode(
                presented,
                key,
                algorithms=list(settings.algorithms),
                audience=audiences,
                issuer=settings.issuer,
                leeway=settings.leeway_s,
                options={"require": list(_REQUIRED)},
            )
        except (self._jwt.PyJWTError, TypeError, ValueError, AttributeError) as error:
            raise TokenRefused(_reason(error)) from None
        return claims

    def gives(self, owner: str, role: str) -> bool:
        """Whether a token of this issuer can grant the role to that owner."""
        settings = self._settings
        return owner.startswith(f"token:{settings.issuer}#") and role in (
            *settings.roles.values(),
            settings.default_role,
        )

    def _role(self, claims: dict[str, Any]) -> str:
        given = _claim(claims, self._settings.role_claim)
        values = given if isinstance(given, list) else [given]
        for value, role in self._settings.roles.items():
            if value in values:
                return role
        if self._settings.default_role is None:
            raise TokenRefused("it grants no role on this server")
        return self._settings.default_role

    async def _key(self, header: dict[str, Any]) -> Any:
        """Return the issuer's key that the token header names. Raises TokenRefused."""
        if header.get("alg") not in self._settings.algorithms:
            raise TokenRefused("its algorithm is not allowed")
        name = header.get("kid")
        if not isinstance(name, str):
            name = ""
        if name not in self._keys:
            async with self._asking:
                if name not in self._keys:
                    await self._ask()
        found = self._keys.get(name)
        if found is None:
            raise TokenRefused("its key is not one of the issuer's")
        return found.key

    async def _ask(self) -> None:
        now = time.monotonic()
        if now - self._asked < PAUSE_S:
            return
        self._asked = now
        from codemode.transports.http.fetch import fetch_text

        try:
            text = await fetch_text(self._settings.jwks_url, timeout_s=_FETCH_S, limit_bytes=_LARGEST_BYTES)
            found = self._jwt.PyJWKSet.from_dict(json.loads(text)).keys
        except (SourceError, ValueError, RecursionError, AttributeError, TypeError, self._jwt.PyJWTError):
            if self._keys:
                return
            raise TokenRefused("the issuer's keys could not be fetched") from None
        self._keys = {key.key_id or "": key for key in found if key.public_key_use in ("sig", None)}


def _claim(claims: dict[str, Any], name: str) -> Any:
    """Return a claim. `a.b` is the claim `b` inside of `a`, unless there is one of that whole name."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _label(claims: dict[str, Any]) -> str:
    """Return what the console calls a person."""
    names = (claims.get(name) for name in ("name", "preferred_username", "email"))
    name = next((name for name in names if isinstance(name, str) and name.strip()), "")
    return "".join(letter for letter in name if letter.isprintable())[:80]


def _reason(error: Exception) -> str:
    known = {
        "ExpiredSignatureError": "it has expired",
        "ImmatureSignatureError": "it is not valid yet",
        "InvalidAudienceError": "it is for another audience",
        "InvalidIssuerError": "it is from another issuer",
        "InvalidSignatureError": "its signature is wrong",
        "MissingRequiredClaimError": f"one of its claims {', '.join(_REQUIRED)} is missing",
    }
    return known.get(type(error).__name__, "it is malformed")
