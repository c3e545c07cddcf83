"""Keyed writes: the record after a later attempt fails."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.codemode.executions.upstream import OWNER, Place, Upstream
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.service import CodeMode

KEYED: dict[str, Any] = {"source": {"idempotency_header": "Idempotency-Key"}}
IN_PROGRESS = ("409 Conflict", {"title": "A request is outstanding for this Idempotency-Key"}, "Retry-After: 0\r\n")
BROKEN = ("500 Broken", {"title": "the lock of the first request is gone"}, "")
BUSY: tuple[str, dict[str, str], str] = ("503 Busy", {}, "")


class Keyed(Upstream):
    """Does the work of a key once. The first request gets no answer; later ones get the answers in `later`.

    After those, requests get the first one's answer. Until `is_alive` is set, the first request holds its connection.
    """

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []
        self.later: list[tuple[str, Any, str]] = []
        self.is_alive = asyncio.Event()
        self.is_alive.set()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, or break its connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, *_ = head.split()
        key = next(line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("idempotency-key: "))
        self.seen.append(f"{method} {target}")
        async with self.came:
            self.came.notify_all()
        if key not in self.done:
            self.done.append(key)
            await self.is_alive.wait()
            writer.close()
            return
        status, data, header = self.later.pop(0) if self.later else ("200 OK", {"done": len(self.done)}, "")
        body = json.dumps(data).encode()
        header += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        writer.write(f"HTTP/1.1 {status}\r\n{header}\r\n".encode() + body)


@pytest.fixture
async def service_of_keys(tmp_path: Path) -> AsyncIterator[tuple[Place, Keyed]]:
    upstream = Keyed()
    async with listening(upstream.answer) as port:
        yield Place(tmp_path, upstream, port), upstream


async def _killed(here: Place) -> str:
    """Run a program whose server dies during its write. Return the id of the execution."""
    upstream = here.upstream
    async with here.service(**KEYED) as service:
        running = asyncio.create_task(service.execute("up.x.post(n=1)", caller=OWNER))
        await upstream.wait_for(1)
        execution = (await service.executions.list(OWNER))[0].request.id
        await service.executions.aclose()
        await asyncio.wait((running,))
    return execution


async def _recovered(service: CodeMode, execution: str) -> list[dict[str, Any]]:
    await service.executions.recover()
    stored = await service.executions.wait(execution, OWNER, 30)
    calls: list[dict[str, Any]] = stored.outcome["calls"]
    return calls


@pytest.mark.parametrize("later", [BROKEN, BUSY, ("422 Unprocessable", {"title": "no"}, "")])
async def test_a_write_that_may_have_been_done_is_unknown_whatever_a_later_attempt_is_answered(
    service_of_keys: tuple[Place, Keyed], later: tuple[str, Any, str]
) -> None:
    here, upstream = service_of_keys
    upstream.later = [later] * 9
    async with here.service(**KEYED) as service:
        outcome = await service.execute("up.x.post(n=1)", caller=OWNER)
    (call,) = outcome.calls
    assert (call.state, len(upstream.done)) == ("unknown", 1)
    assert "an earlier attempt" in call.error
    assert "nothing was sent" not in json.dumps(outcome.to_json())


async def test_a_key_in_progress_is_waited_for(service_of_keys: tuple[Place, Keyed]) -> None:
    here, upstream = service_of_keys
    upstream.later = [IN_PROGRESS] * 5  # more than the retries
    async with here.service(**KEYED) as service:
        outcome = await service.execute("up.x.post(n=1)", caller=OWNER)
    assert (outcome.value, [call.state for call in outcome.calls]) == ({"done": 1}, ["committed"])
    assert len(upstream.seen) == 7


async def test_a_key_in_progress_for_longer_than_the_call_may_take_is_unknown(
    service_of_keys: tuple[Place, Keyed],
) -> None:
    here, upstream = service_of_keys
    status, data, _ = IN_PROGRESS
    upstream.later = [(status, data, "Retry-After: 600\r\n")]
    async with here.service(**KEYED) as service:
        outcome = await service.execute("up.x.post(n=1)", caller=OWNER)
    assert ([call.state for call in outcome.calls], len(upstream.seen)) == (["unknown"], 2)


async def test_a_conflict_that_is_none_of_the_key_is_the_answer(service_of_keys: tuple[Place, Keyed]) -> None:
    here, upstream = service_of_keys
    upstream.later = [("409 Conflict", {"title": "there is such a client already"}, "")]
    async with here.service(**KEYED) as service:
        outcome = await service.execute("up.x.post(n=1)", caller=OWNER)
    assert ([call.state for call in outcome.calls], len(upstream.seen)) == (["unknown"], 2)


@pytest.mark.parametrize(("later", "state"), [([BROKEN], "unknown"), ([IN_PROGRESS, IN_PROGRESS], "committed")])
async def test_the_same_holds_where_the_earlier_attempt_was_a_dead_servers(
    service_of_keys: tuple[Place, Keyed], later: list[tuple[str, Any, str]], state: str
) -> None:
    here, upstream = service_of_keys
    upstream.is_alive.clear()
    execution = await _killed(here)
    upstream.is_alive.set()
    upstream.later = later
    async with here.service(**KEYED) as service:
        (call,) = await _recovered(service, execution)
        record = await service.executions.record(execution, OWNER)
    (recorded,) = record.calls.values()
    assert recorded.end is not None
    assert (call["state"], recorded.end.state, len(upstream.done)) == (state, state, 1)
