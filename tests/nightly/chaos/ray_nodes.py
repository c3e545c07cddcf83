"""Kill nodes of a Ray cluster under load, update it, and check that nothing was lost and nothing done twice.

    .venv-servers/ray/bin/python tests/nightly/chaos/ray_nodes.py [--kills 5] [--updates 1] [--seed N]

A local cluster has a head node with Ray's controller and HTTP proxy, two nodes with one replica each, and a free node.
In each round, while clients send programs, a node with a replica is killed with all its processes, or all replicas are
replaced one after the other, as for a new version. Then what was recorded is compared with what the upstream has seen.
Prints figures, and ends with 1 after a violation.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[3]))

import httpx2
import ray
from ray import serve
from ray.cluster_utils import Cluster
from ray.util.state import list_actors

from codemode.executions.journal.configured import journal_of
from codemode.serving import ray as on_ray
from codemode.settings import Secrets, load_settings
from tests.nightly.chaos.invariants import Check, Found
from tests.nightly.crash.harness import ROOT, Service, sources
from tests.nightly.crash.programs import PROGRAMS
from tests.ports import free_port
from tests.postgres import cluster as postgres

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.base import Journal

#: Clients that each send one program after the other.
CLIENTS = 8

REPLICAS = 2

#: The key of the clients, and of the journal.
KEY = "a-key-for-tests"

#: Seconds of load before a kill, and limits for what follows it.
LOAD_S = (2.0, 6.0)
SETTLED_S = 120.0

#: Seconds that a request waits for its execution, before the answer is 202.
WAIT_S = 10.0


@dataclass
class Figures:
    """What was measured, over all rounds."""

    requests: int = 0
    answered: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    taken_over_s: list[float] = field(default_factory=list)
    failing_s: list[float] = field(default_factory=list)
    replaced_s: list[float] = field(default_factory=list)
    left: int = 0
    failed_by_updates: int = 0

    def report(self, found: Found, kills: int, updates: int, seed: int) -> str:
        """Return the figures as text."""
        failed = ", ".join(f"{count:,} {reason}" for reason, count in self.failed.most_common()) or "none"
        ends = ", ".join(f"{count:,} {status}" for status, count in sorted(found.ends.items()))
        writes = ", ".join(f"{count:,} {state}" for state, count in sorted(found.writes.items()))
        return (
            f"{kills} nodes killed (seed {seed}); {self.left:,} executions were under way when a node was killed\n"
            f"{updates} rolling updates; failed requests during them: {self.failed_by_updates:,}\n"
            f"requests: {self.requests:,}, failed: {failed}; programs answered: {self.answered:,}\n"
            f"last failed request after a kill: {_spread(self.failing_s)}\n"
            f"executions taken over after: {_spread(self.taken_over_s)}\n"
            f"replica replaced after: {_spread(self.replaced_s)}\n"
            f"executions: {ends}\nwrites: {writes}; {found.sent_again:,} sent again under one idempotency key;"
            f" {found.decided:,} paused executions were decided on\n"
            f"violations: {len(found.violations)}"
        )


def _spread(seconds: Sequence[float]) -> str:
    if not seconds:
        return "never"
    return f"{statistics.median(seconds):.1f} s (median), {max(seconds):.1f} s (longest) of {len(seconds):,}"


class Load:
    """Clients that repeat each request under its idempotency key until it is answered with an outcome."""

    def __init__(self, url: str, figures: Figures, chance: random.Random) -> None:
        self.tags: dict[str, str] = {}
        self.last_failure = 0.0
        self.url = url
        self._figures = figures
        self._chance = chance
        self._numbers = 0
        self._ending = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Let the clients send programs, one after the other each."""
        self.tags, self._ending = {}, asyncio.Event()
        self._tasks = [asyncio.create_task(self._client()) for _ in range(CLIENTS)]

    async def end(self) -> None:
        """Wait for the answers to the last programs."""
        self._ending.set()
        async with asyncio.timeout(SETTLED_S):
            await asyncio.gather(*self._tasks)

    def connected(self) -> httpx2.AsyncClient:
        """Return a client with the key."""
        return httpx2.AsyncClient(base_url=self.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=4 * WAIT_S)

    async def _client(self) -> None:
        async with self.connected() as http:
            while not self._ending.is_set():
                self._numbers += 1
                tag = f"t{self._numbers}"
                self.tags[tag] = "the client"
                await self._answered(http, tag, self._chance.choice(PROGRAMS).tagged(tag))
                self._figures.answered += 1

    async def _answered(self, http: httpx2.AsyncClient, tag: str, code: str) -> None:
        while True:
            self._figures.requests += 1
            try:
                answer = await http.post(
                    "/v1/execute", json={"code": code, "wait_s": WAIT_S}, headers={"Idempotency-Key": tag}
                )
            except httpx2.TransportError as error:
                reason = type(error).__name__
            else:
                if answer.status_code == 200:
                    return
                reason = "" if answer.status_code == 202 else str(answer.status_code)
            if reason:
                self._figures.failed[reason] += 1
            if reason not in ("", "429"):  # who is asked to come again has not failed
                self.last_failure = time.time()
            await asyncio.sleep(0.2)


