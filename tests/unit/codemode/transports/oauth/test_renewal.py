"""Token renewal while calls wait for it, and give up."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest

from codemode.errors import UpstreamError, UpstreamUnreachable
from codemode.shared.files import token_file
from codemode.sources.openapi.document import load_openapi
from codemode.transports.auth.grant import OAuthGrant
from codemode.transports.auth.requirements import Authentication, Configured, SchemeKind
from codemode.transports.auth.token_store import Tokens, TokenStore
from codemode.transports.base import CallContext
from codemode.transports.http.transport import HttpTransport, Reach
from codemode.transports.oauth.tokens import TokenSource
from tests.disk import disk_of
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

TOOL = load_openapi({"openapi": "3.1.0", "paths": {"/x": {"post": {"operationId": "op"}}}}, name="api").tools[0]


class Rotating:
    """A service with a token endpoint. Refresh tokens are valid for one use; `hold` delays the answer."""

    def __init__(self) -> None:
        self.good = "refresh-0"
        self.asked: list[str] = []
        self.sent = 0
        self.life: object = 3600
        self.came = asyncio.Event()
        self.hold = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        body = (await reader.readexactly(int(headers.get("content-length", "0")))).decode()
        status, answer = ("200 OK", "[1]")
        if head.split()[1] == "/token":
            status, answer = await self._renewed(parse_qs(body)["refresh_token"][0])
        else:
            self.sent += 1
        start = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n"
        writer.write(f"{start}Connection: close\r\n\r\n{answer}".encode())

    async def _renewed(self, token: str) -> tuple[str, str]:
        self.asked.append(token)
        if token != self.good:
            return "400 Bad Request", json.dumps({"error": "invalid_grant", "error_description": f"{token} was used"})
        self.good = f"refresh-{len(self.asked)}"
        self.came.set()
        await self.hold.wait()
        tokens = {"access_token": "an-access-token", "refresh_token": self.good, "expires_in": self.life}
        return "200 OK", json.dumps(tokens)


def by(grant: OAuthGrant, url: str, timeout_s: float) -> HttpTransport:
    authentication = Authentication("api", [Configured(SchemeKind.OAUTH2, grant)])
    return HttpTransport(Reach("api", url, timeout_s=timeout_s), authentication=authentication, open_tokens=TokenSource)


@asynccontextmanager
async def over(service: Rotating, *, timeout_s: float = 30.0) -> AsyncIterator[HttpTransport]:
    async with listening(service.answer) as port:
        url = f"http://127.0.0.1:{port}"
        transport = by(OAuthGrant(f"{url}/token", "me", refresh_token="refresh-0"), url, timeout_s)
        try:
            yield transport
        finally:
            await transport.aclose()


class Login:
    """A login in a folder with an expired access token. Each transport acts as a separate process."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._url = url
        self.store().write(Tokens("old-access", "refresh-0", 0.0, f"{url}/token", "me"))

    def store(self) -> TokenStore:
        return TokenStore(token_file(self._folder, "api"), "api")

    def transport(self, *, timeout_s: float = 30.0) -> HttpTransport:
        return by(OAuthGrant(f"{self._url}/token", "me", store=self.store()), self._url, timeout_s)

    @property
    def refresh_token(self) -> str:
        kept = self.store().read()
        return kept.refresh_token if kept is not None else ""


@asynccontextmanager
async def logged_in(service: Rotating, folder: Path) -> AsyncIterator[Login]:
    async with listening(service.answer) as port:
        yield Login(folder, f"http://127.0.0.1:{port}")


async def test_who_gives_up_while_a_token_is_renewed_does_not_lose_the_next_refresh_token() -> None:
    service = Rotating()
    async with over(service) as transport:
        given_up = asyncio.create_task(transport.call(TOOL, {}, CallContext()))
        await service.came.wait()
        given_up.cancel()
        await asyncio.wait((given_up,))
        service.hold.set()
        assert await transport.call(TOOL, {}, CallContext()) == [1]
    assert (service.asked, service.sent) == (["refresh-0"], 1)


