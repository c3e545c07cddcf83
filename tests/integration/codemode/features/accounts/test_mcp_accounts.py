"""Accounts at an MCP server behind OAuth: each caller has a session of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from codemode.features.accounts.accounts import Accounts
from codemode.service import CodeMode
from codemode.settings import Settings
from codemode.transports.auth.account import READER
from codemode.transports.auth.token_store import token_store
from codemode.transports.oauth.discovery import discover_login
from codemode.transports.oauth.login import begin, code_in, finish
from tests.integration.codemode.features.accounts.people import ANN, BOB, PUBLIC, agreed
from tests.integration.codemode.sources.mcp.authorized_server import authorized_site

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.gateway.caller import Caller
    from codemode.shared.values import ValueStore


def _answer(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


async def _log_in(service: CodeMode, caller: Caller) -> None:
    part = service.part(Accounts)
    await part.logged_in(_answer(await agreed(await part.log_in("bank", "mine", caller))), caller)


async def _operator_logs_in(store: ValueStore, url: str) -> None:
    """Store the login that reads the tools, as `codemode auth login bank` does."""
    begun = await begin(await discover_login(url, "bank"), "http://127.0.0.1:8400/callback", "state")
    tokens = await finish(begun, code_in(_answer(await agreed(begun.address)), begun.login))
    token_store("bank", READER, store).write(tokens)


async def test_each_caller_has_a_session_of_its_own(tmp_path: Path) -> None:
    async with authorized_site() as site:
        content = {
            "sources": {"bank": {"kind": "mcp", "location": site.url, "connections": {"mine": {"owner": "caller"}}}},
            "server": {"public_url": PUBLIC},
            "state_folder": str(tmp_path / "state"),
            "cache_folder": str(tmp_path / "cache"),
            "policy": {"default": {"write": "allow"}},
        }
        settings = Settings.model_validate(content)
        service = CodeMode.from_settings(settings)
        await _operator_logs_in(service.store, site.url)
        async with service:
            paused = await service.execute("bank.whoami()", caller=ANN)
            assert [call.kind for call in paused.pending] == ["login"]
            await _log_in(service, ANN)
            async for _ in service.executions.events(paused.id, ANN):
                pass
            await _log_in(service, BOB)
            mine = [(await service.execute("bank.whoami()", caller=one)).value for one in (ANN, BOB, ANN)]
        assert [one["token"] for one in mine] == ["[redacted]"] * 3
        assert mine[0]["client"] == mine[2]["client"] != mine[1]["client"]