class Nodes:
    """The cluster. Its methods block; only `kill` may be called from another thread than the main one."""

    def __init__(self) -> None:
        small = {"object_store_memory": 80 * 1024**2}
        self._cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **small})
        self._small = small
        self._workers: list[Any] = []
        for _ in range(REPLICAS):
            self.add()
        ray.init(address=self._cluster.address, logging_level="error", log_to_driver=False)

    def serve(self, config: Path, port: int) -> None:
        """Start the replicas, and the proxy on the head node."""
        serve.start(proxy_location="HeadOnly", http_options={"host": "127.0.0.1", "port": port})
        self.update(config)

    def update(self, config: Path) -> None:
        """Replace all replicas, unless they have this configuration file already."""
        arguments = {"config": str(config), "min_replicas": REPLICAS, "max_replicas": REPLICAS}
        serve.run(on_ray.app(arguments))

    def add(self) -> None:
        """Add a node that has room for one replica."""
        self._workers.append(self._cluster.add_node(num_cpus=1, **self._small))

    def kill(self, chance: random.Random) -> None:
        """Kill a node that has a replica, with all its processes."""
        node = chance.choice([node for node in self._workers if node.node_id in self._with_replica()])
        self._workers.remove(node)
        for pid in _descendants({process.process.pid for kind in node.all_processes.values() for process in kind}):
            os.kill(pid, signal.SIGKILL)
        self._cluster.remove_node(node, allow_graceful=False)

    @property
    def running(self) -> int:
        """The number of replicas that run."""
        deployment = serve.status().applications["default"].deployments["codemode"]
        return int(deployment.replica_states.get("RUNNING", 0))

    def close(self) -> None:
        """Stop everything."""
        serve.shutdown()
        ray.shutdown()
        self._cluster.shutdown()

    def _with_replica(self) -> set[str]:
        replicas = list_actors(filters=[("class_name", "=", "ServeReplica:default:codemode"), ("state", "=", "ALIVE")])
        return {replica.node_id for replica in replicas}


def _descendants(parents: set[int]) -> list[int]:
    """Return these processes and all that they have started, from /proc."""
    found = list(parents)
    for parent in found:
        for file in Path(f"/proc/{parent}/task").glob("*/children"):
            found += map(int, file.read_text().split())
    return found


