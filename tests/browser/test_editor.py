"""The editor: completion from the catalog, mistakes at their lines, dry run and run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.server import AGENT
from tests.browser.watched import NARROW_DARK, axe, fits, screenshot

if TYPE_CHECKING:
    from playwright.async_api import Page

    from tests.browser.conftest import Opens
    from tests.browser.server import Server

#: The completions that can be chosen: not those of a query that is under way.
_READY = ".cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled) li"

_WRITES = "gym.leads.delete_lead(leadId=1)"


async def _type(page: Page, server: Server, text: str) -> None:
    await page.goto(f"{server.console}/editor")
    await page.get_by_role("textbox", name="Program").click()
    await page.keyboard.type(text)


async def test_names_are_completed_by_the_keyboard(page: Page, server: Server) -> None:
    await _type(page, server, "gym.trai")
    await page.locator(_READY, has_text="gym.trainers").first.wait_for()
    await axe(page)
    await screenshot(page, "editor")
    await page.keyboard.press("Enter")
    await page.keyboard.type(".get_trainers")
    await page.locator(_READY, has_text="gym.trainers.get_trainers_list").first.click()
    assert await page.locator("#code").input_value() == "gym.trainers.get_trainers_list"


async def test_mistakes_are_shown_at_their_lines(page: Page, server: Server) -> None:
    await _type(page, server, "x = 1\ngym.clients.get_clients_list(nam='a')")
    await page.locator("#mistakes", has_text="Line 2: gym.clients.get_clients_list() has no parameter 'nam'").wait_for()
    await page.locator(".cm-lintRange-error").first.wait_for()
    await axe(page)


async def test_a_program_is_run_by_the_keyboard_alone(page: Page, server: Server) -> None:
    await _type(page, server, "6 * 7")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/executions/ex_*")
    await page.locator("#outcome pre", has_text="42").wait_for()


async def test_a_dry_run_lists_writes_in_place(page: Page, server: Server) -> None:
    await _type(page, server, _WRITES)
    await page.get_by_role("button", name="Dry run").click()
    await page.get_by_role("cell", name="gym.leads.delete_lead #1").wait_for()
    assert await page.locator("#code").input_value() == _WRITES
    await axe(page)


async def test_without_scripts_on_a_narrow_screen(open_page: Opens, server: Server) -> None:
    async with open_page(AGENT, java_script_enabled=False, **NARROW_DARK) as (page, _):
        await page.goto(f"{server.console}/editor")
        assert await fits(page)
        await page.get_by_role("textbox", name="Program").fill("print('</pre><script>')\n1 / 0")
        await page.get_by_role("button", name="Dry run").click()
        await page.get_by_text("line 2: ZeroDivisionError").wait_for()
        await page.get_by_text("</pre><script>").last.wait_for()
        assert await fits(page)
