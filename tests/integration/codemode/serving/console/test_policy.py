"""The page of the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode import CodeMode, tool
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.settings import Settings
from tests.integration.codemode.serving.console.conftest import browser_of, log_in

if TYPE_CHECKING:
    from pathlib import Path


@tool(effect="read")
def look(at: str) -> str:
    """Look at something."""
    return at


@tool(effect="write")
def pay(to: str) -> str:
    """Pay somebody."""
    return to


async def test_a_rule_counts_the_tools_that_it_concerns_not_those_of_its_pattern(tmp_path: Path) -> None:
    rules = [
        {"name": "changes", "effects": ["write"], "decision": "ask"},
        {"name": "money", "tools": "bank.*", "decision": "deny"},
    ]
    settings = Settings.model_validate({"state_folder": str(tmp_path), "policy": {"rules": rules}})
    async with CodeMode.from_settings(settings, functions={"bank": [look, pay]}) as service:
        app = create_app(service, Callers({"boss": Caller("boss", "approver")}, KeyFile(tmp_path / "keys.json")))
        async with browser_of(app) as browser:
            await log_in(browser, "boss")
            data = (await browser.get("/console/policy?format=json")).json()
            page = (await browser.get("/console/policy")).text
    assert [rule["tools"] for rule in data["rules"]] == [1, 2]
    assert '<span class="quiet">effects</span> <code>write<wbr></code>' in page
