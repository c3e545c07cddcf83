"""The whole sandbox, as whoever embeds it uses it: real workers, the language policy, calls, timers, limits."""

from __future__ import annotations

import asyncio
import gc
import inspect
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import Call, CallFailed, CallSite, Limits, Sandbox, Status
from sandbox.protocol.framing import frame
from sandbox.protocol.strict_json import encode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PROGRAMS = str(Path(__file__).parents[2] / "unit" / "sandbox" / "programs")
LIMITS = Limits(wall_s=40.0, cpu_s=2.0)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(limits=LIMITS) as started:
        yield started


class Desk:
    """Answers calls once so many have been under way at one time, and counts them."""

    def __init__(self, together: float = 1) -> None:
        self.together = together
        self.are_together = asyncio.Event()
        self.under_way = self.most = self.answered = self.cancelled = 0

    async def answer(self, call: Call) -> Any:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        if self.under_way >= self.together:
            asyncio.get_running_loop().call_soon(self.are_together.set)  # behind all that begin with it
        try:
            await self.are_together.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.under_way -= 1
        self.answered += 1
        return {"tool": call.tool, **call.arguments}


async def test_the_value_of_the_last_expression_comes_back(sandbox: Sandbox) -> None:
    outcome = await sandbox.run("x = [1, 2]\nprint('seen')\n{'sum': sum(x)}")
    assert (outcome.status, outcome.value, outcome.output) == (Status.COMPLETED, {"sum": 3}, "seen\n")
    assert outcome.ok


PARALLEL = {
    "gather": "import asyncio\nr = await asyncio.gather(*[ns.get(n=n) for n in range(50)])\n[x['n'] for x in r]",
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(50) as executor:\n"
        "    r = list(executor.map(lambda n: ns.get(n=n), range(50)))\n"
        "[x['n'] for x in r]"
    ),
}


@pytest.mark.parametrize("style", PARALLEL)
async def test_parallel_calls_are_parallel_in_the_host(sandbox: Sandbox, style: str) -> None:
    desk = Desk(together=50)
    outcome = await sandbox.run(PARALLEL[style], names=("ns",), call=desk.answer)
    assert outcome.value == list(range(50))
    assert desk.most == 50


async def test_no_more_calls_are_under_way_than_may_be(sandbox: Sandbox) -> None:
    desk = Desk(together=7)
    limits = replace(LIMITS, calls_in_flight=7)
    outcome = await sandbox.run(PARALLEL["gather"], names=("ns",), call=desk.answer, limits=limits)
    assert outcome.value == list(range(50))
    assert desk.most == 7


async def test_the_program_sees_the_start_time_and_the_time_that_passes(sandbox: Sandbox) -> None:
    code = (
        "import asyncio, time\nfrom datetime import datetime, timezone\n"
        "a = time.time()\nawait asyncio.sleep(0.05)\n[datetime.fromtimestamp(a, timezone.utc).year, time.time() - a]"
    )
    outcome = await sandbox.run(code, now=datetime(2031, 5, 6, tzinfo=UTC))
    year, passed = outcome.value
    assert year == 2031
    assert passed >= 0.05


async def test_the_same_seed_and_time_show_the_same_program_the_same_world(sandbox: Sandbox) -> None:
    code = "import random, uuid, time\n[random.random(), str(uuid.uuid4()), time.time(), list({'a', 'b', 'c', 'd'})]"
    start = datetime(2030, 1, 1, tzinfo=UTC)
    one, two = [await sandbox.run(code, seed=b"s" * 32, now=start) for _ in range(2)]
    other = await sandbox.run(code, seed=b"t" * 32, now=start)
    assert one.value == two.value
    assert one.value[:2] != other.value[:2]


async def test_a_worker_that_has_rehearsed_holds_no_name_but_those_of_its_program(sandbox: Sandbox) -> None:
    code = "sorted(set(globals()) - {'__name__', '__doc__'})"
    for _ in range(4):
        assert (await sandbox.run(code)).value == []
        bound = await sandbox.run(code, names=("shop", "find(x)"), inputs={"rows": []})
        assert bound.value == ["find", "rows", "shop"]
        outcome = await sandbox.run("name")
        assert outcome.failure is not None
        assert outcome.failure.type == "NameError"


