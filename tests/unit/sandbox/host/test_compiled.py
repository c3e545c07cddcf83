"""Programs that come again: compiled once, the same in all that they do, and no guest has a say in another's."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import CallSite, Delivery, Limits, Sandbox, Status
from sandbox.host.compiled import CompiledPrograms
from sandbox.host.fork_server import ForkServer
from tests.unit.sandbox.guest.probe_files import probes
from tests.unit.sandbox.host.guest_programs import SAY, SLEEP
from tests.unit.sandbox.host.keeper import Keeper

if TYPE_CHECKING:
    from collections.abc import Callable

LIMITS = Limits()
KEPT = """say('{"t":"compiled","code":"AAAA"}')\n"""


def key(code: str, *names: str, limits: Limits = LIMITS) -> Any:
    return CompiledPrograms.key(code, names, limits)


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_a_program_is_known_by_its_source_its_names_and_the_limits_of_its_source() -> None:
    one = key("1", "a", "b")
    assert one == key("1", "b", "a") == key("1", "b", "a", limits=replace(LIMITS, wall_s=1))
    for other in (key("1 "), key("1", "a"), key("1", "a", "b", limits=replace(LIMITS, source_depth=10))):
        assert other != one


def test_a_program_is_wanted_from_the_second_time_on() -> None:
    kept = CompiledPrograms(1 << 20)
    assert [kept.is_wanted(key("1")) for _ in range(3)] == [False, True, True]
    assert kept.find(key("1")) is None


async def test_no_more_is_kept_than_has_room_and_what_was_asked_for_last_stays(
    make_bare: Callable[..., Sandbox],
) -> None:
    told = {str(number): compiled("A" * (20_000 + number)) for number in range(10)}
    async with make_bare(program="telling_program") as sandbox:
        kept = CompiledPrograms(500_000)
        for code in told.values():
            await keep(kept, sandbox, code)
            kept.find(key(told["0"]))
        there = [number for number, code in told.items() if kept.find(key(code))]
        assert there[0] == "0"
        assert there[1:] == [str(number) for number in range(11 - len(there), 10)]
        assert 2 < len(there) == len(kept) < 9
        await keep(kept, sandbox, compiled("A" * 100_000))
        assert len(kept) == 0


def test_where_nothing_may_be_kept_nothing_is_wanted() -> None:
    kept = CompiledPrograms(0)
    assert [kept.is_wanted(key("1")) for _ in range(3)] == [False] * 3


def compiled(text: str | None) -> str:
    """The source that has `telling_program` say this of it."""
    return json.dumps({"t": "compiled", "code": text})


async def keep(kept: CompiledPrograms, sandbox: Sandbox, code: str) -> None:
    assert sandbox._server is not None
    await kept.compile(key(code), sandbox._server, sandbox._limits)


async def compiled_apart(sandbox: Sandbox) -> None:
    """Wait for the worker that compiles apart, if there is one."""
    if sandbox._compiling is not None:
        await sandbox._compiling


async def values(sandbox: Sandbox, *codes: str) -> list[Any]:
    """Run these, one after the other."""
    found = []
    for code in codes:
        found.append((await sandbox.run(code)).value)
        await compiled_apart(sandbox)
    return found


# --- what becomes of it ----------------------------------------------------------------------------------------------


def shown(outcome: Any) -> tuple[object, ...]:
    return outcome.status, outcome.value, outcome.output, outcome.failure, outcome.notes


async def test_programs_that_come_again_do_what_they_did() -> None:
    """Each probe of the language: compiled by the worker that runs it, and by one before."""
    start = datetime(2030, 1, 1, tzinfo=UTC)
    kept = 0
    async with Sandbox() as sandbox:
        for name, code in probes().items():
            for _ in range(2):
                first = shown(await sandbox.run(code, seed=bytes(32), now=start))
                await compiled_apart(sandbox)
            again = shown(await sandbox.run(code, seed=bytes(32), now=start))
            assert again == first, name
            kept += sandbox._compiled.find(CompiledPrograms.key(code, (), LIMITS)) is not None
    assert kept > len(probes()) * 0.9


async def test_the_preflight_sees_the_call_sites_of_a_program_that_comes_again() -> None:
    seen: list[tuple[CallSite, ...]] = []

    async def look(sites: tuple[CallSite, ...]) -> None:
        seen.append(sites)

    async def answer(_: Any) -> int:
        return 30

    async with Sandbox() as sandbox:
        for _ in range(4):
            outcome = await sandbox.run("shop.price(fruit='pear')", names=("shop",), call=answer, preflight=look)
            assert outcome.value == 30
            await compiled_apart(sandbox)
    assert seen == [(CallSite("shop.price", ("fruit",), 0, open_ended=False, line=1, column=0),)] * 4


async def test_a_program_that_comes_again_finds_its_own_inputs_and_chance() -> None:
    code = "import random\n[given, random.random()]"
    async with Sandbox() as sandbox:
        found = []
        for given in range(4):
            found.append((await sandbox.run(code, inputs={"given": given})).value)
            await compiled_apart(sandbox)
    assert [given for given, _ in found] == [0, 1, 2, 3]
    assert len({chance for _, chance in found}) == 4


async def test_what_is_too_large_for_a_frame_is_compiled_each_time() -> None:
    code = "\n".join(f"x{n} = {n}" for n in range(200)) + "\nx199"
    async with Sandbox(limits=Limits(frame_bytes=2_000, traffic_bytes=2_000)) as sandbox:
        assert await values(sandbox, code, code, code) == [199] * 3
        assert sandbox._compiled.find(key(code)) is None


@pytest.mark.parametrize("has_preflight", [False, True])
async def test_a_program_that_runs_cannot_tell_what_it_was_compiled_to(
    make_bare: Callable[..., Sandbox], *, has_preflight: bool
) -> None:
    async def look(_: tuple[CallSite, ...]) -> None: ...

    code = SAY + KEPT + SLEEP
    async with make_bare() as sandbox:
        for _ in range(3):
            outcome = await sandbox.run(code, preflight=look if has_preflight else None)
            assert outcome.status is Status.CRASHED
            assert outcome.failure is not None
            assert "a message of an unknown type" in outcome.failure.message
            await compiled_apart(sandbox)
        assert sandbox._compiled.find(CompiledPrograms.key(code, (), sandbox._limits)) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"t":"live"}',
        '{"t":"sites","sites":[]}',
        '{"t":"compiled","code":"no base64"}',
        '{"t":"compiled","code":1}',
        "[1]",
        "no JSON",
        "end",
        "silence",
        compiled("A" * 70_000),
    ],
)
async def test_what_a_worker_says_that_is_no_compiled_program_is_dropped_and_not_asked_for_again(
    make_bare: Callable[..., Sandbox], limits: Limits, text: str
) -> None:
    few = replace(limits, wall_s=1, frame_bytes=70_000)
    async with make_bare(program="telling_program", limits=few) as sandbox:
        assert await values(sandbox, text, text, text) == [None] * 3
        assert not sandbox._compiled.is_wanted(key(text))


async def test_a_program_is_not_compiled_apart_where_no_worker_can_be_had(make_bare: Callable[..., Sandbox]) -> None:
    kept = CompiledPrograms(1 << 20)
    server = ForkServer()
    await kept.compile(key("1"), server, LIMITS)
    assert kept.find(key("1")) is None


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("has_preflight", [False, True])
async def test_whoever_tells_what_it_compiled_is_given_nothing_of_a_run(
    make_bare: Callable[..., Sandbox], *, has_preflight: bool, is_recorded: bool
) -> None:
    """A hole in the parser would else take the inputs, the seed and the answers of one run to another."""

    async def look(_: tuple[CallSite, ...]) -> None: ...

    answer = Delivery(1, 1_900_000_000_000_000, answer=b'"recorded"')
    async with make_bare(program="nosy_program") as sandbox:
        await sandbox.run("1")
        recording = Keeper([answer]) if is_recorded else None
        preflight = look if has_preflight else None
        await sandbox.run("1", inputs={"x": "given"}, seed=b"\xab" * 32, recording=recording, preflight=preflight)
        await compiled_apart(sandbox)
        told = b64decode((await sandbox.run("1")).value)
    assert b'"code":"1"' in told
    assert not [secret for secret in (b"given", b"recorded", b"abab", b"seed") if secret in told]


async def test_a_program_that_was_compiled_apart_is_run_from_its_record() -> None:
    code = "tools.get(n=1) + start"
    recorded = [Delivery(1, 1_900_000_000_000_000, answer=b"10")]

    async def look(_: tuple[CallSite, ...]) -> None: ...

    async with Sandbox() as sandbox:
        for preflight in (None, look):
            for inputs in ({"start": 1}, {"start": 2}, {"start": 3}):
                outcome = await sandbox.run(
                    code, names=("tools",), inputs=inputs, preflight=preflight, recording=Keeper(recorded)
                )
                assert outcome.value == 10 + inputs["start"]
                await compiled_apart(sandbox)


async def test_the_text_of_a_guest_goes_back_to_the_same_source_alone(make_bare: Callable[..., Sandbox]) -> None:
    code, other = compiled("AAAA"), compiled(None)
    async with make_bare(program="telling_program") as sandbox:
        assert await values(sandbox, code, code, code, other, other, other) == [None, None, "AAAA", None, None, None]


async def test_closing_ends_the_worker_that_compiles_apart(make_bare: Callable[..., Sandbox]) -> None:
    async with make_bare(program="telling_program") as sandbox:
        for _ in range(2):
            await sandbox.run("silence")
        compiling = sandbox._compiling
        assert compiling is not None
        assert not compiling.done()
    assert compiling.cancelled()
