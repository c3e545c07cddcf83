"""Calls of programs in a real sandbox: the ledger after a time-out, an approval and a quota."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.settings import Settings
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Upstream:
    """A service with configurable answers that counts its requests."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.came = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        self.seen[name.partition("?")[0]] += 1
        self.came.set()
        if name.startswith("/slow"):
            await reader.read()
        elif name.startswith("/late"):
            await asyncio.sleep(0.2)
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1\r\nConnection: close\r\n\r\n1"
        )


def document() -> dict[str, Any]:
    parameters = [{"name": "n", "in": "query", "schema": {"type": "integer"}}]
    answer = {"200": {"description": ""}}
    methods = {"slow": "get", "late": "post", "quick": "get", "drop": "delete"}
    paths = {
        f"/{name}": {method: {"operationId": name, "tags": ["x"], "parameters": parameters, "responses": answer}}
        for name, method in methods.items()
    }
    return {"openapi": "3.1.0", "info": {"title": "X", "version": "1"}, "paths": paths}


@asynccontextmanager
async def running(folder: Path, **sections: Any) -> AsyncIterator[tuple[CodeMode, Upstream]]:
    (folder / "x.json").write_text(json.dumps(document()), encoding="utf-8")
    upstream = Upstream()
    source = {"location": str(folder / "x.json"), **sections.pop("source", {})}
    folders = {"state_folder": str(folder / "state"), "cache_folder": str(folder / "cache")}
    async with listening(upstream.answer) as port:
        source["base_url"] = f"http://127.0.0.1:{port}"
        settings = Settings.model_validate({"sources": {"up": source}, **folders, **sections})
        async with CodeMode.from_settings(settings) as service:
            yield service, upstream


def states(outcome: Any) -> Counter[tuple[str, str]]:
    return Counter((call.tool, str(call.state)) for call in outcome.calls)


async def test_a_time_out_tells_what_ran_what_may_have_and_what_never_did(tmp_path: Path) -> None:
    limits = {"wall_s": 3.0, "calls_in_flight": 4}
    async with running(tmp_path, limits=limits, source={"concurrency": 3}) as (service, upstream):
        outcome = await service.execute(
            "import asyncio\nup.x.quick()\nawait asyncio.gather(*[up.x.slow(n=n) for n in range(6)])"
        )
    assert outcome.status == "timed_out"
    assert states(outcome) == {
        ("up.x.quick", "read"): 1,
        ("up.x.slow", "cancelled"): 3,
        ("up.x.slow", "not started"): 3,
    }
    assert upstream.seen == {"/quick": 1, "/slow": 3}


#: How a program stops for a person, with and without a journal.
STOPS = pytest.mark.parametrize(("recorded", "status"), [(True, "paused"), (False, "failed")])


@STOPS
async def test_a_call_that_needs_a_person_ends_the_program_with_it_named_and_unsent(
    tmp_path: Path, *, recorded: bool, status: str
) -> None:
    program = (
        "try:\n    up.x.drop(n=7)\nexcept BaseException as error:\n    print('caught', error)\nup.x.quick()\n'went on'"
    )
    async with running(tmp_path, journal={"enabled": recorded}) as (service, upstream):
        outcome = await service.execute(f"print('before')\nup.x.quick(n=1)\n{program}")
    assert (outcome.status, outcome.has_value, outcome.output) == (status, False, "before\n")
    assert outcome.failure is not None
    assert outcome.failure.type == "ApprovalRequired"
    assert "up.x.drop(n=7)" in outcome.failure.message
    assert "default for destructive" in outcome.failure.message
    assert states(outcome) == {("up.x.quick", "read"): 1, ("up.x.drop", "pending"): 1}
    assert outcome.calls[1].arguments == {"n": 7}
    assert upstream.seen == {"/quick": 1}


