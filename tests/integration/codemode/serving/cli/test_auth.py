"""`codemode auth`, against a real authorization server. A login is a process of its own: a person visits a page."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode.service import CodeMode
from codemode.settings import load_settings
from tests.command_line import SCRIPT, codemode
from tests.unit.codemode.transports.authorization_server import AuthorizationServer, running

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT = """
openapi: 3.1.0
info: {title: Things, version: "1"}
components: {securitySchemes: {Login: {type: oauth2, flows: {authorizationCode: {}}}}}
security: [{Login: [read]}]
paths: {/things: {get: {operationId: listThings, responses: {"200": {description: All}}}}}
"""


def _configured(folder: Path, server: AuthorizationServer, **credential: Any) -> Path:
    (folder / "things.yaml").write_text(DOCUMENT, encoding="utf-8")
    whole = {"kind": "oauth2", "flow": "authorization_code", "issuer": server.url, "client_id": "robot"} | credential
    source = {"location": "things.yaml", "base_url": server.url, "credentials": [whole]}
    file = folder / "codemode.yaml"
    settings = {
        "sources": {"api": source},
        "state_folder": str(folder / "state"),
        "cache_folder": str(folder / "cache"),
    }
    file.write_text(json.dumps(settings), encoding="utf-8")
    return file


async def _codemode(*arguments: str | Path) -> tuple[int, str, str]:
    ended = await asyncio.to_thread(codemode, *map(str, arguments))
    return ended.returncode, ended.stdout, ended.stderr


async def _logged_in(config: Path) -> tuple[int, str, str]:
    """Run a login, and visit the page that it names."""
    process = await asyncio.create_subprocess_exec(
        *(SCRIPT, "auth", "login", "api", "--no-browser", "--config", str(config)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    first = await process.stderr.readline()
    async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as client:
        await client.get(first.decode().removeprefix("open ").strip())
    output, errors = await process.communicate()
    return process.returncode or 0, output.decode(), errors.decode()


async def test_log_in_call_look_and_log_out(tmp_path: Path) -> None:
    async with running(AuthorizationServer()) as server:
        config = _configured(tmp_path, server)
        code, output, _ = await _codemode("auth", "status", "--config", config)
        row = "api     oauth2 (authorization_code)  logged out  run: codemode auth login api"
        assert (code, output.splitlines()[1:]) == (1, [row])

        code, output, errors = await _logged_in(config)
        assert (code, output) == (0, "")
        assert errors.endswith("logged in to api\n")

        async with CodeMode.from_settings(load_settings(config)) as service:
            assert (await service.execute("api.list_things()")).value == [1]

        code, output, _ = await _codemode("auth", "status", "--json", "--config", config)
        (row,) = json.loads(output)
        assert (code, row["source"], row["state"]) == (0, "api", "logged in")
        assert row["detail"].endswith("renewed automatically")
        assert not any(token in output for token in (*server.access, *server.refresh))

        said = "logged out of api: tokens revoked\n"
        assert (await _codemode("auth", "logout", "api", "--config", config))[2] == said
        assert (server.access, server.refresh) == (set(), set())
        assert (await _codemode("auth", "logout", "api", "--config", config))[2] == "not logged in to api\n"


@pytest.mark.parametrize(
    ("status", "reason"),
    [(0, "the issuer names no revocation endpoint"), (503, "the revocation endpoint answered 503")],
)
async def test_a_log_out_of_which_the_service_is_not_told_says_so(tmp_path: Path, status: int, reason: str) -> None:
    async with running(AuthorizationServer(revokes=status)) as server:
        config = _configured(tmp_path, server)
        await _logged_in(config)
        code, _, errors = await _codemode("auth", "logout", "api", "--config", config)
        assert (code, errors.startswith("logged out of api: tokens deleted here but not revoked: ")) == (0, True)
        assert reason in errors
        assert not any(token in errors for token in (*server.access, *server.refresh))


async def test_what_needs_no_login_is_said(tmp_path: Path) -> None:
    config = _configured(tmp_path, AuthorizationServer(url="http://127.0.0.1:1"), flow="client_credentials")
    code, _, errors = await _codemode("auth", "login", "api", "--config", config)
    assert (code, errors.startswith("the credentials of api are configured, or it has no URL.")) == (2, True)
    assert "write one of kind oauth2 with `flow: authorization_code`" in errors
    code, _, errors = await _codemode("auth", "login", "ap", "--config", config)
    assert (code, errors) == (2, "there is no source 'ap'; did you mean 'api'?\n")


async def test_status_names_what_is_missing(tmp_path: Path) -> None:
    config = tmp_path / "codemode.yaml"
    credentials = [
        {"kind": "bearer", "token": {"env": "NO_SUCH_TOKEN"}},
        {"kind": "api_key", "name": "X-Key", "value": {"caller": "X-Upstream-Key"}},
        {"kind": "basic", "username": "ann", "password": {"command": [sys.executable, "-c", "print('hunter2')"]}},
        {"kind": "none"},
    ]
    settings = {"sources": {"api": {"location": "x.json", "credentials": credentials}}}
    config.write_text(json.dumps(settings), encoding="utf-8")
    code, output, _ = await _codemode("auth", "status", "--json", "--config", config)
    rows = json.loads(output)
    assert [row["state"] for row in rows] == ["missing", "of the caller", "present", "present"]
    assert "the environment variable NO_SUCH_TOKEN is empty or not set" in rows[0]["detail"]
    assert rows[1]["detail"] == "the caller's X-Upstream-Key"
    assert (code, "hunter2" in output) == (1, False)
