"""The console's login at the issuer of the server's tokens: OpenID Connect, authorization code with PKCE.

OpenID Connect Core 1.0, 3.1; RFC 7636 (S256 only); RFC 9207 (`iss`). The identity token proves who logs in, and nothing
else of the answer is used.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from codemode.errors import CallError, CodeModeError
from codemode.serving.auth.tokens import TokenRefused
from codemode.serving.web.paths import CONSOLE
from codemode.transports.auth.grant import OAuthGrant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.gateway.caller import Caller
    from codemode.serving.auth.tokens import TokenCheck
    from codemode.settings import ServerSettings, TokenSettings

#: Path of the login below the console, and of the address to which the issuer sends the browser back.
START = "/login/issuer"
CALLBACK = f"{START}/callback"

#: Seconds for which the issuer's metadata are used, and until they are asked for again after a failure.
_METADATA_S, _PAUSE_S = 600.0, 5.0
_FETCH_S = 10.0

#: Error codes of an issuer (RFC 6749, 4.1.2.1). Its other texts come with the address, which anybody can write.
_ERROR_CODE = re.compile(r"[a-z_]{1,40}")
_LONGEST_CODE = 4096


class LoginRefused(Exception):
    """The login failed. The message is for the person, and has no content of a token."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The secrets of one attempt. The browser that began it has what they follow from."""

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)


class IssuerLogin:
    """Logs people in at the issuer. `check` verifies the tokens."""

    def __init__(self, server: ServerSettings, tokens: TokenSettings, check: TokenCheck, *, client_secret: str) -> None:
        self._tokens = tokens
        self._check = check
        self._grant = OAuthGrant("", tokens.client_id, client_secret, issuer=tokens.issuer)
        self._console = f"{server.public_url.rstrip('/')}{CONSOLE}"
        self._metadata: Mapping[str, Any] = {}
        self._asked = 0.0
        self._asking = asyncio.Lock()

    @property
    def name(self) -> str:
        """What people know the issuer by: its host."""
        return urlsplit(self._tokens.issuer).netloc or self._tokens.issuer

    @property
    def start_url(self) -> str:
        """The public address at which a login begins. The browser must come back to the same host."""
        return f"{self._console}{START}"

    @property
    def redirect_url(self) -> str:
        """The address that the operator registers at the issuer."""
        return f"{self._console}{CALLBACK}"

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the console by https."""
        return self._console.lower().startswith("https://")

    @property
    def session_s(self) -> float:
        """How long a login holds, in seconds."""
        return self._tokens.session_s

    async def address(self, attempt: Attempt) -> str:
        """Return the address of the issuer's page. Raises LoginRefused."""
        metadata = await self._published()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(attempt.verifier.encode()).digest()).rstrip(b"=").decode()
        parameters = {
            "response_type": "code",
            "client_id": self._grant.client_id,
            "redirect_uri": self.redirect_url,
            "scope": " ".join(dict.fromkeys(("openid", "profile", *self._tokens.scopes))),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        endpoint = str(metadata["authorization_endpoint"])
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"

    async def caller(self, answer: Mapping[str, str], attempt: Attempt) -> Caller:
        """Return who has logged in, from the parameters with which the issuer sent the browser back.

        The caller is good until the session ends. Raises LoginRefused.
        """
        if not hmac.compare_digest(answer.get("state", "").encode(), attempt.state.encode()):
            raise LoginRefused("the answer belongs to another attempt")
        metadata = await self._published()
        names_issuer = metadata.get("authorization_response_iss_parameter_supported") is True
        issuer = answer.get("iss", "" if names_issuer else self._tokens.issuer)
        if issuer.rstrip("/") != self._tokens.issuer.rstrip("/"):
            raise LoginRefused("the answer came from another issuer")
        if "error" in answer or not 0 < len(answer.get("code", "")) <= _LONGEST_CODE:
            code = answer.get("error", "")
            message = f"the issuer refused it{f' ({code})' if _ERROR_CODE.fullmatch(code) else ''}"
            raise LoginRefused(message)
        token = await self._identity_token(answer["code"], attempt.verifier, metadata)
        try:
            person = await self._check.person(token, client_id=self._grant.client_id, nonce=attempt.nonce)
        except TokenRefused as refused:
            message = f"the issuer's identity token is rejected: {refused}"
            raise LoginRefused(message) from None
        return person

    async def _identity_token(self, code: str, verifier: str, metadata: Mapping[str, Any]) -> str:
        from codemode.transports.oauth.exchange import open_exchange
        from codemode.transports.oauth.tokens import ask_for_tokens

        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_url,
            "code_verifier": verifier,
        }
        url = str(metadata["token_endpoint"])
        exchange = open_exchange("the issuer", (url,), timeout_s=_FETCH_S)
        try:
            answer = await ask_for_tokens(self._grant_for(metadata), url, fields, exchange)
        except CallError as error:
            raise LoginRefused(self._without_secret(error)) from None
        finally:
            await exchange.aclose()
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise LoginRefused("the issuer sent no identity token: it must support OpenID Connect")
        return token

    def _grant_for(self, metadata: Mapping[str, Any]) -> OAuthGrant:
        methods = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        is_in_body = "client_secret_basic" not in methods
        return OAuthGrant("", self._grant.client_id, self._grant.client_secret, secret_in_body=is_in_body)

    def _without_secret(self, error: CodeModeError) -> str:
        from codemode.transports.redaction import Redactor

        return Redactor(self._grant.secrets).text(str(error))

    async def _published(self) -> Mapping[str, Any]:
        """Return the issuer's metadata, whose endpoints were checked. Raises LoginRefused."""
        async with self._asking:
            age_s = time.monotonic() - self._asked
            if not self._metadata or age_s > _METADATA_S:
                if self._asked and age_s < _PAUSE_S:
                    message = f"{self.name} cannot be asked now; try again in a moment"
                    raise LoginRefused(message)
                self._asked = time.monotonic()
                self._metadata = await self._fetched()
            return self._metadata

    async def _fetched(self) -> Mapping[str, Any]:
        from codemode.transports.oauth.exchange import open_exchange
        from codemode.transports.oauth.server_reach import ServerReach
        from codemode.transports.oauth.tokens import metadata_of

        issuer = self._tokens.issuer
        try:
            exchange = open_exchange("the issuer", (issuer,), timeout_s=_FETCH_S)
            try:
                metadata = await metadata_of(issuer, exchange)
            finally:
                await exchange.aclose()
            for name in ("authorization_endpoint", "token_endpoint"):
                if not isinstance(metadata.get(name), str):
                    message = f"{self.name} names no {name}"
                    raise LoginRefused(message)
                ServerReach(issuer, "the issuer").check(metadata[name])
        except CodeModeError as error:
            message = f"{self.name} cannot be asked: {error}"
            raise LoginRefused(message) from None
        return metadata