@pytest.mark.parametrize("scope", ["globals()", "locals()", "vars()", "dir()"])
async def test_the_names_of_tools_are_variables(sandbox: Sandbox, scope: str) -> None:
    assert (await sandbox.run(f"'shop' in {scope}", names=("shop",))).value is True


async def test_inputs_are_variables(sandbox: Sandbox) -> None:
    outcome = await sandbox.run("len(rows) + offset", inputs={"rows": [1, 2, 3], "offset": 10})
    assert outcome.value == 13


async def test_the_preflight_sees_the_call_sites(sandbox: Sandbox) -> None:
    seen: list[CallSite] = []

    async def look(sites: tuple[CallSite, ...]) -> None:
        seen.extend(sites)

    await sandbox.run("def f():\n    return ns.a.b(1, x=2, **{})\n1", names=("ns",), preflight=look)
    assert seen == [CallSite("ns.a.b", ("x",), 1, open_ended=True, line=2, column=11)]


async def test_a_failed_call_is_an_exception_that_the_program_may_handle(sandbox: Sandbox) -> None:
    async def fail(call: Call) -> Any:
        raise CallFailed("no such member", kind="upstream_error", status=404, body={"id": 7})

    code = "try:\n    ns.get(id=7)\nexcept ToolError as error:\n    r = [error.status, error.kind, error.body['id']]\nr"
    outcome = await sandbox.run(code, names=("ns",), call=fail)
    assert outcome.value == [404, "upstream_error", 7]


async def test_when_to_ask_again_has_one_name_and_the_one_that_programs_guess(sandbox: Sandbox) -> None:
    async def answer(call: Call) -> Any:
        raise CallFailed("busy", status=429, retry_after_s=2.5)

    code = "try:\n    ns.get()\nexcept ToolError as error:\n    print(error.retry_after_s, error.retry_after)\nns.get()"
    outcome = await sandbox.run(code, names=("ns",), call=answer)
    assert outcome.output == "2.5 2.5\n"
    assert outcome.failure is not None
    assert outcome.failure.hint == "the service asks to wait 2.5 s before the call is made again"


async def test_a_call_that_nobody_waits_for_any_more_is_cancelled(sandbox: Sandbox) -> None:
    desk = Desk(together=inf)
    code = (
        "import asyncio\ntry:\n    await asyncio.wait_for(ns.get(n=1), 0.05)\n"
        "except asyncio.TimeoutError:\n    r = 'late'\nr"
    )
    outcome = await sandbox.run(code, names=("ns",), call=desk.answer)
    assert outcome.value == "late"
    assert desk.cancelled == 1


async def test_what_a_killed_program_printed_before_it_waited_is_kept(sandbox: Sandbox) -> None:
    desk = Desk(together=inf)
    outcome = await sandbox.run(
        "print('before')\nns.get(n=1)", names=("ns",), call=desk.answer, limits=replace(LIMITS, wall_s=3)
    )
    assert (outcome.status, outcome.limit, outcome.output) == (Status.TIMED_OUT, "wall_s", "before\n")
    assert desk.cancelled == 1


async def test_a_program_that_catches_everything_cannot_outlive_its_limits(sandbox: Sandbox) -> None:
    code = "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
    outcome = await sandbox.run(code, limits=replace(LIMITS, cpu_s=0.2))
    assert (outcome.status, outcome.limit) == (Status.TIMED_OUT, "cpu_s")


async def test_two_gigabytes_end_as_out_of_memory(sandbox: Sandbox) -> None:
    outcome = await sandbox.run("x = 'a' * 2_000_000_000")
    assert (outcome.status, outcome.limit) == (Status.OUT_OF_MEMORY, "memory_bytes")


@pytest.mark.parametrize(
    "code",
    [
        "['x' * 1_000_000] * 60",
        "{'a': ['x' * 1_000_000] * 60}",
        "['x' * 10_000] * 5_000",
        "['\\x00' * 10_000] * 2_001",
        "['\\u4e2d' * 10_000 + str(n) for n in range(700)]",
    ],
)
async def test_a_result_that_memory_does_not_suffice_for_is_no_crash(sandbox: Sandbox, code: str) -> None:
    for mebibytes in (16, 24, 48):
        limits = replace(LIMITS, memory_bytes=mebibytes << 20)
        outcome = await sandbox.run(code, limits=limits)
        assert outcome.limit == "memory_bytes" or (outcome.failure and outcome.failure.type == "ResultError"), outcome


