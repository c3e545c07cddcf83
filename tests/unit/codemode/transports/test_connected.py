"""The transports of the accounts of a source."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from codemode.errors import CredentialsMissing
from codemode.testing import make_tool
from codemode.transports.auth.account import READER, Account
from codemode.transports.base import CallContext, Page
from codemode.transports.connected import ConnectedTransport

TOOL = make_tool("api.work")


class Own:
    """The transport of one account. `gate` lets its calls end."""

    idempotency_header = ""

    def __init__(self, account: Account) -> None:
        self.account = account
        self.is_open = True
        self.gate = asyncio.Event()
        self.gate.set()

    async def call(self, _tool: object, _arguments: object, _context: CallContext) -> Any:
        await self.gate.wait()
        assert self.is_open
        return self.account.connection

    async def call_page(self, tool: object, arguments: object, context: CallContext) -> Page:
        return Page(await self.call(tool, arguments, context), [], None)

    async def aclose(self) -> None:
        self.is_open = False


class Place:
    """Opens transports, and remembers them."""

    def __init__(self, most_open: int = 2) -> None:
        self.opened: list[Own] = []
        self.fails = False
        self.transport = ConnectedTransport("api", self.open, most_open=most_open)

    async def open(self, account: Account) -> Own:
        await asyncio.sleep(0)
        if self.fails:
            raise CredentialsMissing("nobody is logged in", hint="log in")
        self.opened.append(Own(account))
        return self.opened[-1]

    async def call(self, account: Account | None) -> Any:
        return await self.transport.call(TOOL, {}, CallContext(account=account))


async def test_a_call_without_an_account_is_refused() -> None:
    place = Place()
    with pytest.raises(CredentialsMissing, match="did not say which account of api it uses; nothing was sent"):
        await place.call(None)
    assert place.opened == []


async def test_each_account_and_each_login_has_a_transport_of_its_own() -> None:
    place = Place(most_open=9)
    accounts = [READER, Account("a"), Account("a", "ann"), Account("a", "bob"), Account("a", "bob", "login 2")]
    for account in accounts * 2:
        await place.call(account)
    assert [one.account for one in place.opened] == accounts


async def test_calls_at_the_same_time_open_one_transport() -> None:
    place = Place()
    await asyncio.gather(*(place.call(Account("a")) for _ in range(5)))
    assert len(place.opened) == 1


async def test_the_transport_that_was_not_used_for_the_longest_time_is_closed() -> None:
    place = Place()
    for name in ("a", "b", "a", "c"):
        await place.call(Account(name))
    assert [one.account.connection for one in place.opened if one.is_open] == ["a", "c"]
    assert await place.call(Account("b")) == "b"


async def test_a_transport_in_use_stays_open() -> None:
    place = Place(most_open=1)
    await place.call(Account("a"))
    place.opened[0].gate.clear()
    under_way = asyncio.create_task(place.call(Account("a")))
    await asyncio.sleep(0)
    await place.call(Account("b"))
    place.opened[0].gate.set()
    assert await under_way == "a"


async def test_an_account_that_cannot_be_opened_is_tried_again() -> None:
    place = Place()
    place.fails = True
    with pytest.raises(CredentialsMissing):
        await place.call(Account("a"))
    place.fails = False
    assert await place.call(Account("a")) == "a"


async def test_closing_closes_all() -> None:
    place = Place()
    for name in ("a", "b"):
        await place.call(Account(name))
    await place.transport.aclose()
    assert not any(one.is_open for one in place.opened)
