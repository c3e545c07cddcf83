"""The catalog, a tool's page and the search playground in the browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.browser.server import AGENT, BOSS
from tests.browser.watched import NARROW_DARK, axe, fits, screenshot

if TYPE_CHECKING:
    from playwright.async_api import Page

    from tests.browser.conftest import Opens
    from tests.browser.server import Server

TOOL = "gym.memberships.freeze_membership"


async def test_the_catalog_is_filtered_as_one_types(page: Page, server: Server) -> None:
    await page.goto(f"{server.console}/catalog")
    await page.get_by_text("137 tools for the role default").wait_for()
    await axe(page)
    await screenshot(page, "catalog")
    await page.keyboard.press("/")
    await page.keyboard.type("freeze")
    await page.get_by_role("status").filter(has_text=re.compile(r"^\s*\d tools")).wait_for()
    await page.get_by_role("link", name=TOOL, exact=True).wait_for()
    await page.get_by_label("Effect").select_option("read")
    await page.get_by_text("0 tools").wait_for()
    await axe(page)


async def test_a_group_is_opened_and_left_again(page: Page, server: Server) -> None:
    await page.goto(f"{server.console}/catalog")
    groups = page.get_by_role("navigation", name="Groups")
    await groups.get_by_role("link", name="gym").click()
    await groups.get_by_role("link", name="memberships").click()
    await page.get_by_role("link", name=TOOL, exact=True).wait_for()
    await groups.get_by_role("link", name="All").click()
    await page.get_by_text("137 tools").wait_for()


async def test_rows_are_reached_and_opened_by_key(page: Page, server: Server) -> None:
    await page.goto(f"{server.console}/catalog?group=gym.memberships")
    await page.get_by_role("link", name=TOOL, exact=True).wait_for()
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("k")
    first = await page.locator("tbody tr a").first.inner_text()
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name=first, level=1).wait_for()


async def test_a_tool_shows_what_the_model_sees_and_who_decides(page: Page, server: Server) -> None:
    await page.goto(f"{server.console}/catalog/gym.core.get_gym_info")
    await page.get_by_text("by rule 1 (a person looks) for the role default: for a test").wait_for()
    assert "gym.core.get_gym_info(" in await page.get_by_role("region", name="Signature").inner_text()
    await page.get_by_text("in the 20 newest executions").wait_for()
    await axe(page)
    await page.goto(f"{server.console}/catalog/{TOOL}")
    await page.get_by_text("Schema of the arguments").click()
    await page.get_by_role("region", name="Schema of the arguments").wait_for()
    await axe(page)
    await screenshot(page, "tool")


async def test_approvers_look_as_another_role_and_others_do_not(open_page: Opens, server: Server) -> None:
    async with open_page(BOSS) as (page, _):
        await page.goto(f"{server.console}/catalog")
        await page.get_by_label("As role").select_option("default")
        await page.get_by_text("tools for the role default").wait_for()
    async with open_page(AGENT) as (page, watch):
        await page.goto(f"{server.console}/catalog?role=approver")
        watch.expected.append("403")
        await page.get_by_text("only approvers may look as another role").wait_for()


async def test_the_playground_says_why_a_hit_matched(page: Page, server: Server) -> None:
    await page.goto(f"{server.console}/search")
    await page.keyboard.type("freeze a membership")  # the field has the focus
    await page.get_by_role("button", name="Search").click()
    hit = page.locator(".hits li").first
    await hit.get_by_role("link", name=TOOL).wait_for()
    assert "name" in await hit.locator("dt").all_inner_texts()
    assert {"freeze", "membership"} <= set(await hit.locator("mark").all_inner_texts())
    await hit.get_by_text("What makes the score").click()
    await hit.get_by_text("query covered").wait_for()
    await page.get_by_role("region", name="Answer").wait_for()
    await axe(page)
    await screenshot(page, "search")


async def test_the_page_of_an_execution_leads_to_its_searches(page: Page, server: Server) -> None:
    code = "print(search(['freeze a membership', 'who came today']))\nprint(search('list clients'))"
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {AGENT}"}) as client:
        run = await client.post(f"{server.url}/v1/execute", json={"code": code})
    await page.goto(f"{server.console}/executions/{run.json()['id']}")
    await axe(page)
    await screenshot(page, "searches")
    await page.get_by_role("link", name="freeze a membership, who came today").click()
    await page.locator(".hits li").first.get_by_text("query covered").wait_for()
    await axe(page)


async def test_the_playground_says_when_it_is_not_sure(page: Page, server: Server) -> None:
    await page.goto(f"{server.console}/search?q=translate+poem+into+latin%0D%0Axyzzy")
    await page.get_by_text("not sure", exact=True).wait_for()
    await page.get_by_text("No tool has any of these words.").wait_for()
    await axe(page)


@pytest.mark.parametrize("place", ["catalog", f"catalog/{TOOL}", "search?q=freeze+a+membership", "shortcuts", "login"])
async def test_pages_work_narrow_and_dark_without_scripts(open_page: Opens, server: Server, place: str) -> None:
    async with open_page(AGENT, **NARROW_DARK, java_script_enabled=False) as (page, _):
        await page.goto(f"{server.console}/{place}")
        assert await page.get_by_role("heading", level=1).count() == 1
        assert await fits(page)
    async with open_page(AGENT, **NARROW_DARK) as (page, _):
        await page.goto(f"{server.console}/{place}")
        await axe(page)
