"""Every page with the content of a team: in light, in dark and on a phone, without a violation or a broken table."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.browser.busy_team import Team, busy_team
from tests.browser.server import AGENT, BOSS
from tests.browser.watched import looks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.browser.conftest import Opens
    from tests.conftest import Gym

#: Pages below the console, by the names of their pictures. `{…}` are ids of the team.
PAGES = {
    "overview-busy": "overview",
    "executions-busy": "executions",
    "execution-grouped": "executions/{several}",
    "execution-failed": "executions/{failed}",
    "execution-paused": "executions/{paused}",
    "execution-refused": "executions/{refused}",
    "approvals-busy": "approvals",
    "plans": "plans",
    "plan": "plans/{plan}",
    "conversations": "conversations",
    "saved": "saved",
    "saved-program": "saved/saved.clients_by_status",
    "files": "files",
    "notifications": "notifications",
    "policy": "policy?tool=gym.salary.pay_salary&role=default",
    "sources": "sources",
    "source-unavailable": "sources/billing",
    "keys": "keys",
    "audit": "audit",
    "catalog": "catalog",
    "cost": "cost",
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def team(tmp_path_factory: Any, gym: Gym) -> AsyncIterator[Team]:
    """A server with the content of a day."""
    async with busy_team(tmp_path_factory.mktemp("team"), gym) as running:
        yield running


@pytest.mark.parametrize("name", PAGES)
async def test_a_page_with_content(open_page: Opens, team: Team, name: str) -> None:
    place = PAGES[name].format(**team.executions, plan=team.plan)
    key = AGENT if name == "files" else BOSS  # files are shown to their own key only
    async with open_page(key, server=team.server) as (page, _):
        await page.goto(f"{team.server.console}/{place}")
        await looks(page, name)


async def test_calls_that_wait_are_drawn_beside_the_line_that_waits(open_page: Opens, team: Team) -> None:
    async with open_page(BOSS, server=team.server) as (page, _):
        await page.goto(f"{team.server.console}/executions/{team.executions['paused']}")
        bars = page.locator("#waterfall g[role=button][data-state=pending] text")
        await bars.nth(2).wait_for()
        drawn = [(text or "").strip() for text in await bars.all_text_contents()]
        assert drawn == [f'‖ …create_lead(name="{name}")' for name in ("Ann", "Mallory", "Cleo")]
        assert await page.locator(".source .waiting").count() == 1


@pytest.mark.parametrize("key", [AGENT, BOSS])
async def test_no_link_of_the_console_leads_to_an_error(open_page: Opens, team: Team, key: str) -> None:
    async with open_page(key, server=team.server) as (page, _):
        ahead, seen, refused = [f"{team.server.console}/overview"], set(), []
        while ahead:
            place = ahead.pop()
            answer = await page.request.get(place)
            if answer.status >= 400:
                refused.append((place, answer.status))
            links = re.findall(r'href="([^"#]+)"', await answer.text())
            for link in (html.unescape(one).partition("?")[0] for one in links):
                if link.startswith("/console/") and link not in seen:
                    seen.add(link)
                    ahead.append(f"{team.server.url}{link}")
        assert refused == []
        assert len(seen) > 150  # with each tool of the catalog's first page


async def test_a_conversation_is_reached_and_its_values_deleted(open_page: Opens, team: Team) -> None:
    async with open_page(AGENT, server=team.server) as (page, _):
        await page.goto(f"{team.server.console}/conversations")
        await page.locator("tbody a").click()
        await page.get_by_role("heading", name="Stored values").wait_for()
        await looks(page, "conversation")
        assert "budget" in await page.locator("main").inner_text()
        await page.get_by_text("Delete the stored values").first.click()
        await page.get_by_role("button", name="Delete 3 values").click()
        await page.get_by_role("status").filter(has_text="3 values deleted").wait_for()
