"""Servers for the length of a test leave what the test's own process does with signals as it is."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import httpx2

from codemode.testing.served import Served

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


async def empty(_: Scope, __: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def test_signals_stay_whose_they_are_in_whatever_order_servers_end() -> None:
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(each) for each in signals]
    first, second = Served(empty), Served(empty)
    await first.__aenter__()
    await second.__aenter__()
    async with httpx2.AsyncClient() as client:
        assert (await client.get(second.url)).status_code == 204  # it serves: it has done with signals what it does
    during = [signal.getsignal(each) for each in signals]
    await first.__aexit__()
    await second.__aexit__()
    assert during == before
    assert [signal.getsignal(each) for each in signals] == before
