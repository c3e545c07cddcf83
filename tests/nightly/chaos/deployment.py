"""What is deployed: an upstream, a PostgreSQL, three servers and a balancer, each under an address of its own."""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode.executions.journal.configured import journal_of
from codemode.settings import Secrets, Settings
from tests.nightly.chaos import network, versions
from tests.nightly.chaos.balancer import balancer
from tests.nightly.chaos.faults import DRAIN_S, LEASE_S
from tests.nightly.chaos.servers import Server
from tests.nightly.crash.harness import Service, sources
from tests.postgres import restartable_cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from codemode.executions.journal.base import Journal
    from tests.nightly.chaos.balancer import Balancer
    from tests.nightly.chaos.versions import Version
    from tests.postgres import Cluster

SERVERS = ("s1", "s2", "s3")
CLIENTS = ("ann", "bob", "cid", "dee")


@dataclass(frozen=True)
class Deployment:
    """What runs. `lost` has the executions that a server ran when something happened to it, and the time of that."""

    servers: Mapping[str, Server]
    cluster: Cluster
    balancer: Balancer
    journal: Journal
    upstream: Service
    keys: Mapping[str, str]
    versions: tuple[Version, Version]
    lost: list[tuple[str, float]] = field(default_factory=list)
    database_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def fell(self, server: Server) -> None:
        """Note what runs on a server now. Nothing is noted while the database is away."""
        if self.database_lock.locked():
            return
        now_us = time.time() * 1e6  # the database runs on this machine
        of_server = f"-{server.pid}-"
        running = await self.journal.list(status="running", limit=1000)
        self.lost.extend((one.request.id, now_us) for one in running if of_server in one.server)

    async def quiet(self) -> None:
        """Wait until no server, dead ones included, has anything left to send to the upstream."""
        for name, server in self.servers.items():
            await server.ready()
            while network.has_unsent(name, network.UPSTREAM):  # noqa: ASYNC110 -- it has no event
                await asyncio.sleep(0.1)


@asynccontextmanager
async def deployment(folder: Path, commit: str = "") -> AsyncIterator[Deployment]:
    """Yield a deployment whose servers run this tree, and can run another version. It ends with the context."""
    network.build(SERVERS)
    async with AsyncExitStack() as stack:
        cluster = stack.enter_context(
            restartable_cluster(folder=str(folder), address=network.DATABASE, network=network.NETWORK)
        )
        upstream = Service(await _upstream(stack), network.UPSTREAM)
        keys = {name: secrets.token_urlsafe(32) for name in CLIENTS}
        configuration = _configuration(folder, upstream.port, keys)
        servers = {name: Server(name, folder / name, configuration) for name in SERVERS}
        both = (versions.THIS, versions.other(folder / "other", commit))
        await asyncio.gather(*(server.start() for server in servers.values()))
        here = configuration | {"journal": configuration["journal"] | {"url": cluster.url}}
        journal = journal_of(Settings.model_validate(here | {"state_folder": str(folder / "here")}), Secrets())
        assert journal is not None
        await journal.open()
        stack.push_async_callback(journal.aclose)
        for server in servers.values():
            stack.push_async_callback(server.kill)
        in_front = await stack.enter_async_context(balancer(folder, list(servers.values())))
        yield Deployment(servers, cluster, in_front, journal, upstream, keys, both)


async def _upstream(stack: AsyncExitStack) -> int:
    command = [sys.executable, "-m", "tests.nightly.crash.upstream", network.UPSTREAM]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, cwd=versions.ROOT, start_new_session=True
    )
    assert process.stdout is not None

    async def end() -> None:
        process.kill()
        await process.wait()

    stack.push_async_callback(end)
    return int(await process.stdout.readline())


def _configuration(folder: Path, port: int, keys: Mapping[str, str]) -> dict[str, Any]:
    """The configuration that all servers share."""
    found = sources(folder, f"http://{network.UPSTREAM}:{port}")
    for name, key in {**keys, "journal": "the key of all servers"}.items():
        (folder / f"{name}.secret").write_text(key, encoding="utf-8")
    return {
        "name": "chaos",
        "sources": {name: {**one, "location": str(folder / one["location"])} for name, one in found.items()},
        "server": {
            "drain_s": DRAIN_S,
            "keys": [{"file": str(folder / f"{name}.secret"), "label": name} for name in keys],
        },
        "observe": {"log": "json"},
        "limits": {"wall_s": 120},
        "journal": {
            "url": f"postgresql://postgres@{network.DATABASE}/postgres",
            "key": {"file": str(folder / "journal.secret")},
            "lease_s": LEASE_S,
        },
    }
