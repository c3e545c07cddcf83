"""`deploy/haproxy.cfg` in front of two real servers: it spreads requests, loses none, and keeps sessions together."""

from __future__ import annotations

import asyncio
import itertools
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx2

from tests.integration.deploy.running import BEARER, KEY, Balancer, Servers, balancer, end

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

ASKS = "box.drop()"
CLIENTS = 3
#: Requests of each client around each event.
ROUNDS = 5
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def deployed(folder: Path) -> AsyncIterator[tuple[Servers, Balancer]]:
    servers = Servers(folder)
    try:
        for port in servers.ports:
            await servers.start(port)
        async with balancer(folder, servers.ports) as running:
            yield servers, running
    finally:
        await servers.end()


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that opens a connection for each request."""
    limits = httpx2.Limits(max_keepalive_connections=0)
    async with httpx2.AsyncClient(base_url=url, headers=BEARER, timeout=200, limits=limits) as http:
        yield http


async def ask(http: httpx2.AsyncClient, **headers: str) -> int:
    """Run a program, and return the process of the server that ran it."""
    answer = await http.post("/v1/execute", json={"code": "box.server()"}, headers=headers)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    value: int = found.get("outcome", found)["value"]
    return value


class Load:
    """Clients that ask without a pause, each request under a key of its own. `answered` counts the right answers."""

    def __init__(self, url: str) -> None:
        self.answered = 0
        self._url = url
        self._numbers = itertools.count()
        self._news = asyncio.Condition()

    async def client(self) -> None:
        async with httpx2.AsyncClient(base_url=self._url, headers=BEARER, timeout=200) as http:
            while True:
                await ask(http, **{"Idempotency-Key": f"request-{next(self._numbers)}"})
                async with self._news:
                    self.answered += 1
                    self._news.notify_all()

    async def more(self) -> None:
        """Wait for further answers."""
        wanted = self.answered + CLIENTS * ROUNDS
        async with self._news:
            await self._news.wait_for(lambda: self.answered >= wanted)


@asynccontextmanager
async def under_load(url: str) -> AsyncIterator[Load]:
    """Fail with the first request that fails."""
    load = Load(url)
    async with asyncio.TaskGroup() as group:
        clients = [group.create_task(load.client()) for _ in range(CLIENTS)]
        yield load
        for client in clients:
            client.cancel()


async def test_requests_go_to_both_servers_but_those_about_one_server_alone(tmp_path: Path) -> None:
    async with deployed(tmp_path) as (servers, running), connected(running.url) as http:
        seen = {await ask(http) for _ in range(8)}
        assert seen == {process.pid for process in servers.processes}
        assert [(await http.get(path)).status_code for path in ("/metrics", "/readyz", "/healthz")] == [404, 404, 200]


async def test_no_request_fails_while_the_servers_are_restarted_one_after_the_other(tmp_path: Path) -> None:
    async with deployed(tmp_path) as (servers, running), under_load(running.url) as load:
        await load.more()
        for port, process in zip(servers.ports, list(servers.processes), strict=True):
            await end(process)
            assert process.returncode == 0
            await load.more()
            await servers.start(port)
            await running.up(2)
            await load.more()


async def test_no_request_with_a_key_fails_if_a_server_is_killed(tmp_path: Path) -> None:
    async with deployed(tmp_path) as (servers, running), under_load(running.url) as load:
        await load.more()
        servers.processes[0].kill()
        await servers.processes[0].wait()
        await running.up(1)
        await load.more()


def calls() -> Callable[[str, str, object], dict[str, object]]:
    """Return a function that makes requests of MCP."""
    numbers = itertools.count(1)

    def request(method: str, name: str, given: object) -> dict[str, object]:
        parameters = {"name": name, "arguments": given} if name else given
        return {"jsonrpc": "2.0", "id": next(numbers), "method": method, "params": parameters}

    return request


async def session(http: httpx2.AsyncClient) -> set[int]:
    """Open a session, run programs in it, and return the processes of the servers that ran them."""
    request = calls()
    opened = await http.post("/mcp", json=request("initialize", "", INITIALIZE), headers=ACCEPT)
    assert opened.status_code == 200, opened.text
    headers = {**ACCEPT, "Mcp-Session-Id": opened.headers["mcp-session-id"]}
    await http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
    seen = set()
    for _ in range(4):
        call = request("tools/call", "execute", {"code": "box.server()"})
        answer = await http.post("/mcp", json=call, headers=headers)
        assert answer.status_code == 200, answer.text
        seen.add(int(re.findall(r'"value":(\d+)', answer.text)[0]))
    return seen


async def test_the_requests_of_an_mcp_session_reach_one_server(tmp_path: Path) -> None:
    async with deployed(tmp_path) as (servers, running), connected(running.url) as http:
        sessions = [await session(http) for _ in range(4)]
        assert [len(processes) for processes in sessions] == [1] * 4
        assert len(set().union(*sessions)) == len(servers.processes)


async def test_answers_about_one_server_are_not_passed_on(tmp_path: Path) -> None:
    async with deployed(tmp_path) as (_, running), connected(running.url) as http:
        for path in ("/metrics", "/readyz", "/%72eadyz", "/metric%73?a=b"):
            assert (path, (await http.get(path)).status_code) == (path, 404)
        assert (await http.get("/openapi.json")).status_code == 200


async def test_pages_of_the_console_come_from_every_server_without_another_login(tmp_path: Path) -> None:
    async with (
        deployed(tmp_path) as (servers, running),
        httpx2.AsyncClient(timeout=200, headers={"Accept": "text/html"}) as browser,
    ):
        assert (await browser.post(f"{running.url}/console/login", data={"key": KEY})).status_code == 303
        pages = [await browser.get(f"{running.url}/console/catalog") for _ in range(30)]
        assert [page.status_code for page in pages] == [200] * 30
        for port in servers.ports:
            assert (await browser.get(f"http://127.0.0.1:{port}/console/catalog")).status_code == 200
        tokens = {re.findall(r'name="csrf_token" value="([^"]+)"', page.text)[0] for page in pages}
        assert len(tokens) == 1
        cookie = browser.cookies["codemode_session"]
        out = await browser.post(f"{running.url}/console/logout", data={"csrf_token": tokens.pop()})
        assert out.status_code == 303
        browser.cookies.set("codemode_session", cookie)
        for port in servers.ports:
            assert (await browser.get(f"http://127.0.0.1:{port}/console/catalog")).status_code == 303


async def test_the_message_of_a_change_is_shown_by_another_server(tmp_path: Path) -> None:
    async with (
        deployed(tmp_path) as (servers, _),
        httpx2.AsyncClient(timeout=200, headers={"Accept": "text/html"}) as browser,
    ):
        here, there = (f"http://127.0.0.1:{port}" for port in servers.ports)
        paused = (await browser.post(f"{here}/v1/execute", json={"code": ASKS}, headers=BEARER)).json()
        assert paused["status"] == "paused", paused
        await browser.post(f"{here}/console/login", data={"key": KEY})
        page = await browser.get(f"{here}/console/executions/{paused['id']}")
        token = re.findall(r'name="csrf_token" value="([^"]+)"', page.text)[0]
        where = f"/console/executions/{paused['id']}"
        done = await browser.post(f"{here}{where}/cancel", data={"csrf_token": token})
        assert (done.status_code, done.headers["location"]) == (303, where)
        assert "The execution is cancelled." in (await browser.get(f"{there}{where}")).text
        assert "The execution is cancelled." not in (await browser.get(f"{here}{where}")).text
