"""Tokens that are renewed while calls wait for them, and give up."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest

from codemode.errors import UpstreamError, UpstreamUnreachable
from codemode.sources.openapi import load_openapi
from codemode.transports.http import HttpTransport, Reach
from codemode.transports.oauth import Grant
from codemode.transports.security import Authentication, Configured, SchemeKind
from tests.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TOOL = load_openapi({"openapi": "3.1.0", "paths": {"/x": {"post": {"operationId": "op"}}}}, name="api").tools[0]


class Rotating:
    """A service and its token endpoint: refresh tokens are good for one use, and `hold` keeps the answer back."""

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


@asynccontextmanager
async def over(service: Rotating, *, timeout_s: float = 30.0) -> AsyncIterator[HttpTransport]:
    async with listening(service.answer) as port:
        url = f"http://127.0.0.1:{port}"
        grant = Grant(f"{url}/token", "me", refresh_token="refresh-0")
        by = Authentication("api", [Configured(SchemeKind.OAUTH2, grant)])
        transport = HttpTransport(Reach("api", url, timeout_s=timeout_s), authentication=by)
        try:
            yield transport
        finally:
            await transport.aclose()


async def test_who_gives_up_while_a_token_is_renewed_does_not_lose_the_next_refresh_token() -> None:
    service = Rotating()
    async with over(service) as transport:
        given_up = asyncio.create_task(transport.call(TOOL, {}))
        await service.came.wait()
        given_up.cancel()
        await asyncio.wait((given_up,))
        service.hold.set()
        assert await transport.call(TOOL, {}) == [1]
    assert (service.asked, service.sent) == (["refresh-0"], 1)


async def test_all_who_wait_get_the_token_of_one_renewal_or_its_error() -> None:
    service = Rotating()
    async with over(service) as transport:
        calls = [asyncio.create_task(transport.call(TOOL, {})) for _ in range(8)]
        await service.came.wait()
        service.hold.set()
        assert await asyncio.gather(*calls) == [[1]] * 8
        assert service.asked == ["refresh-0"]
    service.good = "of another client"
    async with over(service) as transport:
        failed = await asyncio.gather(*(transport.call(TOOL, {}) for _ in range(8)), return_exceptions=True)
        told = "no access token: its endpoint answered 400 (invalid_grant: [redacted] was used)"
        assert [(type(one), str(one)) for one in failed] == [(UpstreamError, told)] * 8
        assert service.asked == ["refresh-0", "refresh-0"]
    assert service.sent == 8


async def test_where_no_token_comes_in_time_nothing_was_sent() -> None:
    service = Rotating()
    async with over(service, timeout_s=0.3) as transport:
        with pytest.raises(UpstreamUnreachable, match="nothing was sent"):
            await transport.call(TOOL, {})
    assert service.sent == 0


@pytest.mark.parametrize("life", [10**400, -1, None, [], "soon"])
async def test_a_life_that_is_none_is_no_reason_to_fail(life: object) -> None:
    service = Rotating()
    service.hold.set()
    service.life = life
    async with over(service) as transport:
        assert await transport.call(TOOL, {}) == [1]