class Rounds:
    """One kill after the other, each checked."""

    def __init__(self, nodes: Nodes, load: Load, journal: Journal, upstream: Service, figures: Figures) -> None:
        self.found = Found()
        self._nodes, self._load, self._journal, self._upstream = nodes, load, journal, upstream
        self._figures = figures

    async def update(self, config: Path) -> None:
        """Replace all replicas under load, and check."""
        self._load.begin()
        await asyncio.sleep(max(LOAD_S))
        failed = self._figures.failed.copy()
        await asyncio.to_thread(self._nodes.update, config)
        await self._load.end()
        failed = self._figures.failed - failed
        self._figures.failed_by_updates += failed.total() - failed["429"]
        await self._settle()
        await self._check()

    async def kill(self, chance: random.Random) -> None:
        """Kill a node under load, wait until all is well, and check."""
        self._nodes.add()
        self._load.begin()
        await asyncio.sleep(chance.uniform(*LOAD_S))
        left = [one.request.id for one in await self._journal.list(status="running")]
        killed = time.time()
        await asyncio.to_thread(self._nodes.kill, chance)
        await self._until_replaced(killed)
        await self._load.end()
        await self._settle()
        self._figures.left += len(left)
        self._figures.failing_s.append(max(0.0, self._load.last_failure - killed))
        for execution in left:
            for entry in await self._journal.read(execution):
                if entry.kind == "resumed" and entry.data["by"] == "server":
                    self._figures.taken_over_s.append(entry.at_us / 1e6 - killed)
        await self._check()

    async def _until_replaced(self, killed: float) -> None:
        async with asyncio.timeout(SETTLED_S):
            was_missed = False
            while not was_missed or await asyncio.to_thread(lambda: self._nodes.running) < REPLICAS:
                was_missed = was_missed or await asyncio.to_thread(lambda: self._nodes.running) < REPLICAS
                await asyncio.sleep(0.1)
        self._figures.replaced_s.append(time.time() - killed)

    async def _settle(self) -> None:
        async with asyncio.timeout(SETTLED_S):
            while await self._journal.list(status="running"):  # noqa: ASYNC110 -- servers end them
                await asyncio.sleep(0.1)

    async def _check(self) -> None:
        check = Check(self._journal, await self._upstream.seen(), self.found, has_crashed=False)
        stored = await check.executions(self._load.tags)
        for tag, execution in stored.items():
            await check.check(tag, execution)
        waiting = {tag: one for tag, one in stored.items() if one.status == "paused"}
        await check.decide(waiting)
        await self._resume([one.request.id for one in waiting.values()])
        await self._settle()
        later = await self._upstream.seen()
        for tag in waiting:
            check.check_again(tag, later)

    async def _resume(self, executions: Sequence[str]) -> None:
        async with self._load.connected() as http:
            for execution in executions:
                answer = await http.post(f"/v1/executions/{execution}/resume", json={})
                if answer.status_code not in (200, 202):
                    self.found.violations.append(f"{execution} was decided on, and does not go on: {answer.text}")


async def run(kills: int, updates: int, seed: int) -> int:
    """Run, print figures, and return the exit code."""
    chance = random.Random(seed)  # noqa: S311
    figures = Figures()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(postgres())
        upstream = await _upstream(stack)
        config = _configuration(folder, upstream.port, url)
        journal = journal_of(load_settings(config), Secrets())
        assert journal is not None
        await journal.open()
        stack.push_async_callback(journal.aclose)
        nodes = Nodes()
        stack.callback(nodes.close)
        port = free_port()
        nodes.serve(config, port)
        rounds = Rounds(nodes, Load(f"http://127.0.0.1:{port}", figures, chance), journal, upstream, figures)
        for number in range(1, kills + 1):
            await rounds.kill(chance)
            print(f"{number} of {kills} nodes killed", flush=True)  # noqa: T201
        for number in range(1, updates + 1):
            await rounds.update(_copied(config, number))
            print(f"{number} of {updates} updates done", flush=True)  # noqa: T201
        print(figures.report(rounds.found, kills, updates, seed), *rounds.found.violations, sep="\n")  # noqa: T201
    return 1 if rounds.found.violations else 0


def _copied(config: Path, number: int) -> Path:
    """Return a copy of the configuration, whose other name makes Ray replace the replicas."""
    copy = config.with_name(f"codemode-{number}.yaml")
    copy.write_text(config.read_text(encoding="utf-8"), encoding="utf-8")
    return copy


async def _upstream(stack: AsyncExitStack) -> Service:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.nightly.crash.upstream", stdin=pipe, stdout=pipe, cwd=ROOT
    )

    async def end() -> None:
        process.kill()
        await process.communicate()

    stack.push_async_callback(end)
    assert process.stdout is not None
    return Service(int(await process.stdout.readline()))


def _configuration(folder: Path, port: int, url: str) -> Path:
    (folder / "secret").write_text(KEY, encoding="utf-8")
    content = {
        "name": "on-ray",
        "sources": sources(folder, f"http://127.0.0.1:{port}"),
        "observe": {"log": "off"},
        "limits": {"wall_s": 120},
        "server": {"drain_s": 5, "keys": [{"file": str(folder / "secret")}]},
        "journal": {"url": url, "key": {"file": str(folder / "secret")}, "lease_s": 2},
        "state_folder": str(folder / "state"),
        "cache_folder": str(folder / "cache"),
    }
    file = folder / "codemode.yaml"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--updates", type=int, default=1)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # noqa: TID251 -- before Ray starts its processes
    sys.exit(asyncio.run(run(given.kills, given.updates, given.seed)))
