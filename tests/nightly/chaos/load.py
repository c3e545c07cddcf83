"""The load: clients that start programs and repeat each request under its idempotency key until it is answered."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2

from tests.nightly.chaos.balancer import ADDRESS, LISTENING
from tests.nightly.crash.programs import PROGRAMS, Program

if TYPE_CHECKING:
    from collections.abc import Mapping

URL = f"http://{ADDRESS}:{LISTENING}"

#: Seconds for one request at most; the server answers 202 before that.
_REQUEST_S = 20.0
_WAIT_S = 10.0

#: Seconds until a program must have been answered, over all repetitions: longer than any fault lasts.
_ANSWERED_S = 150.0

_SLOW = """
import asyncio, random
for n in range(4):
    plain.things.write(tag=TAG, label=f"w{n}", value=f"{random.random()}")
    await asyncio.sleep(0.5)
    keyed.things.write(tag=TAG, label=f"k{n}", value=f"{random.random()}")
    assert plain.things.read(tag=TAG, label=f"r{n}")["label"] == f"r{n}"
"""

_MIX = (*PROGRAMS, Program(_SLOW, 1))

#: Ends of an execution that the client waits for no longer.
_GOES_ON = ("queued", "running")


@dataclass
class Answers:
    """What the clients were answered."""

    #: The end of each program, by its tag. A paused one waits for a person.
    ends: dict[str, str] = field(default_factory=dict)
    #: When each was answered, on the monotonic clock, and the seconds that it took.
    times: list[tuple[float, float]] = field(default_factory=list)
    #: Requests that failed, by reason: 5xx, or no answer at all; with their times.
    failed: Counter[str] = field(default_factory=Counter)
    failed_at: list[float] = field(default_factory=list)
    requests: int = 0
    #: Executions that were begun, and that no server knew later. The client then repeats its request.
    forgotten: int = 0
    violations: list[str] = field(default_factory=list)


class Load:
    """Clients of several keys. `programs` maps the tag of each program that was sent to its program."""

    def __init__(self, keys: Mapping[str, str], clients_per_key: int, seed: int) -> None:
        self.answers = Answers()
        self.programs: dict[str, Program] = {}
        self.owners: dict[str, str] = {}
        self._keys = keys
        self._clients_per_key = clients_per_key
        self._chance = random.Random(seed)  # noqa: S311
        self._numbers = 0
        self._ending = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Let the clients send programs, one after the other each."""
        self._ending = asyncio.Event()
        self._tasks = [
            asyncio.create_task(self._client(name)) for name in self._keys for _ in range(self._clients_per_key)
        ]

    async def end(self) -> None:
        """Let the clients end: each waits for the answer to its last program."""
        self._ending.set()
        await asyncio.gather(*self._tasks)

    async def aclose(self) -> None:
        """End the clients at once."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def forget(self) -> None:
        """Forget the programs that were sent so far, which were checked."""
        self.programs.clear()
        self.owners.clear()
        self.answers.ends.clear()

    async def _client(self, name: str) -> None:
        headers = {"Authorization": f"Bearer {self._keys[name]}"}
        async with httpx2.AsyncClient(base_url=URL, headers=headers, timeout=_REQUEST_S) as http:
            while not self._ending.is_set():
                self._numbers += 1
                tag = f"{name}-{self._numbers}"
                program = self._chance.choice(_MIX)
                self.programs[tag], self.owners[tag] = program, name
                began = time.monotonic()
                try:
                    async with asyncio.timeout(_ANSWERED_S):
                        outcome = await _Caller(http, self.answers).outcome(f"{program.tagged(tag)}\nTAG\n")
                except TimeoutError:
                    self.answers.violations.append(f"{tag} was not answered within {_ANSWERED_S:g} s")
                    continue
                except _Unexpected as unexpected:
                    self.answers.violations.append(f"{tag} was answered with {unexpected}")
                    continue
                now = time.monotonic()
                self.answers.times.append((now, now - began))
                self._compare(tag, outcome)

    def _compare(self, tag: str, outcome: Mapping[str, Any]) -> None:
        """Record how a program ended, and whether the answer is that of this program."""
        answers = self.answers
        answers.ends[tag] = outcome["status"]
        if outcome["status"] == "completed" and outcome["value"] != tag:
            answers.violations.append(f"{tag} was answered with {outcome['result']!r}")
        others = {call["arguments"].get("tag", tag) for call in outcome["calls"]} - {tag}
        if others:
            answers.violations.append(f"{tag} was answered with calls of {sorted(others)}")


class _Unexpected(Exception):
    """An answer that a good client does not expect."""


def _is(status: int, answer: httpx2.Response) -> bool:
    """Return whether an answer has this status; False if the execution is not known. Raises _Unexpected otherwise."""
    if answer.status_code not in (status, 404):
        raise _Unexpected(answer.text)
    return answer.status_code == status


@dataclass
class _Caller:
    """One program's way to its outcome."""

    http: httpx2.AsyncClient
    answers: Answers

    async def outcome(self, code: str) -> Mapping[str, Any]:
        key = {"Idempotency-Key": str(uuid.uuid4())}
        while True:
            answer = await self._answer("POST", "/v1/execute", json={"code": code, "wait_s": _WAIT_S}, headers=key)
            if answer.status_code == 200:
                return answer.json()  # type: ignore[no-any-return]
            found = await self._ended(answer.json()["id"]) if _is(202, answer) else None
            if found is not None:
                return found
            self.answers.forgotten += 1

    async def _ended(self, execution: str) -> Mapping[str, Any] | None:
        while True:
            answer = await self._answer("GET", f"/v1/executions/{execution}")
            if not _is(200, answer):
                return None
            found = answer.json()
            if found["status"] not in _GOES_ON:
                return found["outcome"]  # type: ignore[no-any-return]
            await asyncio.sleep(0.3)

    async def _answer(self, method: str, path: str, **content: Any) -> httpx2.Response:
        """Return the first answer that is none of a server in trouble."""
        pause_s = 0.05
        while True:
            self.answers.requests += 1
            try:
                answer = await self.http.request(method, path, **content)
            except httpx2.TransportError as error:
                reason = type(error).__name__
            else:
                if answer.status_code < 500 and answer.status_code != 429:
                    return answer
                reason = str(answer.status_code)
                if answer.headers.get("content-type", "").startswith("application/"):
                    reason += f" {answer.json().get('code', '')}"
            self.answers.failed[reason] += 1
            self.answers.failed_at.append(time.monotonic())
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, 1.0)
