"""Logins at an API whose document declares one, or that asks for it by itself, without a line of settings."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode.service import CodeMode
from codemode.settings import load_settings
from tests.command_line import SCRIPT, codemode, script_environment
from tests.integration.codemode.sources.openapi.authorized_api import authorized_api

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


async def _command(*arguments: str, folder: Path) -> tuple[int, str, str]:
    ended = await asyncio.to_thread(codemode, *arguments, folder=folder)
    return ended.returncode, ended.stdout, ended.stderr


async def _log_in(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run `codemode auth login bank`, and visit the page that it names. Return its exit code and all that it said."""
    process = await asyncio.create_subprocess_exec(
        *(SCRIPT, "auth", "login", "bank", "--no-browser", *arguments),
        cwd=folder,
        env=script_environment(folder),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    said = ""
    while line := (await process.stdout.readline()).decode():
        said += line
        if line.startswith("open "):
            async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as client:
                assert (await client.get(line.removeprefix("open ").strip())).status_code == 200
    return await process.wait(), said


@asynccontextmanager
async def _service(folder: Path) -> AsyncIterator[CodeMode]:
    async with CodeMode.from_settings(load_settings(folder / "codemode.yaml")) as service:
        yield service


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    content = {
        "state_folder": str(tmp_path / "state"),
        "cache_folder": str(tmp_path / "cache"),
        "policy": {"default": {"write": "allow"}},
    }
    text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in content.items())
    (tmp_path / "codemode.yaml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("declares", ["oauth2", "openIdConnect"])
async def test_an_api_is_added_logged_in_to_called_and_logged_out_of(folder: Path, declares: str) -> None:
    async with authorized_api(declares) as site:
        code, _, errors = await _command("sources", "add", "bank", site.document, folder=folder)
        assert (code, errors.splitlines()[-1]) == (0, "bank has a login; run: codemode auth login bank")
        async with _service(folder) as service:
            failed = await service.execute("bank.whoami()")
            assert failed.failure is not None
            assert "nobody is logged in: the operator must log in; nothing was sent" in failed.failure.message

            code, said = await _log_in(folder)
            first, *_, last = said.splitlines()
            assert (code, first, last) == (
                0,
                f"bank logs in at {site.issuer}, for the scopes read",
                "logged in to bank",
            )
            value = (await service.execute("bank.whoami()")).value  # the same service, which needs no new start
        assert value == {"scopes": ["read"], "resource": None, "token": "[redacted]"}

        code, output, _ = await _command("auth", "status", "--json", folder=folder)
        (row,) = json.loads(output)
        assert (code, row["kind"], row["state"]) == (0, "login", "logged in")
        _, _, errors = await _command("auth", "logout", "bank", folder=folder)
        assert errors == "logged out of bank: tokens revoked\n"
        assert (site.provider.access, site.provider.refresh) == ({}, {})


async def test_an_api_that_only_asks_for_a_token_is_logged_in_to_by_its_own_metadata(folder: Path) -> None:
    async with authorized_api("", publishes=True) as site:
        await _command("sources", "add", "bank", site.document, folder=folder)
        async with _service(folder) as service:
            failed = await service.execute("bank.whoami()")
            assert failed.failure is not None
            assert "codemode auth login bank" not in failed.failure.message  # that is for the operator
            assert (await _log_in(folder))[0] == 0
            value: Any = (await service.execute("bank.whoami()")).value
        assert (value["scopes"], value["resource"]) == (["read"], site.url)  # RFC 8707


async def test_what_an_api_publishes_itself_comes_before_its_document(folder: Path) -> None:
    async with authorized_api("oauth2", publishes=True) as site:
        await _command("sources", "add", "bank", site.document, folder=folder)
        assert (await _log_in(folder))[0] == 0
        async with _service(folder) as service:
            assert (await service.execute("bank.whoami()")).value["resource"] == site.url


async def test_a_call_that_lacks_a_scope_asks_for_it_at_the_next_login(folder: Path) -> None:
    async with authorized_api() as site:
        await _command("sources", "add", "bank", site.document, folder=folder)
        await _log_in(folder)
        async with _service(folder) as service:
            failed = await service.execute("bank.raise_limit(scope='write')")
            assert failed.failure is not None
            assert "bank asks for the scopes write: the operator must log in" in failed.failure.message
            assert (await _log_in(folder))[0] == 0
            assert site.provider.asked[-1].scopes == ["read", "write"]
            assert (await service.execute("bank.raise_limit(scope='write')")).value == "raised"


async def test_an_expired_token_is_renewed_once_for_calls_side_by_side(folder: Path) -> None:
    async with authorized_api() as site:
        await _command("sources", "add", "bank", site.document, folder=folder)
        await _log_in(folder)
        site.provider.expire()
        site.provider.lose = 0
        async with _service(folder) as service:
            many = "import asyncio\nawait asyncio.gather(*(bank.whoami() for _ in range(8)))"
            assert (await service.execute(many)).ok
        assert len(set(site.provider.renewals)) == 1


async def test_tokens_are_not_sent_to_another_host_of_the_same_source(folder: Path) -> None:
    async with authorized_api() as site, authorized_api() as other:
        await _command("sources", "add", "bank", site.document, folder=folder)
        await _log_in(folder)
        text = (folder / "codemode.yaml").read_text()
        (folder / "codemode.yaml").write_text(text.replace(site.url, other.url))
        async with _service(folder) as service:
            failed = await service.execute("bank.whoami()")
            assert failed.failure is not None
            assert "nobody is logged in" in failed.failure.message


async def test_a_document_cannot_send_the_login_to_another_machine(folder: Path) -> None:
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Bank", "version": "1"},
        "components": {
            "securitySchemes": {
                "Login": {
                    "type": "oauth2",
                    "flows": {
                        "authorizationCode": {
                            "authorizationUrl": "https://169.254.169.254/authorize",
                            "tokenUrl": "https://169.254.169.254/token",
                            "scopes": {},
                        }
                    },
                }
            }
        },
        "security": [{"Login": []}],
        "paths": {"/x": {"get": {"operationId": "x", "responses": {}}}},
    }
    (folder / "bank.json").write_text(json.dumps(document))
    async with authorized_api("") as site:
        await _command("sources", "add", "bank", "bank.json", "--base-url", site.url, folder=folder)
        code, said = await _log_in(folder)
        assert code != 0
        assert "bank names https://169.254.169.254 for its login, which must be a public https host" in said


async def test_a_graphql_service_whose_schema_is_behind_the_login_is_logged_in_to(folder: Path) -> None:
    async with authorized_api("", publishes=True) as site:
        code, _, errors = await _command("sources", "add", "bank", f"{site.url}/graphql", folder=folder)
        assert (code, errors) == (75, "bank is added, and asks for a login; run: codemode auth login bank\n")
        assert (await _log_in(folder))[0] == 0
        async with _service(folder) as service:
            assert (await service.execute("bank.balance()")).value == 7


async def test_a_document_behind_the_login_is_read_after_it(folder: Path) -> None:
    async with authorized_api("", publishes=True) as site:
        code, _, errors = await _command("sources", "add", "bank", f"{site.url}/private.json", folder=folder)
        assert (code, errors) == (75, "bank is added, and asks for a login; run: codemode auth login bank\n")
        assert (await _log_in(folder))[0] == 0
        async with _service(folder) as service:
            assert (await service.execute("bank.whoami()")).value["scopes"] == ["read"]
