# ruff: noqa: S311 - random numbers are seeded
"""Runs that are recorded, cut off anywhere, and taken up again: they reach the same place, and repeat nothing."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import Call, Delivery, Failure, Limits, ProgramStopped, Sandbox, Status
from tests.unit.sandbox.host.keeper import SEED, START, Keeper
from tests.unit.sandbox.host.parallel_programs import program

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

PROGRAMS = str(Path(__file__).parents[1] / "programs")


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(limits=Limits(wall_s=60.0)) as started:
        yield started


@pytest.mark.parametrize("first", range(0, 32, 8))
async def test_a_run_that_was_cut_off_anywhere_goes_on_with_the_same_calls(sandbox: Sandbox, first: int) -> None:
    for seed in range(first, first + 8):
        await check(sandbox, seed)


async def check(sandbox: Sandbox, seed: int) -> None:
    chance, code = random.Random(seed), program(seed)
    first = Keeper(jitter=chance)
    ended = await first.run(sandbox, code)
    assert ended.ok, ended.failure
    cut = chance.randint(0, len(first.delivered))
    before = first.history[: first.history.index(first.delivered[cut])] if cut < len(first.delivered) else first.history

    second = Keeper(first.delivered[:cut], jitter=chance)
    resumed = await second.run(sandbox, code)
    assert resumed.ok, resumed.failure
    known = {call.id: call for call in (*second.seen, *second.made)}
    assert [known[call.id] for call in before if isinstance(call, Call)] == [c for c in before if isinstance(c, Call)]
    answered = {delivery.call for delivery in second.recorded}
    assert answered.isdisjoint(call.id for call in second.made)

    third = Keeper(second.record, jitter=chance)
    again = await third.run(sandbox, code)
    assert (again.value, again.output) == (resumed.value, resumed.output)
    answered = {delivery.call for delivery in third.recorded}
    assert answered.isdisjoint(call.id for call in third.made)
    assert {call.id: call for call in third.seen}.items() >= {c.id: c for c in second.seen if c.id in answered}.items()


async def test_the_whole_record_leads_to_the_same_end_without_a_call(sandbox: Sandbox) -> None:
    code = "import time, uuid\nx = ns.get(n=1)\ntime.sleep(0.01)\ny = ns.get(n=str(uuid.uuid4()))\n[x, y, time.time()]"
    first = Keeper()
    ended = await first.run(sandbox, code)
    assert [delivery.call for delivery in first.delivered] == [1, 0, 2]
    again = Keeper(first.delivered)
    assert (await again.run(sandbox, code)).value == ended.value
    assert again.made == []
    assert again.seen == first.made


async def test_a_call_that_the_record_gave_up_on_is_not_made_again(sandbox: Sandbox) -> None:
    code = (
        "import asyncio\nasync def main():\n    try:\n        await asyncio.wait_for(ns.slow(), 0.01)\n"
        "    except TimeoutError:\n        return await ns.get(n=2)\nasyncio.run(main())"
    )

    class Slow(Keeper):
        async def answer(self, call: Call) -> Any:
            if call.tool == "ns.slow":
                self.made.append(call)
                await asyncio.Event().wait()
            return await super().answer(call)

    first = Slow()
    ended = await first.run(sandbox, code)
    assert [call.tool for call in first.made] == ["ns.slow", "ns.get"]
    ticks = first.delivered[:1]
    assert [delivery.call for delivery in ticks] == [0]
    again = Slow(ticks)
    resumed = await again.run(sandbox, code)
    assert ended.ok
    assert resumed.ok
    assert [call.tool for call in again.seen] == ["ns.slow", "ns.get"]
    assert [call.tool for call in again.made] == ["ns.get"]


async def test_time_goes_on_from_the_end_of_the_record(sandbox: Sandbox) -> None:
    code = "import time\na = time.time()\nns.get(n=1)\nb = time.time()\nns.get(n=2)\n[a, b, time.time()]"
    start = START.timestamp()
    recorded = [Delivery(1, int((start + 50) * 1e6), answer=b'{"n":1}')]
    value = (await Keeper(recorded).run(sandbox, code)).value
    assert value[0] == pytest.approx(start, abs=0.001)
    assert value[1] == pytest.approx(start + 50, abs=0.001)
    assert start + 50 < value[2] < start + 110


async def test_a_timer_that_ran_when_the_record_ended_is_set_again(sandbox: Sandbox) -> None:
    code = "import time\nns.get(n=1)\ntime.sleep(0.02)\n'slept'"
    first = Keeper()
    await first.run(sandbox, code)
    again = Keeper(first.delivered[:1])
    assert (await again.run(sandbox, code)).value == "slept"
    assert [delivery.call for delivery in again.delivered] == [0]


async def test_a_record_that_cannot_be_kept_ends_the_program_and_sends_it_nothing(sandbox: Sandbox) -> None:
    class Full(Keeper):
        async def deliver(self, deliveries: Sequence[Delivery]) -> bool:
            raise ProgramStopped(Failure("JournalUnavailable", "the disk is full"))

    full = Full()
    ended = await full.run(sandbox, "ns.get(n=1)\nprint('got it')")
    assert (ended.status, ended.failure) == (Status.FAILED, Failure("JournalUnavailable", "the disk is full"))
    assert ended.output == ""


async def test_what_is_held_back_is_not_sent_and_not_waited_for_when_the_program_is_over(sandbox: Sandbox) -> None:
    class Cautious(Keeper):
        async def deliver(self, deliveries: Sequence[Delivery]) -> bool:
            await self.is_over.wait()
            return False

        async def answer(self, call: Call) -> Any:
            if call.tool == "ns.stop":
                raise ProgramStopped(Failure("Stopped", "that will do"))
            return 1

    code = "import asyncio\nasync def main():\n    await asyncio.gather(ns.get(), ns.stop())\nasyncio.run(main())"
    ended = await Cautious().run(sandbox, code)
    assert (ended.failure, ended.output) == (Failure("Stopped", "that will do"), "")


async def test_an_error_of_the_recording_reaches_whoever_runs_the_program(sandbox: Sandbox) -> None:
    class Broken(Keeper):
        async def deliver(self, deliveries: Sequence[Delivery]) -> bool:
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        await Broken().run(sandbox, "ns.get(n=1)")


async def test_a_look_at_a_replayed_call_may_end_the_program(sandbox: Sandbox) -> None:
    class Strict(Keeper):
        def replayed(self, call: Call) -> None:
            raise ProgramStopped(Failure("NondeterminismError", f"{call.tool} is not what was recorded"))

    strict = Strict([Delivery(1, int(START.timestamp() * 1e6), answer=b"1")])
    ended = await strict.run(sandbox, "ns.other(n=1)\nns.get(n=2)")
    assert ended.failure == Failure("NondeterminismError", "ns.other is not what was recorded")
    assert strict.made == []


async def test_whether_the_record_was_read_to_its_end_is_told_before_anything_is_done(sandbox: Sandbox) -> None:
    class Short(Keeper):
        def live(self) -> None:
            raise ProgramStopped(Failure("NondeterminismError", "a call is missing"))

    recorded = [Delivery(1, int(START.timestamp() * 1e6), answer=b"1")]
    short = Short(recorded)
    ended = await short.run(sandbox, "ns.get(n=1)\nns.get(n=2)")
    assert (ended.failure, short.made) == (Failure("NondeterminismError", "a call is missing"), [])
    keeper = Keeper(recorded)
    await keeper.run(sandbox, "ns.get(n=1)")
    assert not keeper.is_live  # it ended within the record


async def test_everything_that_a_program_sees_of_chance_is_the_same_in_another_fork_server() -> None:
    code = (
        "import random, secrets, time, uuid\nfrom dataclasses import dataclass\nclass A: pass\n"
        "@dataclass(frozen=True)\nclass B:\n    n: int\n    s: str\n"
        "things = [A() for _ in range(20)]\nnames = {'a', 'b', b'c', 1.5, 2, True, (1, 'x'), frozenset({'y'})}\n"
        "[[things.index(each) for each in set(things)], [hash(each) for each in things],"
        " [id(things[0]), repr(things[1])],"
        " [str(each) for each in names], [b.n for b in {B(n, str(n)) for n in range(9)}],"
        " hash('text'), hash(B(1, 'x')),"
        " random.random(), secrets.token_hex(), str(uuid.uuid4()), str(uuid.uuid1()), time.time(), time.perf_counter()]"
    )
    seen = []
    for _ in range(2):
        async with Sandbox() as one:
            outcome = await one.run(code, seed=SEED, now=START)
            assert outcome.ok, outcome.failure
            seen.append(outcome.value)
    assert seen[0] == seen[1]


async def test_what_the_program_printed_is_printed_again(sandbox: Sandbox) -> None:
    code = "print('a')\nns.get(n=1)\nprint('b')"
    recorded = [Delivery(1, int(START.timestamp() * 1e6), answer=b"1")]
    keeper = Keeper(recorded)
    assert (await keeper.run(sandbox, code)).output == keeper.output == "a\nb\n"


async def test_a_recorded_error_is_raised_again(sandbox: Sandbox) -> None:
    fields = b'{"message":"sold out","kind":"upstream_error","status":409,"body":null,"retry_after_s":null}'
    recorded = [Delivery(1, int(START.timestamp() * 1e6), answer=fields, is_error=True)]
    code = "try:\n    ns.get(n=1)\nexcept ToolError as error:\n    answer = (error.status, str(error))\nanswer"
    assert (await Keeper(recorded).run(sandbox, code)).value == [409, "409: sold out"]


LIVE = "from sandbox.protocol.guest_messages import encode_live\nimport os\n"


@pytest.mark.parametrize("times", [1, 2])
async def test_a_guest_that_acknowledges_a_marker_which_it_was_not_sent_is_killed(times: int) -> None:
    recording = Keeper([Delivery(7, int(START.timestamp() * 1e6), answer=b"1")]) if times == 2 else Keeper()
    code = LIVE + f"os.write(rpc_fd, encode_live() * {times})\ntool(1)"
    async with Sandbox(program="bare_program", folders=(PROGRAMS,)) as bare:
        ended = await bare.run(code, recording=recording)
    assert ended.status is Status.CRASHED
    assert ended.failure is not None
    assert "acknowledged a marker that it was not sent, or twice" in ended.failure.message


async def test_a_guest_that_acknowledges_before_it_has_read_gets_its_calls_looked_at_as_any_other() -> None:
    """It gains nothing: whoever answers calls knows by their paths which were made before."""
    code = LIVE + "os.write(rpc_fd, encode_live())\ntool(1)"
    keeper = Keeper([Delivery(7, int(START.timestamp() * 1e6), answer=b"1")])
    async with Sandbox(program="bare_program", folders=(PROGRAMS,)) as bare:
        await bare.run(code, recording=keeper, call=keeper.answer)
    assert [call.path for call in (*keeper.seen, *keeper.made)] == ["1"]
