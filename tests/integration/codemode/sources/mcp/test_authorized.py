"""MCP servers behind OAuth: found out, logged in to, and used without a line of configuration."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode import CodeMode
from codemode.errors import AddressNotAllowed, ConfigurationError, UpstreamError
from codemode.executions.types.records import Decision
from codemode.gateway.caller import Caller
from codemode.settings import load_settings
from codemode.shared.files import token_file
from codemode.transports.auth.token_store import TokenStore
from codemode.transports.oauth.discovery import discover_login
from codemode.transports.oauth.login import log_in_by_browser
from codemode.transports.oauth.registration import OwnClient
from codemode.transports.oauth.server_reach import ServerReach
from tests.command_line import SCRIPT, codemode, script_environment
from tests.integration.codemode.sources.mcp.authorized_server import Provider, authorized_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.integration.codemode.sources.mcp.authorized_server import Site


async def _command(*arguments: str, folder: Path) -> tuple[int, str, str]:
    ended = await asyncio.to_thread(codemode, *arguments, folder=folder)
    return ended.returncode, ended.stdout, ended.stderr


async def _visit(address: str) -> None:
    async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as client:
        assert (await client.get(address)).status_code == 200


async def _log_in(folder: Path, site: Site, *scopes: str) -> None:
    """Log in as the command does, in this process, which takes no second to start."""
    login = await discover_login(site.url, "bank", client=OwnClient(scopes=scopes))
    pages: list[asyncio.Task[None]] = []
    tokens = await log_in_by_browser(login, lambda address: pages.append(asyncio.create_task(_visit(address))))
    await asyncio.gather(*pages)
    TokenStore(token_file(folder / "state" / "tokens", "bank"), "bank").write(tokens)


async def _log_in_by_command(folder: Path, *arguments: str) -> tuple[int, str]:
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
            await _visit(line.removeprefix("open ").strip())
    return await process.wait(), said


def _holding(folder: Path, site: Site) -> dict[tuple[str, ...], int]:
    """Return where the secrets of a site are in a folder, with the permissions of the file."""
    return {
        file.relative_to(folder).parts[:2]: file.stat().st_mode & 0o777
        for file in folder.rglob("*")
        if file.is_file() and any(secret.encode() in file.read_bytes() for secret in site.provider.secrets)
    }


async def _added(folder: Path, site: Site) -> None:
    code, output, errors = await _command("sources", "add", "bank", site.url, folder=folder)
    assert (code, output, errors) == (75, "", "bank is added, and asks for a login; run: codemode auth login bank\n")


@asynccontextmanager
async def _service(folder: Path) -> AsyncIterator[CodeMode]:
    settings = load_settings(folder / "codemode.yaml")
    async with CodeMode.from_settings(settings) as service:
        yield service


def _write(folder: Path, **more: Any) -> None:
    """Begin a configuration whose state is in the folder."""
    content = {"state_folder": str(folder / "state"), "cache_folder": str(folder / "cache"), **more}
    text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in content.items())
    (folder / "codemode.yaml").write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    _write(tmp_path)
    return tmp_path


async def test_a_server_is_added_logged_in_to_called_and_logged_out_of(folder: Path) -> None:
    async with authorized_site() as site:
        await _added(folder, site)
        code, said = await _log_in_by_command(folder)
        assert (code, said.splitlines()[0], said.splitlines()[-1]) == (
            0,
            f"bank logs in at {site.issuer}, for the scopes read",
            "logged in to bank",
        )

        asked = site.provider.asked[0]
        assert (asked.scopes, asked.resource) == (["read"], site.url)
        async with _service(folder) as service:
            outcome = await service.execute("bank.whoami()")
        assert outcome.value["scopes"] == ["read"]
        assert outcome.value["token"] == "[redacted]"

        code, output, _ = await _command("auth", "status", folder=folder)
        assert (code, re.split(r"  +", output.splitlines()[1])[:3]) == (0, ["bank", "login", "logged in"])

        _, _, errors = await _command("auth", "logout", "bank", folder=folder)
        assert errors == "logged out of bank: tokens revoked\n"
        assert (site.provider.access, site.provider.refresh) == ({}, {})
        assert _holding(folder, site) == {}


async def test_only_the_owner_reads_the_tokens_and_nothing_else_has_them(folder: Path) -> None:
    async with authorized_site() as site:
        await _added(folder, site)
        _, said = await _log_in_by_command(folder)
        async with _service(folder) as service:
            await service.execute("bank.whoami()")
        assert _holding(folder, site) == {("state", "tokens"): 0o600}
        assert not any(secret in said for secret in site.provider.secrets)


async def test_a_source_without_a_name_gets_that_of_its_host(folder: Path) -> None:
    async with authorized_site() as site:
        code, output, _ = await _command("sources", "add", site.url, "--json", folder=folder)
        assert (code, json.loads(output)) == (75, {"api": {"needs_login": True, "next": "codemode auth login api"}})


async def test_a_call_without_a_login_says_what_to_do_and_works_after_it(folder: Path) -> None:
    async with authorized_site() as site:
        await _added(folder, site)
        async with _service(folder) as service:
            (source,) = service.sources.values()
            assert source.failure is not None
            assert source.failure.message == (
                "the MCP server of bank cannot be used: nobody is logged in at bank; run: codemode auth login bank"
            )
        await _log_in(folder, site)
        async with _service(folder) as service:
            site.provider.access.clear()
            site.provider.refresh.clear()
            outcome = await service.execute("bank.whoami()")
            assert outcome.failure is not None
            assert "the login has expired, and the service does not renew it at bank: the operator must log in" in (
                outcome.failure.message
            )
            await _log_in(folder, site)
            assert (await service.execute("bank.whoami()")).value["scopes"] == ["read"]


async def test_a_token_that_expires_while_an_execution_waits_for_a_person_is_renewed(folder: Path) -> None:
    _write(folder, policy={"rules": [{"tools": ["bank.pay"], "decision": "ask"}], "approvers": ["boss"]})
    async with authorized_site() as site:
        await _added(folder, site)
        await _log_in(folder, site, "write")
        async with _service(folder) as service:
            caller = Caller("ann")
            paused = await service.execute("bank.pay(amount=3)", caller=caller)
            assert paused.status == "paused"
            site.provider.expire()
            boss = Caller("boss", "boss")
            (waiting,) = await service.executions.approvals(boss, paused.id)
            await service.executions.decide(
                [Decision(waiting.id, waiting.digest, "approved", by="boss", via="test")], boss
            )
            ended = await service.execute("", resume_from=paused.id, caller=caller)
            assert (ended.status, ended.value) == ("completed", {"result": "paid 3"})
            assert len(site.provider.renewals) == 1


async def test_a_rotated_token_whose_answer_was_lost_is_asked_for_again(folder: Path) -> None:
    async with authorized_site(Provider(grace=True)) as site:
        await _added(folder, site)
        await _log_in(folder, site)
        async with _service(folder) as service:
            site.provider.expire()
            site.provider.lose = 1
            assert (await service.execute("bank.whoami()")).ok
        first, second = site.provider.renewals
        assert first == second
        async with _service(folder) as service:
            site.provider.expire()
            assert (await service.execute("bank.whoami()")).ok
        assert site.provider.renewals[2] not in (first, second)


async def test_a_provider_that_takes_no_spent_token_again_costs_a_login_and_says_so(folder: Path) -> None:
    async with authorized_site() as site:
        await _added(folder, site)
        await _log_in(folder, site)
        async with _service(folder) as service:
            site.provider.expire()
            site.provider.lose = 1
            failed = await service.execute("bank.whoami()")
            assert failed.failure is not None
            assert "the operator must log in" in failed.failure.message
            assert not any(secret in str(failed) for secret in site.provider.secrets)


async def test_a_call_that_lacks_a_scope_asks_for_it_at_the_next_login(folder: Path) -> None:
    async with authorized_site() as site:
        await _added(folder, site)
        await _log_in(folder, site)
        async with _service(folder) as service:
            failed = await service.execute("bank.pay(amount=3)")
            assert failed.failure is not None
            assert "bank asks for the scopes write: the operator must log in" in failed.failure.message
            code, output, _ = await _command("auth", "status", folder=folder)
            assert (code, "lacks scopes" in output, "write; run: codemode auth login bank" in output) == (1, True, True)
            await _log_in_by_command(folder)
            assert site.provider.asked[-1].scopes == ["read", "write"]
            assert (await service.execute("bank.pay(amount=3)")).value == {"result": "paid 3"}
        code, _, _ = await _command("auth", "status", folder=folder)
        assert code == 0


async def test_tokens_are_not_sent_to_another_address_of_the_same_source(folder: Path) -> None:
    async with authorized_site() as site, authorized_site() as other:
        await _added(folder, site)
        await _log_in(folder, site)
        text = (folder / "codemode.yaml").read_text()
        (folder / "codemode.yaml").write_text(text.replace(site.url, other.url))
        async with _service(folder) as service:
            (source,) = service.sources.values()
            assert source.failure is not None
            assert "nobody is logged in at bank" in source.failure.message
        code, output, _ = await _command("auth", "status", folder=folder)
        assert (code, f"the login is for {site.url}" in output) == (1, True)


async def test_an_answer_of_a_mixed_up_issuer_ends_the_login(folder: Path) -> None:
    async with authorized_site(Provider(issuer_in_answer="https://evil.example")) as site:
        await _added(folder, site)
        code, said = await _log_in_by_command(folder)
        assert (code, said.splitlines()[-1]) == (2, "the answer came from a different issuer; the login failed")
        assert len(site.provider.codes) == 1  # it was not sent anywhere


async def test_an_issuer_that_registers_no_clients_is_named_with_what_to_do(folder: Path) -> None:
    async with authorized_site(enabled=False) as site:
        await _added(folder, site)
        code, said = await _log_in_by_command(folder)
        assert code == 2
        assert said.startswith(f"the issuer {site.issuer} of bank registers no clients by itself. Create one there")
        login = await discover_login(site.url, "bank", client=OwnClient("robot", "s3cret-of-robot", ("write",)))
        assert (login.grant.client_id, login.grant.scopes, login.register) == ("robot", ("write", "read"), None)


async def test_a_server_that_needs_no_login_says_so(folder: Path) -> None:
    async with authorized_site() as site:
        with pytest.raises(ConfigurationError, match="bank asks for no login: it answered 404"):
            await discover_login(site.url.replace("/mcp", "/other"), "bank")


async def test_a_code_is_taken_once(folder: Path) -> None:
    async with authorized_site() as site:
        await _added(folder, site)
        login = await discover_login(site.url, "bank")
        tasks: list[asyncio.Task[None]] = []
        with pytest.raises(UpstreamError, match="no access token: the token endpoint answered 400"):
            await log_in_by_browser(login, lambda address: tasks.append(asyncio.create_task(_spent(address, site))))
        await asyncio.gather(*tasks)


async def _spent(address: str, site: Site) -> None:
    """Visit a login's page, and spend its code before the client can."""
    async with httpx2.AsyncClient(trust_env=False) as client:
        callback = (await client.get(address)).headers["location"]
        site.provider.codes.clear()
        assert (await client.get(callback)).status_code == 200