@STOPS
async def test_calls_beside_a_pending_one_end_first_and_all_pending_ones_are_named(
    tmp_path: Path, *, recorded: bool, status: str
) -> None:
    async with running(tmp_path, journal={"enabled": recorded}) as (service, upstream):
        outcome = await service.execute(
            "import asyncio\nawait asyncio.gather(up.x.late(n=1), up.x.drop(n=2), up.x.drop(n=3), up.x.late(n=4))"
        )
    assert outcome.status == status
    assert states(outcome) == {
        ("up.x.late", "committed"): 1,
        ("up.x.drop", "pending"): 2,
        ("up.x.late", "not started"): 1,
    }
    assert upstream.seen == {"/late": 1}
    assert outcome.failure is not None
    assert "up.x.drop(n=2); up.x.drop(n=3)" in outcome.failure.message


async def test_who_gives_up_leaves_a_record_of_nothing_unsent(tmp_path: Path) -> None:
    async with running(tmp_path) as (service, upstream):
        running_ = asyncio.create_task(service.execute("up.x.slow()"))
        await upstream.came.wait()
        running_.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running_
        assert (await service.execute("up.x.quick()")).value == 1


async def test_a_quota_is_of_one_execution_and_the_program_sees_it(tmp_path: Path) -> None:
    policy = {"quotas": [{"tools": "up.x.quick", "calls": 2}]}
    loop = "n = 0\ntry:\n    for n in range(5):\n        up.x.quick(n=n)\n"
    program = f"{loop}except Exception as error:\n    print(error.kind)\nn"
    async with running(tmp_path, policy=policy) as (service, upstream):
        for _ in range(2):
            outcome = await service.execute(program)
            assert (outcome.value, outcome.output) == (2, "access_denied\n")
            assert states(outcome) == {("up.x.quick", "read"): 2, ("up.x.quick", "denied"): 1}
            assert outcome.calls[2].rule == "quota 1"
    assert upstream.seen == {"/quick": 4}


async def test_a_repeated_read_and_a_repeated_program_are_noted(tmp_path: Path) -> None:
    program = "up.x.quick(n=1) + up.x.quick(n=1)"
    async with running(tmp_path, policy={"roles": ["other"]}) as (service, upstream):
        first = await service.execute(program)
        second = await service.execute(program)
        elsewhere = await service.execute(program, caller=Caller("somebody else", "other"))
    assert [call.repeats for call in first.calls] == ["", first.calls[0].path]
    assert any("2 times with the same arguments" in note for note in first.notes)
    assert any(f"this ran before ({first.id}: completed)" in note for note in second.notes)
    assert not any("ran before" in note for note in elsewhere.notes)
    assert upstream.seen == {"/quick": 6}


@pytest.mark.parametrize("is_recorded", [False, True])
async def test_no_more_is_asked_for_than_a_program_reads(tmp_path: Path, *, is_recorded: bool) -> None:
    """A program that computes after its calls leaves its answers waiting in the host."""
    asked = 0

    async def large(n: int) -> str:
        """Return a large value."""
        nonlocal asked
        asked += 1
        return "x" * 2_000_000

    settings = Settings.model_validate(
        {
            "limits": {"calls_in_flight": 4, "cpu_s": 1, "wall_s": 100},
            "journal": {"enabled": is_recorded},
            "policy": {"default": {"write": "allow"}},
            "state_folder": str(tmp_path),
        }
    )
    calls = "import asyncio\ncalls = [asyncio.create_task(shop.large(n=n)) for n in range(100)]\n"
    async with CodeMode.from_settings(settings, functions={"shop": [large]}) as service:
        outcome = await service.execute(calls + "await asyncio.sleep(0.001)\nwhile True: pass")
        assert outcome.limit == "cpu_s"
        assert asked < 20
        asked = 0
        outcome = await service.execute(calls + "sum([len(await call) for call in calls[:40]])")
        assert (outcome.value, asked >= 40) == (80_000_000, True)
