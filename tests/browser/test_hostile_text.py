"""A source whose every text is an attack: nothing runs, nothing hides, and no page loses its form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.attacks import ATTACK
from tests.browser.server import AGENT, serving
from tests.browser.watched import NARROW_DARK, axe, fits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.conftest import Opens
    from tests.browser.server import Server
    from tests.conftest import Gym


CONFIGURATION = """
sources:
  evil: {{location: evil.json, base_url: "http://127.0.0.1:9"}}
server: {{keys: [{{env: AGENT_KEY, label: "<b>Ada"}}, {{env: BOSS_KEY, role: approver}}]}}
policy: {{rules: [{{name: "<script>window.ran = 1</script>", tools: "evil.*", decision: ask, reason: "</td><b>"}}]}}
state_folder: {folder}/state
cache_folder: {folder}/cache
"""


def document() -> dict[str, Any]:
    """An API description whose texts are all hostile."""
    parameter = {
        "name": "name",
        "in": "query",
        "description": ATTACK,
        "required": True,
        "schema": {"type": "string", "enum": [ATTACK, "b"], "description": ATTACK},
    }
    operation = {
        "operationId": "do_it",
        "summary": ATTACK,
        "description": ATTACK,
        "tags": ["things"],
        "parameters": [parameter],
        "responses": {"200": {"description": ATTACK}},
    }
    info = {"title": ATTACK, "version": "1", "description": ATTACK}
    return {"openapi": "3.1.0", "info": info, "paths": {"/things": {"get": operation}}}


@pytest.fixture(scope="module")
def evil_server(gym: Gym, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("evil")
    (folder / "evil.json").write_text(json.dumps(document()), encoding="utf-8")
    with serving(folder, gym, CONFIGURATION) as running:
        yield running


@pytest.mark.parametrize(
    "place", ["catalog", "catalog/evil.things.do_it", "search?q=do+it", "search?q=<script>a</script>"]
)
async def test_hostile_text_is_shown_and_does_nothing(open_page: Opens, evil_server: Server, place: str) -> None:
    async with open_page(AGENT, server=evil_server, **NARROW_DARK) as (page, _):
        await page.goto(f"{evil_server.console}/{place}")
        await page.get_by_role("heading", level=1).wait_for()
        for summary in await page.locator("summary").all():
            await summary.click()
        assert await page.evaluate("window.ran") is None
        assert (
            await page.locator("img:not(.brand img), [style], a[href^='javascript'], form[action*='evil']").count() == 0
        )
        assert await page.get_by_role("button", name="Log out", include_hidden=True).count() == 1
        text = await page.locator("body").inner_text()
        assert not set(text) & {"\u202e", "\u2066", "\u200b"}
        assert await fits(page)
        await axe(page)


async def test_the_texts_are_readable_as_they_are(open_page: Opens, evil_server: Server) -> None:
    async with open_page(AGENT, server=evil_server) as (page, _):
        await page.goto(f"{evil_server.console}/catalog/evil.things.do_it")
        text = await page.locator("main").inner_text()
        assert "<script>window.ran = 1</script>" in text
        assert "\\u202erettel sdrawkcab\\u2066 \\u200bhidden" in text
        assert "{{ 7 * 7 }}" in text
