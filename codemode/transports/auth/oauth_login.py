"""Logins of a person: authorization code with PKCE in a browser on this machine, or a code typed on another device.

RFC 6749, 4.1; RFC 7636 (PKCE, S256 alone); RFC 8252, 7.3 (loopback redirect); RFC 9207 (`iss`); RFC 8628 (device).
RFC 7009 (revocation).
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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from codemode.errors import ConfigurationError, UpstreamError, UpstreamTimeout
from codemode.transports.auth.oauth import ask_for_tokens, discover, post_as_client, tokens_of
from codemode.transports.auth.token_store import Tokens
from codemode.transports.http.addresses import Permitted, origin
from codemode.transports.http.exchange import Exchange
from codemode.transports.http.network import open_pool
from codemode.transports.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from codemode.transports.auth.grant import Grant

#: Seconds that a person has to log in.
PATIENCE_S = 300.0

#: Seconds between two questions where the service names no number, and what `slow_down` adds (RFC 8628, 3.5).
_DEVICE_INTERVAL_S = 5.0

_REVOKED = 200
_ANSWER_BYTES = 1024 * 1024
_CALLBACK = "/callback"


@dataclass(frozen=True, slots=True)
class Login:
    """How a person logs in. The addresses are the operator's; without them the grant's issuer names them.

    `redirect_port` is for services that know the redirect in advance; 0 takes a free one. `ca_file` is an authority of
    the operator's own, `patience_s` how long the person may take.
    """

    source: str
    grant: Grant
    authorization_url: str = ""
    device_url: str = ""
    redirect_port: int = 0
    ca_file: str | None = None
    patience_s: float = PATIENCE_S


async def log_in_by_browser(login: Login, show: Callable[[str], None]) -> Tokens:
    """Tokens by authorization code: `show` gets the address to open. Raises UpstreamError, UpstreamTimeout."""
    async with _exchange(login) as exchange:
        endpoints = await _endpoints(login, exchange, "authorization_endpoint", login.authorization_url)
        verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        async with _Callback.listening(login, state) as callback:
            asked = {
                "response_type": "code",
                "client_id": login.grant.client_id,
                "redirect_uri": callback.url,
                "state": state,
                "code_challenge": challenge,
                "code_challenge_method": "S256",
                **_wishes(login.grant),
            }
            address = endpoints["authorization_endpoint"]
            show(f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}")
            code = await callback.code(login.patience_s)
            fields = {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": callback.url,
                "code_verifier": verifier,
            }
        return await _tokens(login, endpoints["token_endpoint"], fields, exchange)


async def log_in_by_device(login: Login, show: Callable[[str], None]) -> Tokens:
    """Tokens by a code that a person types elsewhere: `show` gets where, and which. Raises UpstreamError."""
    async with _exchange(login) as exchange:
        endpoints = await _endpoints(login, exchange, "device_authorization_endpoint", login.device_url)
        asked = {"client_id": login.grant.client_id, **_wishes(login.grant)}
        answer = await post_as_client(login.grant, endpoints["device_authorization_endpoint"], asked, exchange)
        try:
            data = json.loads(answer.body)
            device, code, where = data["device_code"], data["user_code"], data["verification_uri"]
            interval = float(data.get("interval") or _DEVICE_INTERVAL_S)
            ends = time.monotonic() + min(login.patience_s, float(data.get("expires_in") or login.patience_s))
        except (ValueError, KeyError, TypeError):
            message = f"no device code: its endpoint answered {answer.status}"
            raise UpstreamError(message, status=answer.status) from None
        show(str(data.get("verification_uri_complete") or where) + f"\nand enter the code {code}")
        fields = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": str(device)}
        while time.monotonic() + interval < ends:
            await asyncio.sleep(interval)
            found = await _device_tokens(login, endpoints["token_endpoint"], fields, exchange)
            if isinstance(found, Tokens):
                return found
            interval += found
        raise UpstreamTimeout("nobody logged in in time; run the command again")


async def log_out(login: Login, tokens: Tokens) -> bool:
    """Have the tokens revoked (RFC 7009); False where no issuer names where. Raises UpstreamError, UpstreamTimeout."""
    async with _exchange(login) as exchange:
        found = await discover(login.grant.issuer, exchange) if login.grant.issuer else {}
        url = found.get("revocation_endpoint", "")
        for kind in ("refresh_token", "access_token") if url else ():
            token = getattr(tokens, kind)
            asked = {"token": token, "token_type_hint": kind}
            answer = await post_as_client(login.grant, url, asked, exchange) if token else None
            if answer is not None and answer.status != _REVOKED:
                message = f"the revocation endpoint answered {answer.status}"
                raise UpstreamError(message, status=answer.status)
    return bool(url)


async def _device_tokens(login: Login, url: str, fields: Mapping[str, str], exchange: Exchange) -> Tokens | float:
    """The tokens, or how many seconds longer to wait from now on."""
    pending = frozenset(("authorization_pending", "slow_down"))
    data = await ask_for_tokens(login.grant, url, fields, exchange, pending=pending)
    if "access_token" in data:
        return _made(login, url, data)
    return _DEVICE_INTERVAL_S if data["error"] == "slow_down" else 0.0


async def _tokens(login: Login, url: str, fields: Mapping[str, str], exchange: Exchange) -> Tokens:
    return _made(login, url, await ask_for_tokens(login.grant, url, fields, exchange))


def _made(login: Login, url: str, data: Mapping[str, Any]) -> Tokens:
    before = Tokens("", "", 0.0, url, login.grant.client_id, " ".join(login.grant.scopes))
    return tokens_of(data, before, now=time.time())


def _wishes(grant: Grant) -> dict[str, str]:
    wishes = {"scope": " ".join(grant.scopes), "audience": grant.audience}
    return {name: value for name, value in wishes.items() if value}


async def _endpoints(login: Login, exchange: Exchange, name: str, written: str) -> Mapping[str, str]:
    found = dict(await discover(login.grant.issuer, exchange)) if login.grant.issuer else {}
    if written:
        found[name] = written
    if login.grant.token_url:
        found["token_endpoint"] = login.grant.token_url
    if name not in found:
        message = f"the issuer {login.grant.issuer} names no {name}: write it"
        raise ConfigurationError(message)
    origin(found[name])
    return found


@asynccontextmanager
async def _exchange(login: Login) -> AsyncIterator[Exchange]:
    """Connections to the endpoints that the operator wrote; errors that pass here hold no secret."""
    written = [url for url in (*login.grant.addresses, login.device_url) if url]
    pool = open_pool(Permitted(tuple(origin(url) for url in written)), most=2, ca_file=login.ca_file)
    exchange = Exchange(login.source, timeout_s=30.0, limit_bytes=_ANSWER_BYTES, connections=pool)
    try:
        yield exchange
    except (UpstreamError, UpstreamTimeout) as error:
        Redactor(login.grant.secrets).clean(error)
        raise
    finally:
        await exchange.aclose()


class _Callback:
    """A server on this machine that waits for a browser to come back with a code."""

    def __init__(self, login: Login, state: str) -> None:
        self._issuer = login.grant.issuer
        self._state = state
        self._came: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._host = ""

    @classmethod
    @asynccontextmanager
    async def listening(cls, login: Login, state: str) -> AsyncIterator[_Callback]:
        callback = cls(login, state)
        try:
            server = await asyncio.start_server(callback._serve, "127.0.0.1", login.redirect_port, limit=16_384)
        except OSError as error:
            message = f"cannot listen on 127.0.0.1:{login.redirect_port} (redirect_port): {error.strerror}"
            raise ConfigurationError(message) from None
        async with server:
            callback._host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
            yield callback

    @property
    def url(self) -> str:
        return f"http://{self._host}{_CALLBACK}"

    async def code(self, patience_s: float) -> str:
        try:
            return await asyncio.wait_for(self._came, patience_s)
        except TimeoutError:
            raise UpstreamTimeout("nobody logged in in time; run the command again") from None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).decode("latin-1")
            status, text = self._answered(head)
            body = text.encode()
            reply = (
                f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
                "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n"
            )
            writer.write(reply.encode() + body)
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ConnectionError):
            pass  # whoever that was, the browser comes with a connection of its own
        finally:
            writer.close()

    def _answered(self, head: str) -> tuple[str, str]:
        """What a request gets; one with our state ends the wait, any other leaves it as it is."""
        request, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        method, _, rest = request.partition(" ")
        target = urlsplit(rest.partition(" ")[0])
        given = {name: values[0] for name, values in parse_qs(target.query).items()}
        is_ours = hmac.compare_digest(given.get("state", "").encode(), self._state.encode())
        if method != "GET" or target.path != _CALLBACK or headers.get("host") != self._host or not is_ours:
            return "404 Not Found", "Nothing is here.\n"
        if not self._came.done():
            self._end(given)
        return "200 OK", "You can close this window.\n"

    def _end(self, given: Mapping[str, str]) -> None:
        if "iss" in given and self._issuer and given["iss"].rstrip("/") != self._issuer.rstrip("/"):
            message = "the answer came from another issuer than was asked; nobody is logged in"
            self._came.set_exception(UpstreamError(message))
        elif given.get("code"):
            self._came.set_result(given["code"])
        else:
            said = ": ".join(given[key][:200] for key in ("error", "error_description") if given.get(key))
            self._came.set_exception(UpstreamError(f"the login was refused ({said or 'no code came'})"))
