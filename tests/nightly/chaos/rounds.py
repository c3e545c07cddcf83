"""Rounds: load, events that overlap, and then the comparison of the records; and figures over all of them."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx2

from tests.nightly.chaos.faults import crash_database, happen
from tests.nightly.chaos.invariants import Check, Found
from tests.nightly.chaos.load import URL, Load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codemode.executions.types.records import StoredExecution
    from tests.nightly.chaos.deployment import Deployment
    from tests.nightly.chaos.faults import Event
    from tests.nightly.crash.harness import Seen

#: Clients of each key.
_CLIENTS_PER_KEY = 2

#: Seconds that executions may take to end or to pause after everything was mended.
_SETTLED_S = 90.0


class Rounds:
    """Runs rounds on a deployment."""

    def __init__(self, deployed: Deployment, seed: int) -> None:
        self.history: list[str] = []
        self._deployed = deployed
        self._load = Load(deployed.keys, _CLIENTS_PER_KEY, seed)
        self._found = Found()
        self._began = time.monotonic()
        self._events: Counter[str] = Counter()
        self._taken_over_s: list[float] = []
        self._times: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._resumed = 0
        self._told = 0
        self._left_to_people = 0

    @property
    def violations(self) -> list[str]:
        """What was violated so far."""
        return [*self._load.answers.violations, *self._found.violations]

    async def aclose(self) -> None:
        """End the load."""
        await self._load.aclose()

    async def undisturbed(self, lasts_s: float) -> None:
        """Run the load without a fault."""
        self._load.begin()
        await asyncio.sleep(2.0)  # caches and connections are filled
        with self._timed("before"):
            await asyncio.sleep(lasts_s)
        await self._load.end()
        await self._check()

    async def happen(self, events: Sequence[Event]) -> None:
        """Let the events of a round happen under load, and check what is left."""
        self._load.begin()
        is_upgrade = events[0].kind == "upgrade"
        with self._timed("upgrades" if is_upgrade else "faults"):
            async with asyncio.TaskGroup() as under_way:
                for event in events:
                    await asyncio.sleep(event.after_s)
                    under_way.create_task(self._event(event))
        await self._load.end()
        await self._check(has_crashed=any(event.kind == crash_database.__name__ for event in events))

    async def _event(self, event: Event) -> None:
        self._note(f"{event} …")
        await happen(self._deployed, event)
        self._note(f"event {event.number} is over")
        self._events[event.kind] += 1

    async def _check(self, *, has_crashed: bool = False) -> None:
        await self._settle()
        await self._resume_unasked()
        await self._deployed.quiet()
        seen = await self._deployed.upstream.seen()
        check = Check(self._deployed.journal, seen, self._found, has_crashed=has_crashed)
        stored = await check.executions(self._load.owners)
        for tag, one in stored.items():
            await check.check(tag, one)
        await self._look_with_other_keys(stored)
        await self._note_taken_over()
        waiting = {tag: one for tag, one in stored.items() if one.status == "paused"}
        await check.decide(waiting)
        await self._go_on(waiting)
        later: Seen = await self._deployed.upstream.seen()
        for tag in waiting:
            check.check_again(tag, later)
        self._note(f"checked {len(stored)} executions, {len(waiting)} of them waited for a person")
        self._note_violations()
        self._load.forget()

    async def _look_with_other_keys(self, stored: dict[str, StoredExecution]) -> None:
        """Ask for one execution of each client with the key of another client."""
        owners = list(self._deployed.keys)
        one_of = {self._load.owners[tag]: one.request.id for tag, one in stored.items()}
        for owner, execution in one_of.items():
            other = owners[owners.index(owner) - 1]
            async with self._client(other) as http:
                answer = await http.get(f"/v1/executions/{execution}")
            if answer.status_code != 404:
                self._found.violations.append(f"{other} was answered with {execution} of {owner}: {answer.text}")

    def _client(self, name: str) -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {self._deployed.keys[name]}"}
        return httpx2.AsyncClient(base_url=URL, headers=headers, timeout=60.0)

    async def _settle(self) -> None:
        """Wait until every execution has come to an end or to a pause."""
        deadline = time.monotonic() + _SETTLED_S
        while running := await self._deployed.journal.list(status="running"):
            if time.monotonic() > deadline:
                ids = [one.request.id for one in running]
                self._found.violations.append(f"{ids} neither end nor pause within {_SETTLED_S:g} s")
                return
            await asyncio.sleep(0.05)

    async def _resume_unasked(self) -> None:
        """Continue what waits without a question: three servers have died with it, or a version changed."""
        journal = self._deployed.journal
        for one in await journal.list(status="paused", limit=1000):
            is_of_round = _tag(one) in self._load.owners  # those of earlier rounds were left to people
            if is_of_round and not await journal.pending(execution=one.request.id):
                self._resumed += 1
                await self._resume(one)
        await self._settle()

    async def _go_on(self, waiting: dict[str, StoredExecution]) -> None:
        for one in waiting.values():
            await self._resume(one)
        await self._settle()
        for tag, one in waiting.items():
            ended = await self._deployed.journal.get(one.request.id)
            if ended.status == "paused":
                self._left_to_people += 1
            elif ended.status != "completed":
                self._found.violations.append(f"{tag} {one.request.id} was decided on, and is {ended.status}")

    async def _resume(self, stored: StoredExecution) -> None:
        async with self._client(self._load.owners[_tag(stored)]) as http:
            answer = await http.post(f"/v1/executions/{stored.request.id}/resume", json={})
        if answer.status_code not in (200, 202) and answer.json().get("code") != "execution_changed":
            self._found.violations.append(f"{stored.request.id} does not go on: {answer.text}")

    async def _note_taken_over(self) -> None:
        """Note how long it took until another server went on with what was lost."""
        for execution, fell_us in self._deployed.lost:
            resumed = [one.at_us for one in await self._deployed.journal.read(execution) if one.kind == "resumed"]
            later = [at_us for at_us in resumed if at_us > fell_us]
            if later:
                self._taken_over_s.append((min(later) - fell_us) / 1e6)
        self._deployed.lost.clear()

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self._times[phase].append((began, time.monotonic()))

    def _note(self, what: str) -> None:
        self.history.append(f"{time.monotonic() - self._began:7.1f} s  {what}")

    def _note_violations(self) -> None:
        self.history.extend(f"{'violated':>9}  {what}" for what in self.violations[self._told :])
        self._told = len(self.violations)

    # --- figures -----------------------------------------------------------------------------------------------

    async def report(self, seed: int, lasted_s: float) -> str:
        """Return what was found, as a table."""
        answers, found = self._load.answers, self._found
        balanced = await self._deployed.balancer.counts()
        rows = {
            "events": _listed(self._events),
            "executions": _listed(found.ends),
            "writes": f"{_listed(found.writes)}; {found.sent_again} sent again under one key",
            "decided by a person": f"{found.decided}; {self._resumed} continued without a question; "
            f"{self._left_to_people} left, since their version is gone",
            "time until taken over": self._taken_over(),
            "goodput": "; ".join(f"{name} {self._goodput(name):.1f}/s" for name in self._times),
            "requests": f"{answers.requests}, failed: {_listed(answers.failed) or 'none'}",
            "failed in upgrades": str(self._failed("upgrades")),
            "forgotten": str(answers.forgotten),
            "the balancer": _listed(balanced),
            "violations": str(len(self.violations)),
        }
        width = max(map(len, rows))
        head = f"{self._events.total()} events in {lasted_s:.0f} s (seed {seed})"
        return "\n".join([head, *(f"{name:<{width}}  {value}" for name, value in rows.items())])

    def _taken_over(self) -> str:
        if not self._taken_over_s:
            return "nothing was"
        times = self._taken_over_s
        return f"median {statistics.median(times):.1f} s, at most {max(times):.1f} s, of {len(times)}"

    def _goodput(self, phase: str) -> float:
        """Return the executions answered for each second of a phase."""
        spans = self._times[phase]
        answered = sum(began <= at <= ended for at, _ in self._load.answers.times for began, ended in spans)
        return answered / sum(ended - began for began, ended in spans)

    def _failed(self, phase: str) -> int:
        """Return the requests of clients that failed in a phase."""
        spans = self._times[phase]
        return sum(began <= at <= ended for at in self._load.answers.failed_at for began, ended in spans)


def _tag(stored: StoredExecution) -> str:
    return stored.request.code.partition("\n")[0].removeprefix("TAG = ").strip("'")


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())
