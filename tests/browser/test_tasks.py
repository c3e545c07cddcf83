"""What people come to the console for, with the number of clicks that each takes from the front page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from playwright.async_api import Error

from tests.browser.busy_team import Team, busy_team
from tests.browser.server import BOSS
from tests.command_line import script

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from playwright.async_api import Locator, Page

    from tests.browser.conftest import Opens
    from tests.conftest import Gym


class Person:
    """Somebody at the front page of the console, whose clicks are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    async def click(self, place: Locator) -> None:
        """Click once."""
        await place.click()
        self.clicks += 1

    async def link(self, name: str, *, exact: bool = False) -> None:
        """Follow a link."""
        await self.click(self.page.get_by_role("link", name=name, exact=exact).first)

    async def button(self, name: str) -> None:
        """Press a button."""
        await self.click(self.page.get_by_role("button", name=name).first)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def team(tmp_path_factory: Any, gym: Gym) -> AsyncIterator[tuple[Team, Path]]:
    """A server with the content of a day, and its folder."""
    folder = tmp_path_factory.mktemp("tasks")
    async with busy_team(folder, gym) as running:
        yield running, folder


async def test_a_person_finds_what_failed_yesterday_in_one_click_and_why_today_in_none(
    open_page: Opens, team: Any
) -> None:
    async with open_page(BOSS, server=team[0].server) as (page, _):
        await page.goto(f"{team[0].server.console}/overview")
        await page.get_by_text("ValueError: no trainer is free on Saturday").wait_for()
        person = Person(page)
        await person.link("yesterday")
        await page.wait_for_url("**/executions?status=failed&when=yesterday")
        await page.get_by_text("No execution fits the filters.").wait_for()
        assert person.clicks == 1


async def test_a_person_approves_two_of_three_equal_calls_in_four_clicks(open_page: Opens, team: Any) -> None:
    async with open_page(BOSS, server=team[0].server) as (page, _):
        await page.goto(f"{team[0].server.console}/overview")
        person = Person(page)
        await person.link("Approvals")
        for name in ("Ann", "Mallory", "Cleo"):
            card = page.locator("#inbox li", has=page.locator("dd", has_text=name))
            await person.click(card.get_by_role("button", name="Reject" if name == "Mallory" else "Approve"))
            await page.get_by_role("status").filter(has_text="1 call: ").wait_for()
        assert person.clicks == 4
        await page.goto(f"{team[0].server.console}/executions/{team[0].executions['paused']}")
        assert await page.get_by_text("Waits for a decision").count() == 0
        ledger = (await (await page.request.get(f"{page.url}?format=json")).json())["calls"]
    states = {call["arguments"]["name"]: call["state"] for call in ledger}
    assert states == {"Ann": "committed", "Mallory": "rejected", "Cleo": "committed"}


async def test_a_person_says_what_a_program_did_after_two_clicks(open_page: Opens, team: Any) -> None:
    async with open_page(BOSS, server=team[0].server) as (page, _):
        await page.goto(f"{team[0].server.console}/overview")
        person = Person(page)
        await person.link("Executions", exact=True)
        await person.link("Read the visits of many clients")
        await page.get_by_role("heading", name="Read the visits of many clients").wait_for()
        await page.get_by_role("button", name="50 calls of gym.clients.get_client_visits, read").wait_for()
        text = await page.locator("main").inner_text()
        assert "started by Ada's agent (default)" in text
        assert "read 50" in text
        assert person.clicks == 2


async def test_a_person_stops_a_runaway_in_two_clicks(open_page: Opens, team: Any) -> None:
    async with open_page(BOSS, server=team[0].server) as (page, _):
        await page.goto(f"{team[0].server.console}/overview")
        person = Person(page)
        await person.link("Watch the attendance")
        await person.button("Cancel")
        await page.locator("#status .badge", has_text="cancelled").wait_for()
        assert person.clicks == 2


async def test_a_person_rotates_their_key_in_two_clicks_and_sees_it_once(open_page: Opens, team: Any) -> None:
    running, folder = team
    made = script("keys", "create", "--role", "approver", "--label", "Night shift", "--json", folder=folder)
    key = json.loads(made.stdout)["key"]
    async with open_page(key, server=running.server) as (page, _):
        await page.goto(f"{running.server.console}/overview")
        person = Person(page)
        await person.link("Keys")
        await person.button("Rotate")
        new = await page.get_by_role("alert").locator("pre").inner_text()
        assert person.clicks == 2
        assert new.startswith("cm_") and new != key
        await page.goto(f"{running.server.console}/keys")
        assert new not in await page.content()
        with pytest.raises(Error, match="ERR_CACHE_MISS"):  # the browser has kept no copy of the answer
            await page.go_back()
    async with open_page(new, server=running.server) as (page, _):
        await page.get_by_role("heading", name="Overview").wait_for()
