"""The editor: a link of another site fills it only after a click."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.integration.codemode.serving.console.conftest import SAME_ORIGIN, log_in

if TYPE_CHECKING:
    import httpx2

LINK = "/console/editor?code=shop.add(a%3D1%2C%20b%3D2)%0A%22%3Cb%3E%22"
PROGRAM = 'shop.add(a=1, b=2)\n"<b>"'


@pytest.mark.parametrize("site", ["cross-site", "none", "same-site", None])
async def test_a_program_of_a_link_is_shown_and_opened_by_a_click(
    browser: httpx2.AsyncClient, site: str | None
) -> None:
    await log_in(browser)
    shown = (await browser.get(LINK, headers={"Sec-Fetch-Site": site} if site else {})).text
    assert "This program came with a link" in shown
    assert ">Run</button>" not in shown
    assert "<textarea" not in shown
    assert "shop.add(a=1, b=2)" in shown
    token = re.search(r'name="csrf_token" value="([^"]+)"', shown)
    assert token
    opened = await browser.post("/console/editor", data={"code": PROGRAM, "csrf_token": token[1]}, headers=SAME_ORIGIN)
    assert ">Run</button>" in opened.text
    assert "shop.add(a=1, b=2)" in opened.text
    assert (await browser.post("/console/editor", data={"code": PROGRAM})).status_code == 403


async def test_a_link_of_the_console_itself_opens_the_editor(browser: httpx2.AsyncClient) -> None:
    await log_in(browser)
    opened = (await browser.get(LINK, headers={"Sec-Fetch-Site": "same-origin"})).text
    assert ">Run</button>" in opened
    assert "came with a link" not in opened
    assert ">Run</button>" in (await browser.get("/console/editor")).text
