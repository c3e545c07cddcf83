"""Conversations in the console: what each stored, for its key and for approvers, and their end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode import CodeMode
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.console.csrf import FIELD
from codemode.settings import Settings
from tests.integration.codemode.serving.console.conftest import SAME_ORIGIN, add, browser_of, log_in
from tests.integration.codemode.serving.console.tokens import token_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from fastapi import FastAPI

AGENT, OTHER, BOSS = Caller("agent", label="Ada"), Caller("other"), Caller("boss", "approver")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[FastAPI]:
    """An application with a conversation of the agent that has stored one value in each of two programs."""
    settings = Settings.model_validate({"state_folder": str(tmp_path)})
    async with CodeMode.from_settings(settings, functions={"shop": [add]}) as service:
        for code in ("store('guests', ['Ann'])", "store('total', 1200)\n'done'"):
            await service.execute(code, conversation="open day", caller=AGENT)
        callers = Callers({"agent": AGENT, "other": OTHER, "boss": BOSS}, KeyFile(tmp_path / "keys.json"))
        yield create_app(service, callers)


async def digest_of_the_only_one(app: FastAPI, key: str) -> str:
    async with browser_of(app) as browser:
        await log_in(browser, key)
        (one,) = (await browser.get("/console/conversations?format=json")).json()["conversations"]
    assert (one["programs"], one["values"], one["owner"]) == (2, 3, "agent")  # with `last`
    digest: str = one["conversation"]
    return digest


@pytest.mark.parametrize("key", ["agent", "boss"])
async def test_a_conversation_is_shown_with_its_values_and_programs(desk: FastAPI, key: str) -> None:
    digest = await digest_of_the_only_one(desk, key)
    async with browser_of(desk) as browser:
        await log_in(browser, key)
        data = (await browser.get(f"/console/conversations/{digest}?format=json")).json()
        page = (await browser.get(f"/console/conversations/{digest}")).text
    assert {one["name"]: one["value"] for one in data["values"]}["guests"] == '["Ann"]'
    assert [one["title"] for one in data["executions"]] == ["store('total', 1200)", "store('guests', ['Ann'])"]
    assert "open day" not in page  # the id is never recorded
    assert 'of <span class="foreign">Ada</span>' in page


async def test_another_key_sees_no_conversation(desk: FastAPI) -> None:
    digest = await digest_of_the_only_one(desk, "agent")
    async with browser_of(desk) as browser:
        await log_in(browser, "other")
        assert (await browser.get("/console/conversations?format=json")).json() == {"conversations": []}
        assert (await browser.get(f"/console/conversations/{digest}")).status_code == 404
        form = {FIELD: token_of(await browser.get("/console/conversations"))}
        answer = await browser.post(f"/console/conversations/{digest}/delete", data=form, headers=SAME_ORIGIN)
        assert answer.status_code == 303
    assert await digest_of_the_only_one(desk, "agent") == digest  # nothing was deleted


async def test_the_values_of_a_conversation_are_deleted(desk: FastAPI) -> None:
    digest = await digest_of_the_only_one(desk, "agent")
    async with browser_of(desk) as browser:
        await log_in(browser, "agent")
        form = {FIELD: token_of(await browser.get("/console/conversations"))}
        await browser.post(f"/console/conversations/{digest}/delete", data=form, headers=SAME_ORIGIN)
        assert "3 values deleted." in (await browser.get("/console/conversations")).text
        data = (await browser.get(f"/console/conversations/{digest}?format=json")).json()
    assert data["values"] == []
    assert len(data["executions"]) == 2