async def test_a_result_of_fifty_megabytes_is_an_error_that_names_its_size(sandbox: Sandbox) -> None:
    outcome = await sandbox.run("'x' * 50_000_000")
    assert outcome.status is Status.FAILED
    assert outcome.failure is not None
    assert "50,000,002 bytes" in outcome.failure.message


async def test_a_large_result_arrives_whole(sandbox: Sandbox) -> None:
    outcome = await sandbox.run("[{'id': n, 'text': 'ü' * 20} for n in range(20_000)]")
    assert outcome.value == [{"id": n, "text": "ü" * 20} for n in range(20_000)]


async def test_the_first_run_starts_what_was_not_started() -> None:
    sandbox = Sandbox(limits=LIMITS, workers=1)
    try:
        assert (await sandbox.run("1 + 1")).value == 2
        assert sandbox.isolation["seccomp"] == "in force"
    finally:
        await sandbox.aclose()


async def test_closing_ends_a_program_that_waits_for_a_call() -> None:
    called = asyncio.Event()

    async def call(_: Call) -> None:
        called.set()
        await asyncio.Event().wait()

    sandbox = Sandbox(limits=LIMITS, workers=1)
    running = asyncio.ensure_future(sandbox.run("api.wait()", names=("api",), call=call))
    await called.wait()
    await sandbox.aclose()
    assert (await running).status is Status.CRASHED


@pytest.mark.parametrize("last", ["n", "'ü'", "{n}", "(n, [n])", "float('nan')"])
async def test_a_long_list_arrives_whole_whatever_its_last_item_is(sandbox: Sandbox, last: str) -> None:
    short = f"n = 7\n[{last}]"
    item = (await sandbox.run(short)).value[0]
    outcome = await sandbox.run(short.replace("\n[", "\n[*range(9_999), "))
    assert outcome.value == [*range(9_999), item]


async def test_a_long_list_that_cannot_be_sent_leaves_nothing_of_it(sandbox: Sandbox) -> None:
    outcome = await sandbox.run("[*range(9_999), print]")
    assert (outcome.status, outcome.value) == (Status.FAILED, None)
    assert outcome.failure is not None
    assert "result[9999] is the function print" in outcome.failure.message


