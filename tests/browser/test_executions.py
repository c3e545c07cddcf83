"""Executions in the browser: a program is watched while it runs, and what people do with it afterwards."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx2
import pytest_asyncio

from tests.browser.server import AGENT, Server, serving
from tests.browser.watched import NARROW_DARK, axe, fits, looks, screenshot
from tests.integration.codemode.executions.upstream import Upstream, document, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from playwright.async_api import Page

    from tests.browser.conftest import Opens
    from tests.conftest import Gym

_CONFIGURATION = """
sources:
  up: {{location: {folder}/x.json, base_url: "http://127.0.0.1:{port}"}}
server:
  keys:
    - {{env: AGENT_KEY, label: Ada's agent}}
    - {{env: BOSS_KEY, role: approver, label: Grace}}
policy: {{rules: [{{name: all, tools: "*", decision: allow}}]}}
journal: {{enabled: true}}
state_folder: {folder}/state
cache_folder: {folder}/cache
"""

#: Text that reorders, hides and looks like markup.
HOSTILE = "<script>window.ran = 1</script>\u202egnp.exe\u200b<img src=x onerror='ran=1'></pre>"

#: Two tasks, one of which waits.
PROGRAM = """\
import asyncio
async def task(n):
    up.x.get(n=n)
    up.x.put(n=n)
print("began")
await asyncio.gather(task(1), task(2))
up.x.post(n=3)
"""


class Slow(NamedTuple):
    """A server whose upstream can be held."""

    server: Server
    upstream: Upstream

    async def start(self, code: str, **more: Any) -> str:
        """Start a program in the background and return its execution."""
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {AGENT}"}) as client:
            body = {"code": code, "wait_s": 0, **more}
            answer = await client.post(f"{self.server.url}/v1/execute", json=body)
            id_: str = answer.json()["id"]
            return id_

    async def run(self, code: str) -> str:
        """Run a program to its end and return its execution."""
        return await self.start(code, wait_s=30)

    def page(self, execution: str) -> str:
        """The address of an execution's page."""
        return f"{self.server.console}/executions/{execution}"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def slow_server(tmp_path_factory: Any, gym: Gym) -> AsyncIterator[Slow]:
    """One server for the tests of this module."""
    folder: Path = tmp_path_factory.mktemp("slow")
    async with place(folder) as here:
        (folder / "x.json").write_text(json.dumps(document()), encoding="utf-8")
        with serving(folder, gym, _CONFIGURATION, port=here.port) as server:
            yield Slow(server, here.upstream)


@pytest_asyncio.fixture(loop_scope="session")
async def slow(slow_server: Slow) -> Slow:
    """The server, with nothing held."""
    slow_server.upstream.held.clear()
    return slow_server


async def _states(page: Page) -> list[tuple[str, str]]:
    bars = page.locator("#waterfall g[data-path]")
    return [
        (await bar.get_attribute("data-path") or "", await bar.get_attribute("data-state") or "")
        for bar in await bars.all()
    ]


async def test_bars_appear_while_the_program_runs(open_page: Opens, slow: Slow) -> None:
    hold = slow.upstream.hold("/post")
    async with open_page(server=slow.server) as (page, _):
        execution = await slow.start(PROGRAM)
        await page.goto(slow.page(execution))
        waiting = page.locator('#waterfall g[data-state="running"]')
        await waiting.wait_for()
        assert [state for _, state in await _states(page)] == ["read", "committed", "read", "committed", "running"]
        await page.get_by_text("began", exact=True).wait_for()
        await screenshot(page, "waterfall")
        hold.set()
        await page.locator("#status .badge", has_text="completed").wait_for()
        assert await page.locator('#waterfall g[data-state="running"]').count() == 0
        await axe(page)


async def test_the_browser_draws_what_the_server_draws(open_page: Opens, slow: Slow) -> None:
    execution = await slow.run(PROGRAM)
    async with open_page(server=slow.server) as (page, _):
        await page.goto(slow.page(execution))
        await page.locator("#waterfall g[role=button]").first.wait_for()
        drawn = await _states(page)
    async with open_page(server=slow.server, java_script_enabled=False) as (page, _):
        await page.goto(slow.page(execution))
        assert await _states(page) == drawn
    assert len(drawn) == 5


async def test_a_call_is_opened_by_the_keyboard(open_page: Opens, slow: Slow) -> None:
    execution = await slow.run("up.x.get(n=7)\nup.x.post(n=1915883588174806059)")
    async with open_page(server=slow.server) as (page, _):
        await page.goto(slow.page(execution))
        await page.locator("#waterfall g[role=button]").first.focus()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await page.locator("#call dd", has_text="up.x.post").wait_for()
        await page.locator("#call dd", has_text=re.compile(r'"n": "1915883588174806059"\s*}')).wait_for()
        await axe(page)


async def test_the_picture_is_saved_as_a_file_of_its_own(open_page: Opens, slow: Slow, tmp_path: Path) -> None:
    execution = await slow.run("up.x.get(n=7)")
    async with open_page(server=slow.server) as (page, _):
        await page.goto(slow.page(execution))
        await page.locator("#waterfall g[role=button]").wait_for()
        async with page.expect_download() as saved:
            await page.get_by_role("button", name="Save SVG").click()
        await (await saved.value).save_as(tmp_path / "picture.svg")
    picture = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg") and "up.x.get" in picture and "script" not in picture


async def test_hostile_text_is_shown_and_does_nothing(open_page: Opens, slow: Slow) -> None:
    execution = await slow.run(f"print({HOSTILE!r})\n{HOSTILE!r}  # {HOSTILE}")
    async with open_page(server=slow.server) as (page, _):
        await page.goto(slow.page(execution))
        text = await page.locator("main").inner_text()
        assert await page.evaluate("window.ran") is None
        assert "<script>window.ran = 1</script>\\u202egnp.exe\\u200b<img" in text
        assert "\u202e" not in text


async def test_a_running_program_is_cancelled(open_page: Opens, slow: Slow) -> None:
    slow.upstream.hold("/post")
    async with open_page(server=slow.server) as (page, _):
        await page.goto(slow.page(await slow.start("up.x.post(n=1)")))
        await page.locator('#waterfall g[data-state="running"]').wait_for()
        await page.get_by_role("button", name="Cancel").click()
        await page.get_by_role("status").filter(has_text="is cancelled").wait_for()
        await page.locator("#status .badge", has_text="cancelled").wait_for()


async def test_a_failed_program_is_corrected(open_page: Opens, slow: Slow) -> None:
    execution = await slow.run("up.x.post(n=1)\n1 / 0")
    before = len(slow.upstream.seen)
    async with open_page(server=slow.server) as (page, _):
        await page.goto(slow.page(execution))
        await page.get_by_role("link", name="Run corrected from here").click()
        await axe(page)
        await page.get_by_label("Program").fill("up.x.post(n=1)\n'corrected'")
        await page.get_by_role("button", name="Run").click()
        await page.locator("#status .badge", has_text="completed").wait_for()
        await page.locator("#outcome pre", has_text="corrected").wait_for()
        await page.get_by_role("link", name=execution).wait_for()
    assert len(slow.upstream.seen) == before


async def test_a_rollback_is_shown_before_it_happens(open_page: Opens, slow: Slow) -> None:
    execution = await slow.run("up.x.post(n=1)")
    async with open_page(server=slow.server) as (page, _):
        await page.goto(slow.page(execution))
        await page.get_by_role("link", name="Roll back").click()
        await page.get_by_text("its tool names no inverse").wait_for()
        assert await page.get_by_role("button", name="Roll back").count() == 0
        await axe(page)


async def test_the_list_on_a_narrow_dark_screen_without_scripts(open_page: Opens, slow: Slow) -> None:
    execution = await slow.run("# Add two numbers\n1 + 1")
    async with open_page(server=slow.server, java_script_enabled=False, **NARROW_DARK) as (page, _):
        await page.goto(f"{slow.server.console}/executions?status=completed")
        assert await fits(page)
        await page.get_by_role("link", name="Add two numbers").click()
        await page.wait_for_url(f"**/{execution}")
        assert await fits(page)
        assert await page.locator("#outcome pre").inner_text() == "2"
    async with open_page(server=slow.server) as (page, _):
        await page.goto(f"{slow.server.console}/executions")
        await axe(page)
        await screenshot(page, "executions")


async def test_the_failing_line_is_marked_and_calls_are_told_apart(open_page: Opens, slow: Slow) -> None:
    execution = await slow.run("for n in range(3):\n    up.x.get(n=n)\nup.x.post(n=7)\n1 / 0\n")
    told_apart = [f"\u2713 …{call}" for call in ("get(n=0)", "get(n=1)", "get(n=2)", "post(n=7)")]
    async with open_page(server=slow.server) as (page, _):
        await page.goto(slow.page(execution))
        assert await page.locator(".source .failing").inner_text() == "1 / 0\n(this line failed)"
        labels = page.locator("#waterfall g[role=button] text")
        await labels.first.wait_for()
        assert await labels.all_text_contents() == told_apart
        await page.get_by_text("ZeroDivisionError", exact=False).first.wait_for()
        assert await page.locator("details", has_text="Limits used").get_attribute("open") is None
        await looks(page, "execution-failed")
    async with open_page(server=slow.server, java_script_enabled=False) as (page, _):
        await page.goto(slow.page(execution))
        drawn = page.locator("#waterfall g text")
        assert [text.strip() for text in await drawn.all_text_contents()] == told_apart


async def test_many_calls_of_one_tool_are_one_row_that_unfolds(open_page: Opens, slow: Slow) -> None:
    execution = await slow.run("for n in range(50):\n    up.x.get(n=n)\nup.x.post(n=7)\n")
    async with open_page(server=slow.server) as (page, _):
        await page.goto(slow.page(execution))
        rows = page.locator("#waterfall g[role=button]")
        group = rows.first
        await group.wait_for()
        assert await rows.locator("text").all_text_contents() == ["▸ \N{MULTIPLICATION SIGN}50 …get", "✓ …post(n=7)"]
        assert await group.get_attribute("aria-label") == "▸ \N{MULTIPLICATION SIGN}50 …get: 50 calls of up.x.get, read"
        await group.focus()
        await page.keyboard.press("Enter")
        assert await rows.count() == 52
        assert await group.get_attribute("aria-expanded") == "true"
        assert (await rows.nth(50).text_content() or "").strip() == "✓ …get(n=49)"
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await page.locator("#call dd", has_text='"n": 0').wait_for()
        await group.click()
        assert await rows.count() == 2
