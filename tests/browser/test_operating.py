"""The pages for operators: sources, audit records, and the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio

from tests.browser.server import AGENT, BOSS, CONFIGURATION, Server, serving
from tests.browser.watched import NARROW_DARK, axe, fits, looks, screenshot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.browser.conftest import Opens
    from tests.conftest import Gym

#: A program text that would spoof a row of the table.
_HOSTILE = "</td><td>approved\u202e"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def audited(tmp_path_factory: Any, gym: Gym) -> AsyncIterator[Server]:
    """A server with an audit file, in which one program has called a tool."""
    configuration = CONFIGURATION + "observe: {{audit_file: {folder}/audit.jsonl}}\n"
    with serving(tmp_path_factory.mktemp("audited"), gym, configuration) as server:
        headers = {"Authorization": f"Bearer {AGENT}"}
        async with httpx2.AsyncClient(headers=headers, timeout=200) as client:
            code = f"gym.trainers.get_trainers_list(limit=1)\ngym.clients.get_clients_list(name={_HOSTILE!r})"
            answer = await client.post(f"{server.url}/v1/execute", json={"code": code})
            assert answer.json()["status"] == "completed", answer.text[:500]
        yield server


async def test_audit_records_are_filtered(open_page: Opens, audited: Server) -> None:
    async with open_page(BOSS, server=audited) as (page, _):
        await page.goto(f"{audited.console}/audit")
        rows = page.locator("tbody tr")
        assert await rows.count() == 6  # two lines for each call
        await axe(page)
        await screenshot(page, "audit")
        assert "</td><td>approved\\u202e" in await page.locator("tbody").inner_text()
        await page.get_by_label("Tool").fill("trainers")
        await page.get_by_role("button", name="Show").click()
        await page.wait_for_url("**tool=trainers**")
        assert await rows.count() == 2
        await page.get_by_role("link", name="ex_").first.click()
        await page.wait_for_url("**/executions/ex_*")


async def test_the_state_of_the_server(open_page: Opens, audited: Server) -> None:
    async with open_page(BOSS, server=audited, **NARROW_DARK) as (page, _):
        await page.goto(f"{audited.console}/server")
        await page.get_by_role("cell", name="in force").first.wait_for()
        text = await page.locator("main").inner_text()
        assert AGENT not in text
        assert BOSS not in text
        assert await fits(page)
        await axe(page)


@pytest.mark.parametrize("place", ["plans", "conversations", "files"])
async def test_an_empty_page_in_light_dark_and_on_a_phone(open_page: Opens, audited: Server, place: str) -> None:
    async with open_page(BOSS, server=audited) as (page, _):
        await page.goto(f"{audited.console}/{place}")
        await looks(page, f"{place}-empty")


async def test_the_health_of_a_source(open_page: Opens, audited: Server) -> None:
    async with open_page(BOSS, server=audited) as (page, _):
        await page.goto(f"{audited.console}/sources")
        await axe(page)
        await screenshot(page, "sources")
        await page.get_by_role("link", name="gym", exact=True).click()
        await page.get_by_role("heading", name="Source gym").wait_for()
        await axe(page)


@pytest.mark.parametrize("place", ["audit", "server", "sources/gym"])
async def test_other_keys_see_no_operators_page(open_page: Opens, audited: Server, place: str) -> None:
    async with open_page(AGENT, server=audited) as (page, watch):
        watch.expected.append("403")
        await page.goto(f"{audited.console}/{place}")
        await page.get_by_text("this page is for the roles that approve calls (approver)").wait_for()
