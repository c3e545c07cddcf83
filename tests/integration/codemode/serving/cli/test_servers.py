"""`codemode login URL`, against a codemode server and the OpenID provider of its tokens."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2

from codemode import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.settings import Settings
from codemode.testing.served import Served
from tests import issuer as provider
from tests.command_line import SCRIPT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

    from tests.issuer import Issuer


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@asynccontextmanager
async def server(folder: Path, issuer: Issuer) -> AsyncIterator[str]:
    """Run a server that takes tokens of the issuer, and yield its address."""
    inner: list[FastAPI] = []

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        await inner[0](scope, receive, send)

    async with Served(front) as served:
        tokens: dict[str, Any] = {"issuer": issuer.url, "audience": "codemode", "jwks_url": f"{issuer.url}/jwks"}
        tokens |= {"role_claim": "groups", "roles": {"staff": "default"}}
        settings = Settings.model_validate(
            {"state_folder": str(folder / "state"), "server": {"public_url": served.url, "tokens": tokens}}
        )
        async with CodeMode.from_settings(settings, functions={"shop": [add]}) as service:
            app = create_app(service, Callers.of(settings, service.store))
            inner.append(app)
            async with app.router.lifespan_context(app):
                yield served.url


async def command(folder: Path, *arguments: str, visit: bool = False) -> tuple[int, str, str]:
    """Run a command with a state folder of its own, and visit the page that it names."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "XDG_STATE_HOME": str(folder / "home")}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(SCRIPT, *arguments, stdout=pipe, stderr=pipe, env=environment)
    assert process.stderr is not None
    errors = b""
    if visit:
        while not (line := await process.stderr.readline()).startswith(b"open ") and line:
            errors += line
        async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as client:
            await client.get(line.decode().removeprefix("open ").strip())
    output, rest = await process.communicate()
    return process.returncode or 0, output.decode(), (errors + rest).decode()


async def test_a_person_logs_in_and_a_script_gets_a_token(tmp_path: Path) -> None:
    with provider.running() as issuer:
        async with server(tmp_path, issuer) as url:
            code, _, errors = await command(tmp_path, "login", url, "--no-browser", visit=True)
            assert (code, errors.splitlines()[-1]) == (0, f"logged in to {url}")
            code, token, errors = await command(tmp_path, "login", url, "--print-token")
            assert code == 0, errors
            async with httpx2.AsyncClient(trust_env=False) as client:
                headers = {"Authorization": f"Bearer {token.strip()}"}
                listed = await client.get(f"{url}/v1/tools", headers=headers)
                assert (listed.status_code, listed.json()["total"]) == (200, 1)
            (file,) = (tmp_path / "home" / "codemode" / "servers" / "tokens").glob("*.json")
            assert file.stat().st_mode & 0o077 == 0
            assert (await command(tmp_path, "logout", url))[2].strip() == f"logged out of {url}"
            code, token, errors = await command(tmp_path, "login", url, "--print-token")
            assert (code, token) == (2, "")
            assert f"nobody is logged in to {url}; run: codemode login {url}" in errors


async def test_an_address_that_is_none_is_refused(tmp_path: Path) -> None:
    code, _, errors = await command(tmp_path, "login", "codemode.example.com")
    assert code == 2
    assert "'codemode.example.com' is no address of a server: write https://HOST" in errors
