"""Two projects of one user, each with its own service, never share work. Uses real processes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from asyncio.subprocess import PIPE
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from tests.command_line import trust
from tests.integration.codemode.executions.upstream import Upstream, document
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.timeout(600)

COMMAND = str(Path(sys.executable).parent / "codemode")

#: Time limit for processes on a busy machine, in seconds.
PATIENCE_S = 120.0

SLEEPS = "import time\nup.x.get(n=1)\ntime.sleep(4)\nup.x.post(n=2)"


class Project:
    """A folder with a configuration, and its service."""

    def __init__(self, folder: Path, home: Path, port: int, state: Path | None, upstream: Upstream) -> None:
        self.upstream = upstream
        self.folder = folder
        self.port = port
        self._home = home
        self._state = state
        folder.mkdir()
        (folder / "x.json").write_text(json.dumps(document()), encoding="utf-8")
        self.configure(port)

    def configure(self, port: int) -> None:
        """Write the configuration for a service at another port, and trust it."""
        source = {"location": "x.json", "base_url": f"http://127.0.0.1:{port}", "credentials": [{"kind": "none"}]}
        folders = {"state_folder": str(self._state)} if self._state else {}
        content = {"sources": {"up": source}, "server": {"port": 0}, "limits": {"wall_s": 60}, **folders}
        (self.folder / "codemode.yaml").write_text(json.dumps(content), encoding="utf-8")
        trust(self.folder, HOME=str(self._home))

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self._home), "COLUMNS": "200"}  # noqa: TID251

    async def type(self, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
        """Run a command in the folder."""
        process = await asyncio.create_subprocess_exec(
            COMMAND, *arguments, cwd=self.folder, env=self.environment, stdin=PIPE, stdout=PIPE, stderr=PIPE
        )
        out, errors = await asyncio.wait_for(process.communicate(stdin.encode()), PATIENCE_S)
        assert process.returncode is not None
        return process.returncode, out.decode(), errors.decode()

    async def json(self, *arguments: str, stdin: str = "") -> Any:
        _, out, errors = await self.type(*arguments, "--json", stdin=stdin)
        assert out, errors
        return json.loads(out)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[tuple[asyncio.subprocess.Process, httpx2.AsyncClient]]:
        """Run a server and yield a client. The server is killed at the end."""
        process = await asyncio.create_subprocess_exec(
            COMMAND, "serve", cwd=self.folder, env=self.environment, stderr=PIPE
        )
        assert process.stderr is not None
        try:
            said = b""
            async with asyncio.timeout(PATIENCE_S):
                while not (found := re.search(rb"http://127\.0\.0\.1:\d+", said)):
                    line = await process.stderr.readline()
                    assert line, said.decode()
                    said += line
            async with httpx2.AsyncClient(base_url=found[0].decode(), timeout=PATIENCE_S) as client:
                yield process, client
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


class Two:
    """Staging and production."""

    def __init__(self, staging: Project, prod: Project) -> None:
        self.staging = staging
        self.prod = prod


@pytest.fixture(params=["a folder each", "a folder that is named"])
async def two(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Two]:
    state = tmp_path / "state" if request.param == "a folder that is named" else None
    (tmp_path / "home").mkdir()
    async with AsyncExitStack() as stack:
        made = []
        for name in ("staging", "prod"):
            upstream = Upstream()
            port = await stack.enter_async_context(listening(upstream.answer))
            made.append(Project(tmp_path / name, tmp_path / "home", port, state, upstream))
        yield Two(*made)


async def test_a_delete_that_paused_in_one_project_is_not_approved_from_the_other(two: Two) -> None:
    paused = await two.staging.json("run", "-", stdin="up.x.drop(n=7)")
    assert paused["status"] == "paused"
    (asked,) = await two.staging.json("approvals", "list")
    assert asked["host"] == f"127.0.0.1:{two.staging.port}"
    assert await two.prod.json("approvals", "list") == []
    assert await two.prod.json("executions", "list") == []
    code, _, errors = await two.prod.type("approvals", "approve", asked["id"])
    assert code == 2
    assert f"no pending call {asked['id']}" in errors
    code, _, errors = await two.prod.type("executions", "resume", paused["id"])
    assert code == 2
    assert f"there is no execution '{paused['id']}'" in errors
    assert two.prod.upstream.seen == two.staging.upstream.seen == []
    code, shown, errors = await two.staging.type("approvals", "approve", asked["id"])
    assert (code, errors) == (0, ""), errors
    assert f"at 127.0.0.1:{two.staging.port}" in shown
    assert two.staging.upstream.seen == ["DELETE /drop?n=7"]
    assert two.prod.upstream.seen == []


async def test_what_a_killed_server_has_left_is_not_taken_up_by_that_of_another_project(two: Two) -> None:
    async with two.staging.serving() as (server, client):
        running = asyncio.create_task(client.post("/v1/execute", json={"code": SLEEPS}))
        await asyncio.wait_for(two.staging.upstream.wait_for(1), PATIENCE_S)
        server.kill()
        with pytest.raises(httpx2.TransportError):
            await running
    async with two.prod.serving() as (_, client):
        assert (await client.post("/v1/execute", json={"code": "up.x.get(n=3)"})).json()["status"] == "completed"
        assert [one["status"] for one in (await client.get("/v1/executions")).json()["executions"]] == ["completed"]
        async with two.staging.serving(), two.staging.upstream.came:  # prod had time to recover it
            written = two.staging.upstream.came.wait_for(lambda: "POST /post?n=2" in two.staging.upstream.seen)
            await asyncio.wait_for(written, PATIENCE_S)
    assert [one for one in two.staging.upstream.seen if one != "GET /get?n=1"] == ["POST /post?n=2"]
    assert two.prod.upstream.seen == ["GET /get?n=3"]


async def test_a_key_of_one_project_does_not_open_the_server_of_the_other(two: Two) -> None:
    keys = [(await each.json("keys", "create"))["key"] for each in (two.staging, two.prod)]
    assert [len(await each.json("keys", "list")) for each in (two.staging, two.prod)] == [1, 1]
    async with two.prod.serving() as (_, client):
        answers = [await client.get("/v1/executions", headers={"Authorization": f"Bearer {key}"}) for key in keys]
        assert [answer.status_code for answer in answers] == [401, 200]


@pytest.mark.parametrize("two", ["a folder each"], indirect=True)
async def test_a_base_url_that_was_edited_while_a_call_waited_is_not_called(two: Two) -> None:
    paused = await two.staging.json("run", "-", stdin="up.x.drop(n=7)")
    (asked,) = await two.staging.json("approvals", "list")
    two.staging.configure(two.prod.port)
    _, shown, _ = await two.staging.type("approvals", "approve", asked["id"])
    was, now = (f"http://127.0.0.1:{each.port}" for each in (two.staging, two.prod))
    assert f"the address of up was {was} and is now {now}" in shown
    (listed,) = await two.staging.json("executions", "list")
    assert (listed["id"], listed["status"]) == (paused["id"], "paused")
    assert two.prod.upstream.seen == two.staging.upstream.seen == []
    two.staging.configure(two.staging.port)
    code, _, errors = await two.staging.type("executions", "resume", paused["id"])
    assert code == 0, errors
    assert two.staging.upstream.seen == ["DELETE /drop?n=7"]
    assert two.prod.upstream.seen == []
