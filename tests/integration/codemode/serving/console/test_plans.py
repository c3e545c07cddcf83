"""Plans, saved programs and files in the console: each person sees what is theirs, and somebody else decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

    from fastapi import FastAPI

AGENT, OTHER, BOSS = Caller("agent", label="Ada"), Caller("other"), Caller("boss", "approver")


@tool(effect="write")
def pay(to: str, amount: int) -> int:
    """Pay somebody."""
    return amount


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[tuple[CodeMode, FastAPI]]:
    """A service with a folder of saved programs, and its application."""
    (tmp_path / "saved").mkdir()
    raw = {"state_folder": str(tmp_path), "saved": {"folder": str(tmp_path / "saved")}}
    async with CodeMode.from_settings(Settings.model_validate(raw), functions={"bank": [pay]}) as service:
        callers = Callers({"agent": AGENT, "other": OTHER, "boss": BOSS}, KeyFile(tmp_path / "keys.json"))
        yield service, create_app(service, callers)


async def test_an_approver_approves_the_plan_of_somebody_else(desk: tuple[CodeMode, FastAPI]) -> None:
    service, app = desk
    made = await service.execute("bank.pay(to='<b>acct-1', amount=5)", caller=AGENT, dry_run=True)
    place = f"/console/plans/{made.plan}"
    async with browser_of(app) as owner, browser_of(app) as other, browser_of(app) as boss:
        for browser, key in ((owner, "agent"), (other, "other"), (boss, "boss")):
            await log_in(browser, key)
        assert (await other.get(place)).status_code == 404
        assert made.plan not in (await other.get("/console/plans")).text
        own = (await owner.get(place)).text
        assert ("An approver other than its maker" in own, "Approve the plan" in own) == (True, False)
        page = (await boss.get(place)).text
        assert "&lt;b&gt;acct-1" in page
        assert "<b>acct-1" not in page
        form = {name: page.partition(f'name="{name}" value="')[2].partition('"')[0] for name in ("digest", FIELD)}
        wrong = await boss.post(place, data={**form, "verdict": "perhaps"}, headers=SAME_ORIGIN)
        assert wrong.status_code == 422
        await boss.post(place, data={**form, "verdict": "approved"}, headers=SAME_ORIGIN)
        assert "The plan is approved." in (await boss.get(place)).text
    assert (await service.execute("", plan=made.plan, caller=AGENT)).ok


async def test_files_are_those_of_the_persons_own_key(desk: tuple[CodeMode, FastAPI]) -> None:
    service, app = desk
    kept = await service.keep_content(b"%PDF-", name="<i>bill.pdf", caller=AGENT)
    async with browser_of(app) as owner, browser_of(app) as boss:
        await log_in(owner, "agent")
        await log_in(boss, "boss")
        assert "&lt;i&gt;bill.pdf" in (await owner.get("/console/files")).text
        assert "bill.pdf" not in (await boss.get("/console/files")).text
        file = await owner.get(f"/console/files/{kept['$content']}")
        assert (file.content, file.headers["content-disposition"]) == (
            b"%PDF-",
            "attachment; filename*=UTF-8''%3Ci%3Ebill.pdf",
        )
        assert file.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert (await boss.get(f"/console/files/{kept['$content']}")).status_code == 404


async def test_a_saved_program_is_shown_with_its_code(desk: tuple[CodeMode, FastAPI]) -> None:
    from codemode.executions.types.promotion import Promotion
    from codemode.features.saved.saved import SavedPrograms

    service, app = desk
    ended = await service.execute("bank.pay(to='acct-1', amount=5)", caller=AGENT)
    await service.part(SavedPrograms).promote(Promotion(ended.id, "pay_rent", "Pay the rent"), reader=BOSS)
    async with browser_of(app) as browser:
        await log_in(browser, "agent")
        assert "Pay the rent" in (await browser.get("/console/saved")).text
        assert "bank.pay(to=" in (await browser.get("/console/saved/saved.pay_rent")).text
