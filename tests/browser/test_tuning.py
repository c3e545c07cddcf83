"""The pages on which the catalog is judged: cost, menu tester, policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.server import AGENT, BOSS
from tests.browser.watched import NARROW_DARK, axe, fits, screenshot

if TYPE_CHECKING:
    from playwright.async_api import Page

    from tests.browser.conftest import Opens
    from tests.browser.server import Server


async def test_what_the_catalog_costs(page: Page, server: Server) -> None:
    await page.goto(f"{server.console}/cost")
    await page.get_by_role("img").wait_for()
    assert await page.locator("tbody tr").count() >= 3
    await axe(page)
    await screenshot(page, "cost")


async def test_the_menu_of_a_message(open_page: Opens, server: Server) -> None:
    async with open_page(AGENT, **NARROW_DARK) as (page, _):
        await page.goto(f"{server.console}/menus")
        await page.get_by_label("Message", exact=True).fill("yes")
        await page.get_by_label("Earlier messages").fill("Freeze the membership of Paul Weber")
        await page.get_by_role("button", name="Show the menu").click()
        await page.get_by_role("cell", name="freeze", exact=False).first.wait_for()
        assert await fits(page)
        await axe(page)


async def test_the_decision_on_a_call(boss_page: Page, server: Server) -> None:
    await boss_page.goto(f"{server.console}/policy")
    await boss_page.get_by_role("cell", name="rule 1 (a person looks)").wait_for()
    await axe(boss_page)
    await boss_page.get_by_label("Tool", exact=True).fill("gym.core.get_gym_info")
    await boss_page.get_by_role("button", name="Explain").click()
    await boss_page.get_by_role("status").filter(has_text="ask by rule 1 (a person looks): for a test").wait_for()
    await axe(boss_page)
    await screenshot(boss_page, "policy")


async def test_a_mistake_in_the_call_is_explained(boss_page: Page, server: Server) -> None:
    await boss_page.goto(f"{server.console}/policy?tool=gym.core.get_gym_inf")
    await boss_page.get_by_role("alert").filter(has_text="gym.core.get_gym_info").wait_for()
    await boss_page.goto(f"{server.console}/policy?tool=gym.core.get_gym_info&arguments=[")
    await boss_page.get_by_role("alert").filter(has_text="not JSON").wait_for()


async def test_the_policy_is_for_operators(open_page: Opens, server: Server) -> None:
    async with open_page(AGENT) as (page, watch):
        watch.expected.append("403")
        await page.goto(f"{server.console}/policy")
        await page.get_by_text("this page is for the roles that approve calls").wait_for()


async def test_as_json(open_page: Opens, server: Server) -> None:
    async with open_page(BOSS) as (page, _):
        answer = await page.request.get(f"{server.console}/policy?format=json")
        assert {"rules", "defaults", "quotas", "budgets", "explanation"} == set(await answer.json())
