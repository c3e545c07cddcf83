"""The frame of the console: login, navigation, errors, keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.server import AGENT
from tests.browser.watched import NARROW_DARK, axe, fits, screenshot

if TYPE_CHECKING:
    from playwright.async_api import Page

    from tests.browser.conftest import Opens
    from tests.browser.server import Server


async def test_a_person_logs_in_and_out(open_page: Opens, server: Server) -> None:
    async with open_page("") as (page, watch):
        await page.goto(f"{server.console}/catalog?page=2")
        await axe(page)
        await screenshot(page, "login")
        await page.keyboard.type("not a key")  # the field has the focus
        await page.keyboard.press("Enter")
        await page.get_by_role("alert").wait_for()
        watch.expected.append("401")
        await axe(page)
        await page.get_by_label("Key of this server").fill(AGENT)
        await page.get_by_role("button", name="Log in").click()
        await page.wait_for_url("**/console/catalog?page=2")
        await page.get_by_role("button", name="Log out").click()
        await page.wait_for_url("**/console/login")
        await page.goto(f"{server.console}/catalog")
        assert "/console/login" in page.url


async def test_the_cookie_is_hidden_from_scripts(page: Page) -> None:
    assert await page.evaluate("document.cookie") == ""


async def test_a_link_of_another_site_keeps_the_session(open_page: Opens, server: Server) -> None:
    async with open_page(AGENT) as (page, _):
        link = f"<a href='{server.console}/catalog'>the catalog</a>"
        await page.route("http://other.example/", lambda route: route.fulfill(body=link, content_type="text/html"))
        await page.goto("http://other.example/")
        await page.get_by_text("the catalog").click()
        await page.get_by_role("heading", name="Catalog", level=1).wait_for()


async def test_inline_scripts_do_not_run(open_page: Opens) -> None:
    async with open_page(AGENT) as (page, watch):
        await page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x: onerror=\"window.ran = 1\">')")
        await page.evaluate("document.head.append(Object.assign(document.createElement('script'), {text: 'ran = 1'}))")
        assert await page.evaluate("window.ran") is None
        assert sum("Content Security Policy" in error for error in watch.errors) == 3  # with the picture
        watch.expected += ["Content Security Policy", "ERR_UNKNOWN_URL_SCHEME"]


async def test_a_page_that_cannot_be_used_by_all_is_found(page: Page) -> None:
    await page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    with pytest.raises(AssertionError, match="Form elements must have labels"):
        await axe(page)


async def test_an_unknown_page_says_so(open_page: Opens, server: Server) -> None:
    async with open_page(AGENT) as (page, watch):
        await page.goto(f"{server.console}/nothing")
        watch.expected.append("404")
        await page.get_by_role("heading", name="404 Not Found").wait_for()
        await axe(page)


async def test_the_keyboard_reaches_the_content_first(page: Page, server: Server) -> None:
    await page.goto(f"{server.console}/shortcuts")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "content"
    await axe(page)


async def test_shortcuts_can_be_turned_off(page: Page, server: Server) -> None:
    await page.goto(f"{server.console}/catalog")
    await page.keyboard.press("?")
    await page.wait_for_url("**/console/shortcuts")
    await page.get_by_label("Turn these keys off").check()
    await page.goto(f"{server.console}/catalog")
    await page.keyboard.press("?")
    assert page.url.endswith("/catalog")


async def test_a_narrow_dark_screen_without_scripts(open_page: Opens, server: Server) -> None:
    async with open_page(AGENT, **NARROW_DARK, java_script_enabled=False) as (page, _):
        await page.goto(f"{server.console}/catalog")
        await page.get_by_role("heading", name="Catalog", level=1).wait_for()
        assert await fits(page)
