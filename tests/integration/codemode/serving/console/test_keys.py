"""Keys in the console: a person gets a new text for their own key alone, and an operator revokes keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from codemode import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import keys_of
from codemode.serving.console.csrf import FIELD
from codemode.settings import Settings
from tests.integration.codemode.serving.console.conftest import SAME_ORIGIN, add, browser_of, log_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx2
    from fastapi import FastAPI

    from codemode.serving.auth.keys import Keys


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[CodeMode]:
    async with CodeMode.from_settings(
        Settings.model_validate({"state_folder": str(tmp_path)}), functions={"shop": [add]}
    ) as opened:
        yield opened


@pytest.fixture
def keys(service: CodeMode) -> Keys:
    return keys_of(service.settings, service.store)


@pytest.fixture
def app(service: CodeMode, keys: Keys) -> FastAPI:
    return create_app(service, Callers({}, keys, roles=service.settings.policy.known_roles()))


def _token(page: str) -> str:
    return page.partition(f'name="{FIELD}" value="')[2].partition('"')[0]


async def _post(browser: httpx2.AsyncClient, place: str) -> httpx2.Response:
    token = _token((await browser.get("/console/keys")).text)
    return await browser.post(f"/console/keys/{place}", data={FIELD: token}, headers=SAME_ORIGIN)


async def test_a_person_rotates_their_own_key(app: FastAPI, keys: Keys) -> None:
    mine, text = keys.create(role="default", label="Mine")
    other, _ = keys.create(role="default", label="Another")
    async with browser_of(app) as browser:
        await log_in(browser, text)
        page = (await browser.get("/console/keys")).text
        assert ("Mine" in page, "Another" in page, "Revoke" in page) == (True, False, False)
        refused = await _post(browser, f"{other.id}/rotate")
        assert (refused.status_code, "only the holder of a key" in refused.text) == (403, True)
        assert (await _post(browser, f"{other.id}/revoke")).status_code == 403
        answer = await _post(browser, f"{mine.id}/rotate")
        (new,) = re.findall(r"cm_[0-9a-f]{8}_[\w-]{43}", answer.text)
    assert new != text
    assert "no-store" in answer.headers["cache-control"]
    found = keys.find(new)
    assert found is not None
    assert found.id == mine.id


async def test_an_approver_revokes_a_key_and_gets_none(app: FastAPI, keys: Keys) -> None:
    agent, text = keys.create(role="default", label="Ada")
    _, boss = keys.create(role="approver", label="Grace")
    async with browser_of(app) as browser:
        await log_in(browser, boss)
        assert (await _post(browser, f"{agent.id}/rotate")).status_code == 403
        assert "Ada" in (await browser.get("/console/keys")).text
        answer = await _post(browser, f"{agent.id}/revoke")
        assert answer.headers["location"] == "/console/keys"
    assert keys.find(text) is None


@pytest.mark.parametrize("change", ["rotate", "revoke"])
async def test_a_change_without_the_token_of_the_session_is_refused(app: FastAPI, keys: Keys, change: str) -> None:
    key, text = keys.create(role="approver")
    async with browser_of(app) as browser:
        await log_in(browser, text)
        answer = await browser.post(f"/console/keys/{key.id}/{change}", headers=SAME_ORIGIN)
        assert answer.status_code == 403
    assert keys.find(text) is not None
