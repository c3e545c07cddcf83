"""The report of `codemode measure` as a page: it fits a phone, and nothing that a model wrote runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest_asyncio

from codemode.bench.page import html_of
from codemode.bench.results import Step, TurnRecord
from tests.browser.attacks import ATTACK
from tests.browser.watched import NARROW_DARK, Watch, axe, fits, screenshot
from tests.unit.codemode.bench.samples import REFUSED, gold, result

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Page


def hostile_page() -> str:
    """A report whose every text is an attack."""
    step = Step(ATTACK, ATTACK, ATTACK, calls=[ATTACK], name=ATTACK, refusals=[ATTACK])
    turn = TurnRecord(ATTACK, ATTACK, [step, REFUSED, Step(error=ATTACK)], status=ATTACK, requests=3, input_tokens=900)
    attempts = [result(ATTACK, mode=mode, turns=[turn], solved=False, reason=ATTACK) for mode in ("code", ATTACK)]
    return html_of([replace(one, suite=ATTACK, model=ATTACK, about={"commit": ATTACK}) for one in [*attempts, gold()]])


@pytest_asyncio.fixture(loop_scope="session")
async def report(chromium: Browser) -> AsyncIterator[Page]:
    """The page on a phone in dark mode, with all its parts open."""
    async with await chromium.new_context(**NARROW_DARK, offline=True) as context:
        page = await context.new_page()
        watch = Watch(page)
        await page.set_content(hostile_page())
        await page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        yield page
        watch.check()


async def test_no_text_of_a_model_runs_or_adds_an_element(report: Page) -> None:
    assert await report.evaluate("window.ran") is None
    assert await report.locator("script, form, img, button, a[href^=javascript]").count() == 0
    assert await report.locator(".step").count() == 7


async def test_the_report_fits_a_phone(report: Page) -> None:
    assert await fits(report)
    await screenshot(report, "bench-report")


async def test_a_mark_leads_to_its_transcript_even_if_that_is_closed(report: Page) -> None:
    await report.evaluate("document.querySelectorAll('details[class]').forEach(one => { one.open = false })")
    await report.locator(".matrix a").first.click()
    await report.locator("#attempt-0 ~ .step").first.wait_for(state="visible")


async def test_the_report_is_accessible(report: Page) -> None:
    await axe(report)
