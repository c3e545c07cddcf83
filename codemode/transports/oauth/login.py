"""Logins of a person: authorization code with PKCE in a local browser, or a code entered on another device.

RFC 6749, 4.1; RFC 7636 (PKCE, S256 only); RFC 8252, 7.3 (loopback redirect); RFC 9207 (`iss`); RFC 8628 (device); RFC
7009 (revocation).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from codemode.errors import ConfigurationError, UpstreamError, UpstreamTimeout
from codemode.transports.auth.token_store import Tokens
from codemode.transports.http.addresses import origin
from codemode.transports.oauth.client_document import CALLBACK, DEVICE_GRANT
from codemode.transports.oauth.exchange import open_exchange
from codemode.transports.oauth.tokens import ask_for_tokens, discover, post_as_client, tokens_of
from codemode.transports.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from codemode.transports.auth.grant import OAuthGrant
    from codemode.transports.http.exchange import Exchange

#: Time limit for a person's login, in seconds.
PATIENCE_S = 300.0

#: Default poll interval in seconds, and the increment for `slow_down` (RFC 8628, 3.5).
_DEVICE_INTERVAL_S = 5.0

_REVOKED = 200


@dataclass(frozen=True, slots=True)
class Login:
    """The parameters of a login. The operator configures the addresses, or else the grant's issuer publishes them.

    `redirect_port` is for services that register the redirect address; 0 uses `preferred_port` if it is free, else
    another. `ca_file` is the operator's own authority. `patience_s` is the time limit for the person.

    Logins that were discovered also have the `issuer`, whether its answers name it (RFC 9207), the `server` that the
    tokens are for, and `register`, which registers a client for a redirect address and returns its grant (RFC 7591).
    """

    source: str
    grant: OAuthGrant
    authorization_url: str = ""
    device_url: str = ""
    redirect_port: int = 0
    preferred_port: int = 0
    ca_file: str | None = None
    patience_s: float = PATIENCE_S
    issuer: str = ""
    names_issuer: bool = False
    server: str = ""
    revocation_url: str = ""
    register: Callable[[str], Awaitable[OAuthGrant]] | None = None

    @property
    def named_issuer(self) -> str:
        """The issuer, or the host of its endpoints if it publishes no name, for messages."""
        place = origin(self.grant.token_url)
        return self.issuer or f"{place.scheme}://{place.authority}"

    async def registered(self, redirect_url: str) -> Login:
        """Return the login of a client that may use a redirect address. Raises UpstreamError, UpstreamTimeout."""
        return self if self.register is None else replace(self, grant=await self.register(redirect_url))


async def log_in_by_browser(login: Login, show: Callable[[str], None]) -> Tokens:
    """Log in by authorization code and return the tokens. `show` receives the address to open.

    Raises UpstreamError, UpstreamTimeout.
    """
    state = secrets.token_urlsafe(24)
    async with _Callback.listening(login, state) as callback:
        begun = await begin(login, callback.url, state)
        show(begun.address)
        code = await callback.code(login.patience_s)
    return await finish(begun, code)


@dataclass(frozen=True, slots=True)
class BegunLogin:
    """A login for which a browser was sent to the `address` of the issuer. It comes back to `redirect_url`.

    `login` has the client and both endpoints.
    """

    login: Login
    redirect_url: str
    address: str
    state: str = field(repr=False)
    verifier: str = field(repr=False)


async def begin(login: Login, redirect_url: str, state: str) -> BegunLogin:
    """Return a login that begins. Raises ConfigurationError, UpstreamError, UpstreamTimeout."""
    async with _exchange(login) as exchange:
        endpoints = await _endpoints(login, exchange, "authorization_endpoint", login.authorization_url)
    login = await login.registered(redirect_url)
    address = endpoints["authorization_endpoint"]
    grant = replace(login.grant, token_url=endpoints["token_endpoint"])
    login = replace(login, authorization_url=address, grant=grant, register=None)
    verifier = secrets.token_urlsafe(48)
    parameters = {
        "response_type": "code",
        "client_id": grant.client_id,
        "redirect_uri": redirect_url,
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        **_wishes(grant),
    }
    address = f"{address}{'&' if '?' in address else '?'}{urlencode(parameters)}"
    return BegunLogin(login, redirect_url, address, state, verifier)


async def finish(begun: BegunLogin, code: str) -> Tokens:
    """Return the tokens for the code with which the browser came back. Raises UpstreamError, UpstreamTimeout."""
    fields = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": begun.redirect_url,
        "code_verifier": begun.verifier,
    }
    async with _exchange(begun.login) as exchange:
        return await _tokens(begun.login, begun.login.grant.token_url, fields, exchange)


def code_in(parameters: Mapping[str, str], login: Login) -> str:
    """Return the code with which an issuer sent a browser back (RFC 6749, 4.1.2; RFC 9207). Raises UpstreamError."""
    own = login.issuer or login.grant.issuer
    issuer = parameters.get("iss", "" if login.names_issuer else own)
    if own and issuer.rstrip("/") != own.rstrip("/"):
        raise UpstreamError("the answer came from a different issuer; the login failed")
    if not parameters.get("code"):
        details = ": ".join(parameters[key][:200] for key in ("error", "error_description") if parameters.get(key))
        message = f"the login was rejected ({details or 'no code arrived'})"
        raise UpstreamError(message)
    return parameters["code"]


async def log_in_by_device(login: Login, show: Callable[[str], None]) -> Tokens:
    """Log in by a code entered on another device and return the tokens. `show` receives the address and the code.

    Raises UpstreamError, UpstreamTimeout.
    """
    async with _exchange(login) as exchange:
        endpoints = await _endpoints(login, exchange, "device_authorization_endpoint", login.device_url)
        login = await login.registered(f"http://127.0.0.1{CALLBACK}")
        parameters = {"client_id": login.grant.client_id, **_wishes(login.grant)}
        answer = await post_as_client(login.grant, endpoints["device_authorization_endpoint"], parameters, exchange)
        try:
            data = json.loads(answer.body)
            device, code, where = data["device_code"], data["user_code"], data["verification_uri"]
            interval = float(data.get("interval") or _DEVICE_INTERVAL_S)
            ends = time.monotonic() + min(login.patience_s, float(data.get("expires_in") or login.patience_s))
        except (ValueError, KeyError, TypeError):
            message = f"no device code: the device authorization endpoint answered {answer.status}"
            raise UpstreamError(message, status=answer.status) from None
        show(str(data.get("verification_uri_complete") or where) + f"\nand enter the code {code}")
        fields = {"grant_type": DEVICE_GRANT, "device_code": str(device), **_resource(login.grant)}
        while time.monotonic() + interval < ends:
            await asyncio.sleep(interval)
            result = await _device_tokens(login, endpoints["token_endpoint"], fields, exchange)
            if isinstance(result, Tokens):
                return result
            interval += result
        raise UpstreamTimeout("the login was not completed in time; run the command again")


async def log_out(login: Login, tokens: Tokens) -> bool:
    """Revoke the tokens (RFC 7009). Return False if no revocation endpoint is known.

    Raises UpstreamError, UpstreamTimeout.
    """
    async with _exchange(login) as exchange:
        endpoints = await discover(login.grant.issuer, exchange) if login.grant.issuer else {}
        url = login.revocation_url or endpoints.get("revocation_endpoint", "")
        for kind in ("refresh_token", "access_token") if url else ():
            token = getattr(tokens, kind)
            parameters = {"token": token, "token_type_hint": kind}
            answer = await post_as_client(login.grant, url, parameters, exchange) if token else None
            if answer is not None and answer.status != _REVOKED:
                message = f"the revocation endpoint answered {answer.status}"
                raise UpstreamError(message, status=answer.status)
    return bool(url)


async def _device_tokens(login: Login, url: str, fields: Mapping[str, str], exchange: Exchange) -> Tokens | float:
    """Return the tokens, or the seconds to add to the poll interval."""
    pending = frozenset(("authorization_pending", "slow_down"))
    data = await ask_for_tokens(login.grant, url, fields, exchange, pending=pending)
    if "access_token" in data:
        return _tokens_from(login, url, data)
    return _DEVICE_INTERVAL_S if data["error"] == "slow_down" else 0.0


async def _tokens(login: Login, url: str, fields: Mapping[str, str], exchange: Exchange) -> Tokens:
    data = await ask_for_tokens(login.grant, url, {**fields, **_resource(login.grant)}, exchange)
    return _tokens_from(login, url, data)


def _resource(grant: OAuthGrant) -> dict[str, str]:
    """Return the field that binds tokens to a server (RFC 8707, 2.2)."""
    return {"resource": grant.resource} if grant.resource else {}


def _tokens_from(login: Login, url: str, data: Mapping[str, Any]) -> Tokens:
    before = Tokens("", "", 0.0, url, login.grant.client_id, " ".join(login.grant.scopes))
    if login.server:
        before = replace(
            before,
            client_secret=login.grant.client_secret,
            secret_in_body=login.grant.secret_in_body,
            resource=login.grant.resource,
            server=login.server,
            revocation_url=login.revocation_url,
        )
    return tokens_of(data, before, now=time.time())


def _wishes(grant: OAuthGrant) -> dict[str, str]:
    wishes = {"scope": " ".join(grant.scopes), "audience": grant.audience, "resource": grant.resource}
    return {name: value for name, value in wishes.items() if value}


async def _endpoints(login: Login, exchange: Exchange, name: str, configured: str) -> Mapping[str, str]:
    endpoints = dict(await discover(login.grant.issuer, exchange)) if login.grant.issuer else {}
    if configured:
        endpoints[name] = configured
    if login.grant.token_url:
        endpoints["token_endpoint"] = login.grant.token_url
    if name not in endpoints:
        message = f"the issuer {login.grant.issuer} names no {name}: configure it"
        raise ConfigurationError(message)
    origin(endpoints[name])
    return endpoints


@asynccontextmanager
async def _exchange(login: Login) -> AsyncIterator[Exchange]:
    """Yield connections to the configured endpoints. Redact the secrets in their errors."""
    addresses = (*login.grant.addresses, login.device_url, login.revocation_url)
    exchange = open_exchange(login.source, addresses, ca_file=login.ca_file)
    try:
        yield exchange
    except (UpstreamError, UpstreamTimeout) as error:
        Redactor(login.grant.secrets).clean(error)
        raise
    finally:
        await exchange.aclose()


class _Callback:
    """A local server that waits for the browser's redirect with a code."""

    def __init__(self, login: Login, state: str) -> None:
        self._login = login
        self._state = state
        self._arrived: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._host = ""

    @classmethod
    @asynccontextmanager
    async def listening(cls, login: Login, state: str) -> AsyncIterator[_Callback]:
        callback = cls(login, state)
        try:
            server = await callback._listen(login.redirect_port or login.preferred_port, is_any=not login.redirect_port)
        except OSError as error:
            message = f"cannot listen on 127.0.0.1:{login.redirect_port} (redirect_port): {error.strerror}"
            raise ConfigurationError(message) from None
        async with server:
            callback._host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
            yield callback

    async def _listen(self, port: int, *, is_any: bool) -> asyncio.Server:
        """Listen on a port, or on any free one if it is taken and another is as good. Raises OSError."""
        try:
            return await asyncio.start_server(self._serve, "127.0.0.1", port, limit=16_384)
        except OSError:
            if not is_any:
                raise
        return await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=16_384)

    @property
    def url(self) -> str:
        return f"http://{self._host}{CALLBACK}"

    async def code(self, patience_s: float) -> str:
        try:
            return await asyncio.wait_for(self._arrived, patience_s)
        except TimeoutError:
            raise UpstreamTimeout("the login was not completed in time; run the command again") from None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).decode("latin-1")
            status, text = self._respond(head)
            body = text.encode()
            reply = (
                f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
                "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n"
            )
            writer.write(reply.encode() + body)
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ConnectionError):
            pass  # not the browser, which opens its own connection
        finally:
            writer.close()

    def _respond(self, head: str) -> tuple[str, str]:
        """Return the response to a request. A request with the right state ends the wait."""
        request, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        method, _, rest = request.partition(" ")
        target = urlsplit(rest.partition(" ")[0])
        parameters = {name: values[0] for name, values in parse_qs(target.query).items()}
        is_ours = hmac.compare_digest(parameters.get("state", "").encode(), self._state.encode())
        if method != "GET" or target.path != CALLBACK or headers.get("host") != self._host or not is_ours:
            return "404 Not Found", "Nothing is here.\n"
        if not self._arrived.done():
            self._end(parameters)
        return "200 OK", "You can close this window.\n"

    def _end(self, parameters: Mapping[str, str]) -> None:
        try:
            self._arrived.set_result(code_in(parameters, self._login))
        except UpstreamError as error:
            self._arrived.set_exception(error)
