"""Accounts on the command line: a login of the only user of a machine, by a loopback redirect."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import httpx2

from codemode.features.accounts import accounts as accounts_module
from codemode.gateway.caller import LOCAL
from codemode.service import CodeMode
from codemode.settings import load_settings
from tests.command_line import SCRIPT, codemode, script_environment
from tests.integration.codemode.sources.openapi.authorized_api import authorized_api

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def _log_in(folder: Path) -> int | None:
    process = await asyncio.create_subprocess_exec(
        *(SCRIPT, "auth", "login", "bank/mine", "--no-browser"),
        cwd=folder,
        env=script_environment(folder),
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    while line := (await process.stderr.readline()).decode():
        if line.startswith("open "):
            async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as client:
                assert (await client.get(line.removeprefix("open ").strip())).status_code == 200
    return await process.wait()


async def test_a_program_goes_on_after_a_login_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts_module, "LOOK_S", 0.05)
    async with authorized_api(publishes=True) as site:
        bank = {"location": site.document, "base_url": site.url, "connections": {"mine": {"owner": "caller"}}}
        content = {"sources": {"bank": bank}, "state_folder": str(tmp_path / "state")}
        text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in content.items())
        (tmp_path / "codemode.yaml").write_text(text, encoding="utf-8")
        async with CodeMode.from_settings(load_settings(tmp_path / "codemode.yaml")) as service:
            executions = service.executions
            paused = await service.execute("bank.whoami()['scopes']")
            assert paused.failure is not None
            assert "run: codemode auth login bank/mine" in paused.failure.message
            assert await _log_in(tmp_path) == 0
            while (await executions.get(paused.id, LOCAL)).status == "paused":  # noqa: ASYNC110 -- it has no event
                await asyncio.sleep(0.02)
            async for _ in executions.events(paused.id, LOCAL):
                pass
            assert (await executions.get(paused.id, LOCAL)).outcome["value"] == ["read"]
        listed = await asyncio.to_thread(codemode, "auth", "status", "--json", folder=tmp_path)
        assert [(row["source"], row["state"]) for row in json.loads(listed.stdout)] == [("bank/mine", "logged in")]
        ended = await asyncio.to_thread(codemode, "auth", "logout", "bank/mine", folder=tmp_path)
        assert "logged out of bank/mine: tokens revoked" in ended.stderr
        wrong = await asyncio.to_thread(codemode, "auth", "login", "bank/mime", folder=tmp_path)
        assert "there is no connection 'mime' of bank; did you mean 'mine'" in wrong.stderr
