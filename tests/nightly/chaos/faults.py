"""The faults, and a plan of them that a seed gives."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tests.nightly.chaos import network
from tests.nightly.chaos.servers import MOVABLE_CLOCK

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from tests.nightly.chaos.servers import Server
    from tests.nightly.chaos.versions import Version
    from tests.postgres import Cluster

#: Seconds of a lease. Servers that stand still or are cut off for longer lose their executions.
LEASE_S = 2

#: The servers' `drain_s`: longer than any program of the load takes.
DRAIN_S = 15

#: How far a clock moves, in seconds.
_OFFSETS_S = (-3600, -60, -LEASE_S, LEASE_S, 60, 3600)

#: Between two events of a round, in seconds.
GAP_S = 1.2


#: Events of a round at most.
LONGEST_ROUND = 6


class Site(Protocol):
    """What faults happen to."""

    @property
    def servers(self) -> Mapping[str, Server]:
        """The servers by name."""
        ...

    @property
    def cluster(self) -> Cluster:
        """The database."""
        ...

    @property
    def database_lock(self) -> asyncio.Lock:
        """The lock of the fault that has the database."""
        ...

    @property
    def versions(self) -> tuple[Version, Version]:
        """This version, and the other one."""
        ...

    async def fell(self, server: Server) -> None:
        """Note that a server has lost what it runs now, for the time until it is taken over."""
        ...


@dataclass(frozen=True, slots=True)
class Event:
    """One event: which fault, on which server (none for the database), for how long, and how long after the last.

    `offset_s` is how far a clock moves.
    """

    number: int
    kind: str
    server: str
    lasts_s: float
    after_s: float
    offset_s: int = 0

    def __str__(self) -> str:
        """Describe it in a few words."""
        where = f" {self.server}" if self.server else ""
        by = f" by {self.offset_s:+d} s" if self.offset_s else ""
        return f"event {self.number}: {self.kind}{where}{by}, {self.lasts_s:.1f} s"


async def kill(site: Site, event: Event) -> None:
    """Kill a server, and start it again."""
    server = site.servers[event.server]
    await site.fell(server)
    await server.kill()
    await asyncio.sleep(event.lasts_s)
    await server.start()


async def stop(site: Site, event: Event) -> None:
    """Let a server stand still for longer than its lease."""
    server = site.servers[event.server]
    await site.fell(server)
    server.stop()
    await asyncio.sleep(LEASE_S + event.lasts_s)
    server.go_on()
    await server.ready()


async def cut_database(site: Site, event: Event) -> None:
    """Cut a server from the database."""
    await _cut(site, event, [network.DATABASE])


async def cut_balancer(site: Site, event: Event) -> None:
    """Cut a server from the balancer."""
    await _cut(site, event, [network.BALANCER])


async def unplug(site: Site, event: Event) -> None:
    """Cut a server from everything."""
    server = site.servers[event.server]
    await site.fell(server)
    network.unplug(event.server)
    await asyncio.sleep(event.lasts_s)
    network.plug(event.server)
    await server.ready()


async def restart_database(site: Site, event: Event) -> None:
    """Restart PostgreSQL; it ends connections first."""
    await _restart(site, "fast", event)


async def crash_database(site: Site, event: Event) -> None:
    """Restart PostgreSQL as if its processes had died."""
    await _restart(site, "immediate", event)


async def move_clock(site: Site, event: Event) -> None:
    """Move the clock of a server, forward or back by up to an hour."""
    server = site.servers[event.server]
    server.set_clock(event.offset_s)
    await asyncio.sleep(event.lasts_s)
    server.set_clock(0)


async def fill_disk(site: Site, event: Event) -> None:
    """Fill the file system of a server's state folder."""
    server = site.servers[event.server]
    server.fill()
    await asyncio.sleep(event.lasts_s)
    server.make_room()


async def upgrade(site: Site, event: Event) -> None:
    """Stop and start all servers, one after the other, with the other version."""
    del event
    this, other = site.versions
    for server in site.servers.values():
        async with server.lock:
            await server.terminate()
            await server.start(other if server.version == this else this)


async def _cut(site: Site, event: Event, peers: Sequence[str]) -> None:
    server = site.servers[event.server]
    await site.fell(server)
    network.cut(event.server, peers)
    await asyncio.sleep(event.lasts_s)
    network.mend(event.server, peers)
    await server.ready()


async def _restart(site: Site, mode: str, event: Event) -> None:
    await asyncio.to_thread(site.cluster.stop, mode)
    await asyncio.sleep(event.lasts_s)
    await asyncio.to_thread(site.cluster.start)


#: Each fault, how often it comes in comparison, how long it lasts at least and at most, in seconds.
FAULTS: Mapping[Callable[[Site, Event], Awaitable[None]], tuple[int, float, float]] = {
    kill: (8, 0.0, 2.0),
    stop: (5, 0.5, 3.0),
    cut_database: (4, 0.5, 2.5 * LEASE_S),
    cut_balancer: (3, 0.5, 2.5 * LEASE_S),
    unplug: (4, 0.5, 2.5 * LEASE_S),
    restart_database: (2, 0.0, 1.5),
    crash_database: (2, 0.0, 1.5),
    move_clock: (2, 1.0, 4.0),
    fill_disk: (2, 1.0, 4.0),
    upgrade: (1, 0.0, 0.0),
}

BY_NAME = {fault.__name__: fault for fault in FAULTS}

#: Faults of the database, of the server with a movable clock, and of all servers: the others hit any server.
_OF_DATABASE = (restart_database.__name__, crash_database.__name__)


def plan(events: int, seed: int, servers: Sequence[str], only: Collection[str] = ()) -> list[list[Event]]:
    """Return rounds of events, of all kinds or of some. The events of a round overlap; an upgrade is alone in one."""
    chance = random.Random(seed)  # noqa: S311
    kinds = {fault.__name__: weight for fault, (weight, _, _) in FAULTS.items() if not only or fault.__name__ in only}
    rounds: list[list[Event]] = [[]]
    for number in range(1, events + 1):
        (kind,) = chance.choices(list(kinds), list(kinds.values()))
        server = "" if kind in (*_OF_DATABASE, "upgrade") else chance.choice(servers)
        server = MOVABLE_CLOCK if kind == "move_clock" else server
        _, least, most = FAULTS[BY_NAME[kind]]
        offset_s = chance.choice(_OFFSETS_S) if kind == "move_clock" else 0
        event = Event(number, kind, server, chance.uniform(least, most), chance.uniform(0.1, GAP_S), offset_s)
        is_alone = kind == "upgrade" or (bool(rounds[-1]) and rounds[-1][0].kind == "upgrade")
        if rounds[-1] and (is_alone or len(rounds[-1]) == LONGEST_ROUND or chance.random() < 1 / LONGEST_ROUND):
            rounds.append([])
        rounds[-1].append(event)
    return [each for each in rounds if each]


async def happen(site: Site, event: Event) -> None:
    """Let an event happen, once what else has its server or the database is over."""
    fault = BY_NAME[event.kind]
    lock = site.database_lock if event.kind in _OF_DATABASE else None
    lock = site.servers[event.server].lock if event.server else lock
    if lock is None:
        await fault(site, event)
        return
    async with lock:
        await fault(site, event)
