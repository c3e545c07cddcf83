"""Two servers on one PostgreSQL, replaced one after the other under load: no request fails, and no write is lost."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.integration.codemode.executions.journal.conftest import new_database, postgres
from tests.integration.codemode.serving.several_servers import has_line, is_away, is_ready, servers, until
from tests.integration.codemode.serving.versions import later_version

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tests.integration.codemode.serving.several_servers import Server

__all__ = ["postgres"]

CLIENTS = 4

#: Seconds within which the balancer notices that a server is stopping, on a machine under load.
NOTICED_S = 5
SEED = 35
_AGAIN = (429, 503)


class Load:
    """Requests of several clients, each with a number that its program puts. `failures` says what went wrong."""

    def __init__(self, send: Callable[[int], Awaitable[httpx2.Response]]) -> None:
        self.failures: list[str] = []
        self.answered: list[int] = []
        self._send = send
        self._next = 0
        self._is_over = asyncio.Event()
        self._came = asyncio.Condition()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send requests during the block."""
        clients = [asyncio.create_task(self._client()) for _ in range(CLIENTS)]
        try:
            yield
            self._is_over.set()
            await asyncio.gather(*clients)
        finally:
            for client in clients:
                client.cancel()

    async def more(self, count: int) -> None:
        """Wait until this many further requests were answered."""
        async with self._came:
            wanted = len(self.answered) + count
            await self._came.wait_for(lambda: len(self.answered) + len(self.failures) >= wanted)

    async def _client(self) -> None:
        while not self._is_over.is_set():
            self._next += 1
            number = self._next
            try:
                answer = await self._send(number)
            except httpx2.TransportError as error:
                self.failures.append(f"{number}: {error!r}")
            else:
                outcome = answer.json()
                if answer.status_code == 200 and outcome.get("value") == number:
                    self.answered.append(number)
                else:
                    self.failures.append(f"{number}: {answer.status_code} {outcome}")
            async with self._came:
                self._came.notify_all()


def program(number: int) -> str:
    return f"box.get(n={number})\nbox.put(n={number})"


async def rolled(all_servers: list[Server], load: Load, tree: Path | None = None) -> None:
    """Restart the servers one after the other under load, with the packages in `tree`."""
    for server in all_servers:
        await server.stop()
        await load.more(5)
        server.tree = tree
        await server.start()
        await load.more(5)


def written(folder: Path) -> Counter[int]:
    return Counter(int(line) for line in (folder / "put").read_text().split())


async def test_an_upgrade_behind_a_balancer_that_repeats_nothing(tmp_path: Path, postgres: str) -> None:
    url = await new_database(postgres)
    chance = random.Random(SEED)  # noqa: S311 -- no secret
    later = later_version(tmp_path / "later")
    async with servers(tmp_path, url, server={"drain_delay_s": NOTICED_S}) as both, AsyncExitStack() as stack:
        http = {}
        for server in both:
            await server.start()
            http[server.url] = await stack.enter_async_context(httpx2.AsyncClient(base_url=server.url, timeout=200))
        ready = set(http)

        async def watch(url: str) -> None:
            while True:
                (ready.add if await is_ready(url) else ready.discard)(url)
                await asyncio.sleep(0.2)

        async def send(number: int) -> httpx2.Response:
            chosen = chance.choice(sorted(ready or http))  # a balancer that sees none ready tries them all
            return await http[chosen].post("/v1/execute", json={"code": program(number)})

        watching = [asyncio.create_task(watch(server.url)) for server in both]
        load = Load(send)
        async with load.running():
            await load.more(5)
            await rolled(both, load, later)
        for each in watching:
            each.cancel()
    assert load.failures == []
    assert written(tmp_path) == Counter(load.answered)


async def test_with_clients_that_repeat_a_request_under_its_key(tmp_path: Path, postgres: str) -> None:
    url = await new_database(postgres)
    chance = random.Random(SEED)  # noqa: S311 -- no secret
    async with servers(tmp_path, url) as both:
        for server in both:
            await server.start()

        async def send(number: int) -> httpx2.Response:
            body, headers = {"code": program(number)}, {"Idempotency-Key": f"request-{number}"}
            while True:
                server = chance.choice(both)
                try:
                    async with httpx2.AsyncClient(base_url=server.url, timeout=200) as http:
                        answer = await http.post("/v1/execute", json=body, headers=headers)
                except httpx2.TransportError:
                    await asyncio.sleep(0.1)
                    continue
                if answer.status_code == 200:
                    return answer
                assert answer.status_code in (202, *_AGAIN), answer.text
                assert int(answer.headers["Retry-After"]) > 0
                await asyncio.sleep(0.1)

        load = Load(send)
        async with load.running():
            await load.more(5)
            await rolled(both, load)
    assert load.failures == []
    assert written(tmp_path) == Counter(load.answered)


@pytest.mark.parametrize("tool", ["get", "put"])
async def test_a_request_of_a_killed_server_has_one_outcome_on_the_other(
    tmp_path: Path, postgres: str, tool: str
) -> None:
    url = await new_database(postgres)
    release = tmp_path / "release"
    code = f"box.put(n=1)\nbox.{tool}_when_released(n=2, release={str(release)!r})\nbox.put(n=3)"
    headers = {"Idempotency-Key": "order-17"}
    seen = tmp_path / ("got" if tool == "get" else "put")
    async with servers(tmp_path, url, journal={"lease_s": 1}) as (one, other):
        await one.start()
        await other.start()
        async with httpx2.AsyncClient(timeout=200) as http:
            asked = asyncio.create_task(http.post(f"{one.url}/v1/execute", json={"code": code}, headers=headers))
            await until(partial(has_line, seen, "2"))
            await one.kill()
            with pytest.raises(httpx2.TransportError):
                await asked
            release.touch()
            again = await http.post(f"{other.url}/v1/execute", json={"code": code}, headers=headers)
            assert again.headers["Idempotent-Replayed"] == "true"
            outcome = again.json()
            listed = (await http.get(f"{other.url}/v1/executions")).json()["executions"]
    assert [one["id"] for one in listed] == [outcome["id"]]
    if tool == "get":
        assert (outcome["status"], written(tmp_path)) == ("completed", {1: 1, 3: 1})
    else:  # nobody but a person can know whether the second write was made
        assert (outcome["status"], written(tmp_path)) == ("paused", {1: 1, 2: 1})
        assert [call["kind"] for call in outcome["pending"]] == ["unknown"]


async def test_what_no_request_waits_for_ends_before_the_server_does(tmp_path: Path, postgres: str) -> None:
    url = await new_database(postgres)
    release = tmp_path / "release"
    code = f"box.put_when_released(n=1, release={str(release)!r})"
    async with servers(tmp_path, url) as (one, other):
        await one.start()
        await other.start()
        async with httpx2.AsyncClient(timeout=200) as http:
            started = await http.post(f"{one.url}/v1/execute", json={"code": code, "wait_s": 0})
            assert started.status_code == 202
            await until(partial(has_line, tmp_path / "put", "1"))
            stopping = asyncio.create_task(one.stop())
            await until(partial(is_away, one.url))
            release.touch()
            await stopping
            found = (await http.get(f"{other.url}{started.headers['Location']}")).json()
    assert (found["status"], written(tmp_path)) == ("completed", {1: 1})
