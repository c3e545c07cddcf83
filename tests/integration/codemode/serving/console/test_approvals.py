"""The pages of a call that waits: the inbox, its card and its execution, without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode, tool
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.console.csrf import FIELD
from codemode.settings import Settings
from tests.integration.codemode.serving.console.conftest import SAME_ORIGIN, browser_of, log_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx2

AGENT, BOSS = Caller("configured:agent", label="Ada"), Caller("configured:boss", "approver")


@tool(effect="write")
def pay(to: str, amount: int, note: str = "") -> int:
    """Pay somebody."""
    return amount


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[tuple[CodeMode, httpx2.AsyncClient]]:
    """A service where a person decides on writes, and the browser of an approver."""
    settings = Settings.model_validate({"state_folder": str(tmp_path), "policy": {"default": {"write": "ask"}}})
    async with CodeMode.from_settings(settings, functions={"bank": [pay]}) as service:
        app = create_app(service, Callers({"boss": BOSS, "agent": AGENT}, KeyFile(tmp_path / "keys.json")))
        async with browser_of(app) as browser:
            await log_in(browser, "boss")
            yield service, browser


async def _paused(service: CodeMode, **arguments: Any) -> Any:
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return await service.execute(f"bank.pay({given})", caller=AGENT)


async def test_every_page_of_a_waiting_call_is_shown(desk: tuple[CodeMode, httpx2.AsyncClient]) -> None:
    service, browser = desk
    paused = await _paused(service, note="for p\u0430ypal", amount=5, to="acct-1")
    for page in ("approvals", f"approvals/{paused.pending[0].id}", f"executions/{paused.id}"):
        answer = await browser.get(f"/console/{page}")
        assert answer.status_code == 200, page
        if page.startswith("approvals"):
            assert "for p\\u0430ypal" in answer.text
            assert answer.text.index(">to<") < answer.text.index(">amount<") < answer.text.index(">note<")
    assert 'type="checkbox"' in (await browser.get("/console/approvals")).text


async def test_a_call_that_is_cut_or_waits_twice_cannot_be_ticked(desk: tuple[CodeMode, httpx2.AsyncClient]) -> None:
    service, browser = desk
    await _paused(service, note="n" * 2_100, amount=5, to="acct-1")
    page = (await browser.get("/console/approvals")).text
    assert "… 1,900 more characters" in page
    assert 'type="checkbox"' not in page
    (call,) = await service.executions.approvals(BOSS)
    form = {"call": f"{call.id} {call.digest}", "verdict": "approved", FIELD: _token(page)}
    refused = await browser.post("/console/approvals", data=form, headers=SAME_ORIGIN)
    assert (refused.status_code, "open it to decide" in refused.text) == (422, True)
    await service.executions.cancel(call.execution, AGENT)
    for code in ("bank.pay(to='a', amount=1)", "bank.pay(to='a', amount=1)  # again"):
        await service.execute(code, caller=AGENT)
    page = (await browser.get("/console/approvals")).text
    assert page.count("The same call waits in another execution too.") == 2
    assert 'type="checkbox"' not in page


def _token(page: str) -> str:
    return page.partition(f'name="{FIELD}" value="')[2].partition('"')[0]
