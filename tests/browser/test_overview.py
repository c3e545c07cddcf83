"""The front page and the list of executions: what runs, waits and failed, and who did it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest_asyncio

from tests.browser.server import AGENT, BOSS, Server, serving
from tests.browser.watched import looks, screenshot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.browser.conftest import Opens
    from tests.conftest import Gym

PROGRAMS = {
    "completed": "import asyncio\n# List the trainers\ngym.trainers.get_trainers_list(limit=2)",
    "failed": "trainers = gym.trainers.get_trainers_list(limit=2)\nraise ValueError('no trainer is free')",
    "paused": "# Read the gym's data\ngym.core.get_gym_info()",
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def busy(tmp_path_factory: Any, gym: Gym) -> AsyncIterator[tuple[Server, dict[str, str]]]:
    """A server that ran one program of each kind, and the ids of these executions."""
    with serving(tmp_path_factory.mktemp("busy"), gym) as server:
        ids = {}
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {AGENT}"}, timeout=200) as client:
            for status, code in PROGRAMS.items():
                answer = (await client.post(f"{server.url}/v1/execute", json={"code": code})).json()
                assert answer["status"] == status, answer
                ids[status] = answer["id"]
        yield server, ids


async def test_the_front_page_says_what_needs_a_person(open_page: Opens, busy: Any) -> None:
    server, ids = busy
    async with open_page(BOSS, server=server) as (page, _):
        await page.goto(f"{server.console}/")
        await page.wait_for_url("**/overview")
        text = " ".join((await page.locator("main").inner_text()).split())
        assert "1 waiting for a decision" in text
        assert "1 failed today" in text
        assert "1 completed today" in text
        assert "ValueError: no trainer is free" in text
        assert "Ada's agent" in text
        assert (await page.title()).startswith("(1) ")
        assert await page.locator("#waiting").inner_text() == "1"
        await looks(page, "overview")
        await screenshot(page, "overview")
        data = await (await page.request.get(f"{server.console}/overview?format=json")).json()
        assert data["by_source"] == [{"name": "gym", "calls": 3, "cost": None}]
        assert "Unknown: write the prices of your model's tokens" in text
        assert data["hours"][-1]["calls"] + data["hours"][-2]["calls"] == 3
        await page.get_by_role("link", name="failed today").click()
        await page.get_by_role("link", name="trainers = gym").click()
        await page.wait_for_url(f"**/{ids['failed']}")


async def test_executions_are_found_by_what_they_do(open_page: Opens, busy: Any) -> None:
    server, _ = busy
    async with open_page(BOSS, server=server) as (page, _watch):
        await page.goto(f"{server.console}/executions")
        rows = page.locator("#executions tbody tr")
        assert await rows.count() == 3
        assert "waits for gym.core.get_gym_info" in await page.locator("#executions").inner_text()
        await looks(page, "executions")
        await page.get_by_role("link", name="failed", exact=True).click()
        await page.wait_for_url("**status=failed**")
        assert "no trainer is free" in await rows.inner_text()
        await page.get_by_role("link", name="yesterday").click()
        await page.get_by_text("No execution fits the filters.").wait_for()
        await page.goto(f"{server.console}/executions?text=LIST the")
        assert await rows.get_by_role("link", name="List the trainers").count() == 1
        await page.get_by_role("link", name="Ada's agent").first.click()
        await page.wait_for_url("**owner=**")
        assert await rows.count() == 1


async def test_the_sections_of_a_phone_are_behind_a_button(open_page: Opens, busy: Any) -> None:
    server, _ = busy
    async with open_page(BOSS, server=server, viewport={"width": 400, "height": 800}) as (page, _watch):
        await page.goto(f"{server.console}/overview")
        link = page.get_by_role("link", name="Catalog", exact=True)
        assert not await link.is_visible()
        await page.get_by_role("button", name="Menu").click()
        await looks(page, "menu")
        await link.click()
        await page.wait_for_url("**/catalog")


async def test_a_person_gets_no_link_to_a_page_that_refuses_them(open_page: Opens, busy: Any) -> None:
    server, _ = busy
    async with open_page(AGENT, server=server) as (page, _watch):
        await page.goto(f"{server.console}/sources")
        places = await page.locator("a[href]").evaluate_all("links => links.map(link => link.href)")
        statuses = {place: (await page.request.get(place)).status for place in set(places)}
        assert {place for place, status in statuses.items() if status >= 400} == set()
