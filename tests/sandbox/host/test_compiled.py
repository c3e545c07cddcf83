"""Programs that come again: compiled once, the same in all that they do, and no guest has a say in another's."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import CallSite, Delivery, Limits, Sandbox, Status
from sandbox.host.compiled import CompiledPrograms
from sandbox.protocol.host_messages import encode_program
from tests.sandbox.guest.test_probes import probes
from tests.sandbox.host.test_hostile_guest import SAY, SLEEP
from tests.sandbox.host.test_recording import Keeper

if TYPE_CHECKING:
    from collections.abc import Callable

LIMITS = Limits()
KEPT = """say('{"t":"compiled","code":"AAAA"}')\n"""


def key(code: str, *names: str, limits: Limits = LIMITS) -> Any:
    return CompiledPrograms.key(code, names, limits)


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_a_program_is_known_by_its_source_its_names_and_the_limits_of_its_source() -> None:
    kept = CompiledPrograms(1 << 20)
    kept.keep(key("1", "a", "b"), "AAAA")
    program = encode_program("1", ["a", "b"], "AAAA")
    assert kept.find(key("1", "b", "a")) == program
    assert kept.find(key("1", "b", "a", limits=replace(LIMITS, wall_s=1))) == program
    for other in (key("1 "), key("1", "a"), key("1", "a", "b", limits=replace(LIMITS, source_depth=10))):
        assert kept.find(other) is None


def test_it_has_been_seen_from_the_second_time_on() -> None:
    kept = CompiledPrograms(1 << 20)
    assert [kept.has_seen(key("1")) for _ in range(3)] == [False, True, True]
    assert kept.find(key("1")) is None


def test_no_more_is_kept_than_has_room_and_what_was_asked_for_last_stays() -> None:
    kept = CompiledPrograms(100_000)
    for number in range(10):
        kept.keep(key(str(number)), "A" * 20_000)
        kept.find(key("0"))
    assert len(kept) == 4
    assert [number for number in range(10) if kept.find(key(str(number)))] == [0, 7, 8, 9]
    kept.keep(key("large"), "A" * 100_000)
    assert len(kept) == 0


def test_where_nothing_may_be_kept_nothing_is_seen() -> None:
    kept = CompiledPrograms(0)
    assert [kept.has_seen(key("1")) for _ in range(3)] == [False] * 3


# --- what becomes of it ----------------------------------------------------------------------------------------------


def shown(outcome: Any) -> tuple[object, ...]:
    return outcome.status, outcome.value, outcome.output, outcome.failure, outcome.notes


async def test_programs_that_come_again_do_what_they_did() -> None:
    """Each probe of the language: compiled, compiled and told, read."""
    start = datetime(2030, 1, 1, tzinfo=UTC)
    kept = 0
    async with Sandbox() as sandbox:
        for name, code in probes().items():
            first, _, third = [shown(await sandbox.run(code, seed=bytes(32), now=start)) for _ in range(3)]
            assert third == first, name
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
    assert seen == [(CallSite("shop.price", ("fruit",), 0, open_ended=False, line=1, column=0),)] * 4


async def test_a_program_that_comes_again_finds_its_own_inputs_and_chance() -> None:
    code = "import random\n[given, random.random()]"
    async with Sandbox() as sandbox:
        values = [(await sandbox.run(code, inputs={"given": n})).value for n in range(4)]
    assert [given for given, _ in values] == [0, 1, 2, 3]
    assert len({chance for _, chance in values}) == 4


async def test_what_is_too_large_for_a_frame_is_compiled_each_time() -> None:
    code = "\n".join(f"x{n} = {n}" for n in range(200)) + "\nx199"
    async with Sandbox(limits=Limits(frame_bytes=2_000, traffic_bytes=2_000)) as sandbox:
        assert [(await sandbox.run(code)).value for _ in range(3)] == [199] * 3


async def test_to_tell_a_program_takes_nothing_from_its_traffic() -> None:
    code = "\n".join(f"x{n} = {n}" for n in range(200)) + "\nx199"
    async with Sandbox(limits=Limits(traffic_bytes=600)) as sandbox:
        assert [(await sandbox.run(code)).value for _ in range(3)] == [199] * 3


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("has_preflight", [False, True])
async def test_a_program_that_runs_cannot_tell_what_it_was_compiled_to(
    make_bare: Callable[..., Sandbox], before: int, *, has_preflight: bool
) -> None:
    """Neither unasked nor a second time: `bare_program` tells that it cannot tell, and then runs this."""

    async def look(_: tuple[CallSite, ...]) -> None: ...

    code = SAY + KEPT + SLEEP
    async with make_bare() as sandbox:
        for _ in range(before + 1):
            outcome = await sandbox.run(code, preflight=look if has_preflight else None)
            assert outcome.status is Status.CRASHED
            assert outcome.failure is not None
            assert "compiled when the program runs" in outcome.failure.message
        assert sandbox._compiled.find(CompiledPrograms.key(code, (), sandbox._limits)) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"t":"live"}',
        '{"t":"sites","sites":[]}',
        '{"t":"compiled","code":"no base64"}',
        '{"t":"compiled","code":1}',
        "[1]",
    ],
)
async def test_a_guest_that_is_asked_what_it_compiled_says_nothing_else(
    make_bare: Callable[..., Sandbox], text: str
) -> None:
    async with make_bare(program="telling_program") as sandbox:
        outcomes = [await sandbox.run(text) for _ in range(2)]
    assert [outcome.status for outcome in outcomes] == [Status.COMPLETED, Status.CRASHED]
    assert outcomes[1].failure is not None
    assert outcomes[1].failure.type == "GuestProtocolError"


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("has_preflight", [False, True])
async def test_whoever_tells_what_it_compiled_was_given_nothing_of_its_run(
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
        told = b64decode((await sandbox.run("1")).value)
    assert b'"code":"1"' in told
    assert not [secret for secret in (b"given", b"recorded", b"abab", b"seed") if secret in told]


async def test_a_program_that_tells_what_it_compiled_is_run_from_its_record() -> None:
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


async def test_the_text_of_a_guest_goes_back_to_the_same_source_alone(make_bare: Callable[..., Sandbox]) -> None:
    code, other = '{"t":"compiled","code":"AAAA"}', '{"t":"compiled","code":null}'
    async with make_bare(program="telling_program") as sandbox:
        values = [(await sandbox.run(text)).value for text in (code, code, code, other, other, other)]
    assert values == [None, None, "AAAA", None, None, None]
