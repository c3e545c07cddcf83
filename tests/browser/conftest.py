"""Pages of a real server in the system's Chromium, driven by playwright.

All tests and fixtures of this folder share one event loop, because a browser belongs to the loop that started it.
"""

from __future__ import annotations

import os
import shutil
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright

from tests.browser.server import AGENT, BOSS, Server, serving
from tests.browser.watched import Watch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from contextlib import AbstractAsyncContextManager

    from playwright.async_api import Browser, Page

    from tests.conftest import Gym

_NAMES = ("chromium", "chromium-browser", "google-chrome")

#: A container has no user namespaces for Chromium's own sandbox, and little shared memory.
_OPTIONS = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]


class Opens(Protocol):
    """Opens a page of a server, logged in with a key, or logged out if the key is empty."""

    def __call__(
        self, key: str = AGENT, *, server: Server = ..., **options: Any
    ) -> AbstractAsyncContextManager[tuple[Page, Watch]]: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of this folder in the loop of the browser."""
    for item in items:
        if item.path.is_relative_to(os.path.dirname(__file__)):  # noqa: PTH120
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """The browser. Its tests skip where none is installed, and fail in CI."""
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        missing = "Chromium is not installed: make browser"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)  # noqa: TID251
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=_OPTIONS)
        yield browser
        await browser.close()


@pytest.fixture(scope="session")
def server(gym: Gym, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the gym, with the keys of `tests/browser/server.py`."""
    with serving(tmp_path_factory.mktemp("server"), gym) as running:
        yield running


@pytest.fixture
def open_page(chromium: Browser, server: Server) -> Opens:
    """Open pages in windows of their own: `async with open_page(BOSS, color_scheme="dark") as (page, watch)`.

    Options are those of `playwright.Browser.new_context`. A page that had an error fails the test at its end.
    """
    standard = server

    @asynccontextmanager
    async def opened(
        key: str = AGENT, *, server: Server = standard, **options: Any
    ) -> AsyncIterator[tuple[Page, Watch]]:
        async with AsyncExitStack() as stack:
            context = await chromium.new_context(**options)
            stack.push_async_callback(context.close)
            page = await context.new_page()
            watch = Watch(page)
            if key:
                await _log_in(page, server, key)
            yield page, watch
            watch.check()

    return opened


async def _log_in(page: Page, server: Server, key: str) -> None:
    """Log in once for each key and server, and reuse the session."""
    if key in server.cookies:
        await page.context.add_cookies(server.cookies[key])  # type: ignore[arg-type]
    await page.goto(server.console)
    if key not in server.cookies:
        await page.get_by_label("Key of this server").fill(key)
        await page.get_by_role("button", name="Log in").click()
        await page.locator("form[action$='/logout']").wait_for(state="attached")  # a phone hides it in the menu
        server.cookies[key] = await page.context.cookies()  # type: ignore[assignment]


@pytest_asyncio.fixture(loop_scope="session")
async def page(open_page: Opens) -> AsyncIterator[Page]:
    """A page of an agent's key."""
    async with open_page(AGENT) as (opened, _):
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def boss_page(open_page: Opens) -> AsyncIterator[Page]:
    """A page of an approver's key."""
    async with open_page(BOSS) as (opened, _):
        yield opened
