"""Access tokens for an MCP server at a URL, and what its rejections mean.

The SDK reports a rejected request as an unnamed error. Here its answer becomes an error of the protocol whose message
is a random name, by which the transport finds the reason: no server can invent one.
"""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING

import httpx2
from mcp import MCPError
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp_types import INTERNAL_ERROR

from codemode.errors import CallError, CredentialsMissing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.transports.auth.credentials import Credential
    from codemode.transports.auth.grant import AccessTokens

_UNAUTHORIZED, _FORBIDDEN = 401, 403

#: Key of a rejection in the extensions of its answer.
_REJECTION = "codemode.rejection"

#: Rejections of requests that nobody waits for are forgotten beyond this number.
_MOST_REMEMBERED = 64

#: Characters of the scopes that a server may ask for.
_LONGEST_SCOPES = 500


class Authorization:
    """The access tokens of a source, and why its server rejected requests. Without `tokens`, none are sent."""

    def __init__(self, source: str, tokens: AccessTokens | None = None) -> None:
        self._source = source
        self._tokens = tokens
        self._rejections: dict[str, CallError] = {}
        self._missing: CredentialsMissing | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts to redact."""
        return () if self._tokens is None else self._tokens.secrets

    def rejection(self, error: BaseException) -> CallError | None:
        """Return why a server rejected the request of this error, None if that is not its reason."""
        return next((found for one in _causes(error) if (found := self._rejection(one)) is not None), None)

    def _rejection(self, error: BaseException) -> CallError | None:
        if isinstance(error, httpx2.HTTPStatusError):
            rejection = error.response.extensions.get(_REJECTION)
            return rejection if isinstance(rejection, CallError) else None
        return self._rejections.pop(error.message, None) if isinstance(error, MCPError) else None

    async def aclose(self) -> None:
        """Finish a renewal in progress."""
        if self._tokens is not None:
            await self._tokens.aclose()

    async def credential(self) -> Credential | None:
        """Return the access token to send now, None if nobody is logged in. Raises CallError."""
        self._missing = None
        try:
            return None if self._tokens is None else await self._tokens.credential()
        except CredentialsMissing as error:  # the server may need none for this request
            self._missing = error
            return None

    async def renewed(self, credential: Credential) -> Credential | None:
        """Return another access token than this one, which was rejected. None if there is none. Raises CallError."""
        if self._tokens is None:
            return None
        self._tokens.reject(credential)
        return await self.credential()

    async def reason(self, response: httpx2.Response) -> CallError | None:
        """Return why an answer rejects a request, None if it does not."""
        lacks = extract_field_from_www_auth(response, "scope")
        is_short = extract_field_from_www_auth(response, "error") == "insufficient_scope"
        if response.status_code == _FORBIDDEN and is_short and lacks and self._tokens is not None:
            return await self._tokens.lacks(lacks[:_LONGEST_SCOPES])
        if response.status_code != _UNAUTHORIZED:
            return None
        reason = f"{self._source} rejected its credentials"
        message = f"{reason} (401): `codemode auth status` says where they come from"
        return self._missing or CredentialsMissing(message, hint=reason)

    def answer(self, rejection: CallError) -> httpx2.Response:
        """Return the answer by which a request learns of its rejection."""
        name = secrets.token_hex(16)
        self._rejections[name] = rejection
        while len(self._rejections) > _MOST_REMEMBERED:
            del self._rejections[next(iter(self._rejections))]
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": INTERNAL_ERROR, "message": name}}
        return httpx2.Response(
            _UNAUTHORIZED,
            headers={"Content-Type": "application/json"},
            content=json.dumps(error).encode(),
            extensions={_REJECTION: rejection},
        )


class AuthorizedTransport(httpx2.AsyncBaseTransport):
    """Sends an access token with each request. Replaces a rejected token once."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, authorization: Authorization) -> None:
        self._inner = inner
        self._authorization = authorization

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. An answer that rejects it is replaced by `Authorization.answer`."""
        authorization = self._authorization
        try:
            credential = await authorization.credential()
            response = await self._sent(request, credential)
            if response.status_code == _UNAUTHORIZED and credential is not None:
                again = await authorization.renewed(credential)
                if again is not None and again.value != credential.value:
                    await response.aclose()
                    response = await self._sent(request, again)
            rejection = await authorization.reason(response)
        except CallError as error:
            return authorization.answer(error)
        if rejection is None:
            return response
        await response.aclose()
        return authorization.answer(rejection)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()

    async def _sent(self, request: httpx2.Request, credential: Credential | None) -> httpx2.Response:
        if credential is not None:
            request.headers[credential.name] = credential.value
        return await self._inner.handle_async_request(request)


def _causes(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _causes(one)
    else:
        yield error