async def test_a_long_list_of_items_of_any_size_arrives_whole(sandbox: Sandbox) -> None:
    outcome = await sandbox.run("sizes = [1, 9, 90_000]\n['x' * sizes[n % 400 // 399 + n // 600] for n in range(700)]")
    assert [len(item) for item in outcome.value] == [[1, 9, 90_000][n % 400 // 399 + n // 600] for n in range(700)]


async def test_a_large_result_takes_memory_for_a_few_copies_of_it_and_no_more(sandbox: Sandbox) -> None:
    least = (await sandbox.run("1")).usage.peak_memory_bytes
    outcome = await sandbox.run("'x' * 8_000_000", limits=replace(LIMITS, memory_bytes=1 << 30))
    assert outcome.ok
    assert outcome.usage.peak_memory_bytes - least < 8 * 8_000_000


@pytest.mark.parametrize("part", [b"[[", b"[NaN]", b"[1]", b"-", b"=[1]", b'+["a"'], ids=repr)
async def test_parts_that_a_guest_forges_end_it(part: bytes) -> None:
    code = f"import os\nos.write(rpc_fd, {frame(part)!r})\nresult = 1"
    async with Sandbox(limits=LIMITS, program="bare_program", folders=(PROGRAMS,)) as bare:
        assert (await bare.run(code)).status is Status.CRASHED


async def test_a_value_and_its_parts_together_are_within_the_limit() -> None:
    part = frame(b"[" + b"1," * 40_000 + b"1]")
    code = f"import os\nos.write(rpc_fd, {part!r})\nresult = [1] * 40_000"
    limits = replace(LIMITS, result_bytes=100_000)
    async with Sandbox(limits=limits, program="bare_program", folders=(PROGRAMS,)) as bare:
        outcome = await bare.run(code)
    assert (outcome.status, outcome.limit, outcome.value) == (Status.CRASHED, "result_bytes", None)


@pytest.mark.parametrize("items", [3_600, 3_650, 3_750, 3_850, 3_900])
async def test_a_value_of_many_long_lists_is_whole_up_to_the_limit(sandbox: Sandbox, items: int) -> None:
    """Each list takes two parts that hold no data, which count."""
    code = f"{{str(i): {{str(j): [1] * {items} for j in range(16)}} for i in range(8)}}"
    value = {str(i): {str(j): [1] * items for j in range(16)} for i in range(8)}
    size = len(encode(value))
    for limit in (size, size + 300_000, size + 1_000_000):
        outcome = await sandbox.run(code, limits=replace(LIMITS, result_bytes=limit))
        assert outcome.value == value, (limit, outcome.failure)


async def test_a_rejected_call_is_an_error_of_its_own_that_a_program_may_handle(sandbox: Sandbox) -> None:
    async def answer(call: Call) -> Any:
        raise CallFailed("a person did not allow ns.get", kind="rejected", body="not on a Friday")

    code = "try:\n    ns.get()\nexcept ToolRejected as error:\n    seen = [error.reason, str(error), error.kind]\nseen"
    outcome = await sandbox.run(code, names=("ns",), call=answer)
    assert outcome.value == ["not on a Friday", "a person did not allow ns.get", "rejected"]
    unhandled = await sandbox.run("ns.get()", names=("ns",), call=answer)
    assert unhandled.failure is not None
    assert (unhandled.failure.type, "ToolRejected" in unhandled.failure.hint) == ("ToolRejected", True)


@pytest.mark.parametrize("rows", [3, 3_000], ids=["one frame", "parts"])
async def test_a_value_is_held_by_its_outcome_alone(sandbox: Sandbox, rows: int) -> None:
    outcome = await sandbox.run(f"[[n] for n in range({rows})]")
    assert outcome.value[-1] == [rows - 1]
    (owner,) = _owners(outcome.value)
    assert owner is outcome or owner is outcome.result
    assert [owner is outcome.value for owner in _owners(outcome.value[0])] == [True]


def _owners(value: Any) -> list[Any]:
    """Who refers to it, besides the test that asks."""
    return [owner for owner in gc.get_referrers(value) if not inspect.iscoroutine(owner)]


@pytest.mark.parametrize(
    ("code", "says", "line"),
    [
        ("n = 0\nwhile True:\n    n += 1", "line", (2, 3)),
        ("x = 1\nns.get(n=1)", "it waited for ns.get(...) (line 2)", (2,)),
        ("x = 1\nawait ns.get(n=1)", "it waited for await (line 2)", (None,)),
        ("try:\n    while True: pass\nexcept BaseException:\n    1", "line 2 was running", (2,)),
    ],
)
async def test_a_time_limit_names_the_line(sandbox: Sandbox, code: str, says: str, line: tuple[int | None]) -> None:
    desk = Desk(together=inf)

    outcome = await sandbox.run(code, names=("ns",), call=desk.answer, limits=replace(LIMITS, wall_s=1))

    assert (outcome.status, outcome.limit) == (Status.TIMED_OUT, "wall_s")
    assert outcome.failure is not None
    assert outcome.failure.line in line
    assert says in outcome.failure.message


async def test_processor_time_names_the_line(sandbox: Sandbox) -> None:
    outcome = await sandbox.run("n = 0\nwhile n >= 0: n += 1", limits=replace(LIMITS, cpu_s=1))

    assert (outcome.status, outcome.limit) == (Status.TIMED_OUT, "cpu_s")
    assert outcome.failure is not None
    assert outcome.failure.line == 2
    assert ">    2 | while n >= 0" in outcome.failure.excerpt


async def test_a_wait_that_is_longer_than_the_time_left_ends_at_once_and_says_so(sandbox: Sandbox) -> None:
    for wait in ("import time\ntime.sleep(3600)", "import asyncio\nawait asyncio.sleep(3600)"):
        outcome = await sandbox.run(wait)
        assert (outcome.status, outcome.limit) == (Status.TIMED_OUT, "wall_s"), wait
        assert outcome.failure is not None
        assert "the program would wait 3,600 s" in outcome.failure.message
        assert "it was ended at once" in outcome.failure.message


async def test_the_call_limit_is_a_limit(sandbox: Sandbox) -> None:
    async def take(_: Call) -> None:
        return None

    outcome = await sandbox.run(
        "for n in range(9):\n    ns.take(n=n)", names=("ns",), call=take, limits=replace(LIMITS, calls=3)
    )
    assert (outcome.status, outcome.limit) == (Status.FAILED, "calls")
    assert outcome.failure is not None
    assert outcome.failure.type == "CallLimitExceeded"