@pytest.mark.parametrize(
    ("named", "server", "is_allowed"),
    [
        ("https://login.example/token", "https://mcp.example/mcp", True),
        ("https://mcp.example/token", "https://mcp.example/mcp", True),
        ("http://mcp.corp/token", "http://mcp.corp/mcp", True),
        ("http://127.0.0.1:9/token", "http://127.0.0.1:8/mcp", True),
        ("http://login.example/token", "https://mcp.example/mcp", False),
        ("http://127.0.0.1:9/token", "https://mcp.example/mcp", False),
        ("https://localhost/token", "https://mcp.example/mcp", False),
        ("https://169.254.169.254/latest", "https://mcp.example/mcp", False),
        ("https://10.0.0.1/token", "https://mcp.example/mcp", False),
        ("file:///etc/passwd", "https://mcp.example/mcp", False),
    ],
)
def test_a_server_cannot_send_us_everywhere(named: str, server: str, is_allowed: bool) -> None:
    if is_allowed:
        ServerReach(server, "bank").check(named)
    else:
        with pytest.raises(AddressNotAllowed, match="bank names"):
            ServerReach(server, "bank").check(named)


async def test_a_process_that_is_killed_while_it_renews_costs_no_login(folder: Path) -> None:
    async with authorized_site(Provider(grace=True)) as site:
        await _added(folder, site)
        await _log_in(folder, site)
        site.provider.expire()
        site.provider.hold.clear()
        environment = script_environment(folder)
        killed = await asyncio.create_subprocess_exec(
            *(SCRIPT, "call", "bank.whoami"), cwd=folder, env=environment, stdout=-3, stderr=-3
        )
        await site.provider.is_renewing.wait()  # the provider has spent the refresh token, and the answer is on its way
        killed.kill()
        await killed.wait()
        site.provider.hold.set()
        async with _service(folder) as service:
            assert (await service.execute("bank.whoami()")).ok
        assert len(set(site.provider.renewals)) == 1
