"""What a page did wrong in the browser, its accessibility, and its picture."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.async_api import ConsoleMessage, Page

#: Where `make browser` installs axe-core (https://github.com/dequelabs/axe-core).
AXE = Path(__file__).parents[2] / ".venv-servers/browser/node_modules/axe-core/axe.min.js"

#: WCAG 2.2, levels A and AA, and axe's good practices.
AXE_OPTIONS = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}

#: Options of `open_page`: a phone in dark mode.
NARROW_DARK: Any = {"viewport": {"width": 400, "height": 800}, "color_scheme": "dark"}


class Watch:
    """Collects the errors of a page: messages of its console, with violations of the CSP, and uncaught exceptions.

    Add to `expected` a part of each error that the test causes on purpose.
    """

    def __init__(self, page: Page) -> None:
        self.errors: list[str] = []
        self.expected: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def check(self) -> None:
        """Fail if the page had an error that was not expected."""
        left = [error for error in self.errors if not any(part in error for part in self.expected)]
        assert not left, left


async def axe(page: Page) -> None:
    """Fail if axe finds a violation on the page as it is now."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: make browser")
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    found: Any = await page.evaluate("options => axe.run(document, options)", AXE_OPTIONS)
    violations = [
        f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes']]}" for one in found["violations"]
    ]
    assert not violations, "\n".join(violations)


async def screenshot(page: Page, name: str) -> None:
    """Write `name`.png from the top of the page, if `make browser SCREENSHOTS=folder` asks for pictures."""
    folder = os.environ.get("SCREENSHOTS", "")  # noqa: TID251
    if folder:
        await page.evaluate("window.scrollTo(0, 0)")
        await page.screenshot(path=Path(folder) / f"{name}.png", animations="disabled")


#: A computer in light and in dark, and a phone: the pictures that are judged by eye.
LOOKS: tuple[tuple[str, Any], ...] = (
    ("light", {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"}),
    ("dark", {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"}),
    ("phone", NARROW_DARK),
)


async def looks(page: Page, name: str) -> None:
    """Fail if axe finds a violation in light, in dark or on a phone, or the phone's page scrolls sideways.

    Writes `looks/name-light.png`, `-dark` and `-phone` of the whole page into the folder of the pictures.
    """
    folder = os.environ.get("SCREENSHOTS", "")  # noqa: TID251
    before = page.viewport_size
    for look, options in LOOKS:
        await page.set_viewport_size(options["viewport"])
        await page.emulate_media(color_scheme=options["color_scheme"])
        await axe(page)
        assert await fits(page), f"{name} is wider than the screen: {look}"
        if folder:
            await page.screenshot(path=Path(folder) / "looks" / f"{name}-{look}.png", full_page=True)
    await page.emulate_media(color_scheme="light")
    if before is not None:
        await page.set_viewport_size(before)


async def fits(page: Page) -> bool:
    """Whether the page needs no horizontal scrolling, once its style sheet is there."""
    await page.wait_for_load_state("load")
    wide: bool = await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    return wide