async def test_all_who_wait_get_the_token_of_one_renewal_or_its_error() -> None:
    service = Rotating()
    async with over(service) as transport:
        calls = [asyncio.create_task(transport.call(TOOL, {}, CallContext())) for _ in range(8)]
        await service.came.wait()
        service.hold.set()
        assert await asyncio.gather(*calls) == [[1]] * 8
        assert service.asked == ["refresh-0"]
    service.good = "of another client"
    async with over(service) as transport:
        failed = await asyncio.gather(
            *(transport.call(TOOL, {}, CallContext()) for _ in range(8)), return_exceptions=True
        )
        told = "no access token: the token endpoint answered 400 (invalid_grant: [redacted] was used)"
        assert [(type(one), str(one)) for one in failed] == [(UpstreamError, told)] * 8
        assert service.asked == ["refresh-0", "refresh-0"]
    assert service.sent == 8


async def test_where_no_token_comes_in_time_nothing_was_sent() -> None:
    service = Rotating()
    async with over(service, timeout_s=0.3) as transport:
        with pytest.raises(UpstreamUnreachable, match="nothing was sent"):
            await transport.call(TOOL, {}, CallContext())
    assert service.sent == 0


@pytest.mark.parametrize("life", [10**400, -1, None, [], "soon"])
async def test_a_life_that_is_none_is_no_reason_to_fail(life: object) -> None:
    service = Rotating()
    service.hold.set()
    service.life = life
    async with over(service) as transport:
        assert await transport.call(TOOL, {}, CallContext()) == [1]


async def test_a_login_that_cannot_be_written_is_used_told_of_once_and_written_with_a_later_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service = Rotating()
    service.hold.set()
    service.life = 1  # it is renewed with each call
    async with logged_in(service, tmp_path) as login:
        transport = login.transport()
        with disk_of(16):
            for _ in range(3):
                assert await transport.call(TOOL, {}, CallContext()) == [1]
            assert login.refresh_token == "refresh-0"
        assert service.asked == ["refresh-0", "refresh-1", "refresh-2"]
        (said,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
        assert "the renewed login at api cannot be stored (File too large): it is lost when" in said
        assert "refresh-" not in caplog.text
        service.life = 3600
        assert await transport.call(TOOL, {}, CallContext()) == [1]
        assert login.refresh_token == "refresh-4"
        await transport.aclose()
    assert sorted(os.listdir(tmp_path)) == ["api.json", "api.json.lock", "api.lock"]  # noqa: PTH208 -- nothing waits for it


async def test_a_login_that_could_not_be_written_is_without_a_renewal_too_and_at_the_end(tmp_path: Path) -> None:
    service = Rotating()
    service.hold.set()
    async with logged_in(service, tmp_path) as login:
        transport = login.transport()
        with disk_of(16):
            assert await transport.call(TOOL, {}, CallContext()) == [1]
        assert await transport.call(TOOL, {}, CallContext()) == [1]
        await transport.aclose()
        assert login.refresh_token == "refresh-1"
    assert service.asked == ["refresh-0"]


async def test_nobody_spends_a_refresh_token_whose_next_is_not_written_yet(tmp_path: Path) -> None:
    service = Rotating()
    service.hold.set()
    async with logged_in(service, tmp_path) as login:
        first, second = login.transport(), login.transport(timeout_s=0.5)
        with disk_of(16):
            assert await first.call(TOOL, {}, CallContext()) == [1]
            with pytest.raises(UpstreamUnreachable, match="nothing was sent"):
                await second.call(TOOL, {}, CallContext())
        await first.aclose()
        assert await second.call(TOOL, {}, CallContext()) == [1]
        await second.aclose()
    assert service.asked == ["refresh-0"]


async def test_who_logs_out_meanwhile_is_not_logged_in_again(tmp_path: Path) -> None:
    service = Rotating()
    service.hold.set()
    async with logged_in(service, tmp_path) as login:
        transport = login.transport()
        with disk_of(16):
            assert await transport.call(TOOL, {}, CallContext()) == [1]
        login.store().remove()
        await transport.aclose()
        assert login.refresh_token == ""


async def test_a_server_that_stops_while_a_login_is_renewed_keeps_the_next_refresh_token(tmp_path: Path) -> None:
    service = Rotating()
    async with logged_in(service, tmp_path) as login:
        transport = login.transport()
        call = asyncio.create_task(transport.call(TOOL, {}, CallContext()))
        await service.came.wait()
        call.cancel()
        stopping = asyncio.create_task(transport.aclose())
        await asyncio.sleep(0)
        service.hold.set()
        await stopping
        assert login.refresh_token == "refresh-1"
