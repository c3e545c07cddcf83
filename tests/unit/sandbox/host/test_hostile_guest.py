"""Guests that say what is in the protocol at the wrong moment, and hosts in want of something when they do."""

from __future__ import annotations

import asyncio
import os
import resource
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import Call, CallFailed, CallSite, Delivery, Limits, Sandbox, Status
from sandbox.host.fork_server import ForkServer
from tests.unit.sandbox.host.guest_programs import SAY, SLEEP
from tests.unit.sandbox.host.keeper import Keeper
from tests.unit.sandbox.host.waiting import SHOW_REPLY, until

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sandbox.host.worker import Worker

CALL = """say('{"t":"calls","calls":[[1,"1","tool",{}]],"wake":null,"delay":null}')\n"""
FINAL = """say('{"t":"final","status":"completed","has_value":false,"failure":null,"notes":[]}')\n"""


async def test_a_look_at_the_call_sites_ends_with_the_program_s_time(bare: Sandbox, limits: Limits) -> None:
    ended = asyncio.Event()

    async def look(_: tuple[CallSite, ...]) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    outcome = await bare.run("1", preflight=look, limits=replace(limits, wall_s=2))
    assert (outcome.status, outcome.limit, ended.is_set()) == (Status.TIMED_OUT, "wall_s", True)


@pytest.mark.parametrize("what", ['{"t":"live"}', '{"t":"calls","calls":[],"wake":0,"delay":null}', "[1]", "{"])
async def test_what_is_said_while_the_call_sites_are_looked_at_ends_the_program(
    make_bare: Callable[..., Sandbox], what: str
) -> None:
    async def look(_: tuple[CallSite, ...]) -> None:
        await asyncio.Event().wait()

    async with make_bare(program="early_program") as sandbox:
        outcome = await sandbox.run(what, preflight=look, recording=Keeper())
    assert outcome.status is Status.CRASHED
    assert outcome.failure is not None
    assert outcome.failure.type == "GuestProtocolError"


async def test_an_error_of_the_preflight_reaches_whoever_runs_the_program(bare: Sandbox) -> None:
    async def look(_: tuple[CallSite, ...]) -> None:
        raise OSError("no catalog")

    with pytest.raises(OSError, match="no catalog"):
        await bare.run("1", preflight=look)


async def test_a_guest_that_has_said_its_end_does_not_outlive_it(make_bare: Callable[..., Sandbox]) -> None:
    """The handler here ends after the guest has: a guest that computed on, or wrote on, would keep it for good."""
    async with make_bare(workers=0) as sandbox:
        server = sandbox._server
        assert isinstance(server, ForkServer)
        await until(lambda: not server._workers)  # the one that was probed has ended

        async def slow(_: Call) -> Any:
            (worker,) = server._workers.values()
            try:
                await asyncio.Event().wait()
            finally:
                await worker.ended

        code = SAY + CALL + "import time\ntime.sleep(0.05)\n" + FINAL + "while True: os.write(rpc_fd, bytes(100_000))"
        outcome = await sandbox.run(code, names=("tool",), call=slow)
    assert outcome.status is Status.COMPLETED


@pytest.mark.parametrize("is_given_up", [False, True])
async def test_a_look_that_takes_long_to_end_keeps_no_guest_alive(
    make_bare: Callable[..., Sandbox], *, is_given_up: bool
) -> None:
    """The look at the call sites may take its time to end: meanwhile the guest must not compute."""
    program, code = ("bare_program", "1") if is_given_up else ("early_program", "{")
    looking = asyncio.Event()
    async with make_bare(program=program, workers=0) as sandbox:
        server = sandbox._server
        assert isinstance(server, ForkServer)
        await until(lambda: not server._workers)  # the one that was probed has ended

        async def look(_: tuple[CallSite, ...]) -> None:
            (worker,) = server._workers.values()
            looking.set()
            try:
                await asyncio.Event().wait()
            finally:
                await worker.ended

        run = asyncio.ensure_future(sandbox.run(code, preflight=look))
        if is_given_up:
            await looking.wait()
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
        else:
            assert (await run).status is Status.CRASHED


@pytest.mark.parametrize("method", ["printed", "replayed", "live"])
async def test_an_error_of_the_recording_while_it_listens_reaches_whoever_runs_the_program(
    bare: Sandbox, method: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left")

    keeper = Keeper([] if method == "printed" else [Delivery(1, 1_900_000_000_000_000, answer=b"1")])
    setattr(keeper, method, fail)
    text = {
        "printed": '{"t":"output","text":"x","cut":false}',
        "replayed": '{"t":"calls","calls":[[1,"1","tool",{}]],"wake":null,"delay":null}',
        "live": '{"t":"live"}',
    }[method]
    with pytest.raises(OSError, match="no space left"):
        await bare.run(SAY + f"say('{text}')\n" + SLEEP, recording=keeper)


@pytest.mark.parametrize(
    "error",
    [
        CallFailed("half \ud800 a pair", kind="upstream_error"),
        CallFailed("later", kind="upstream_error", retry_after_s=float("inf")),
        CallFailed("large", kind="upstream_error", body="x" * 2_000),
        CallFailed("x" * 2_000, kind="upstream_error"),
        CallFailed("odd", kind="upstream_error", body={1, 2}),
    ],
)
@pytest.mark.parametrize("is_recorded", [False, True])
async def test_an_error_that_cannot_cross_is_told_without_what_cannot(
    bare: Sandbox, limits: Limits, error: CallFailed, *, is_recorded: bool
) -> None:
    async def fail(_: Call) -> Any:
        raise error

    few = replace(limits, reply_bytes=1_000)
    recording = Keeper() if is_recorded else None
    code = "import json\n" + SHOW_REPLY
    outcome = await bare.run(code, names=("tool",), call=fail, limits=few, recording=recording)
    told = outcome.value["error"]
    assert told["kind"] == "upstream_error"
    assert told["message"][:4] == error.message[:4]
    assert (told["body"], told["retry_after_s"]) == (None, None)


async def test_a_worker_that_cannot_be_killed_does_not_run_on(
    make_bare: Callable[..., Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the host has no descriptor left for the pidfd of a worker, the fork server ends, and the worker with it."""
    async with make_bare(workers=0) as sandbox:
        server = sandbox._server
        assert server is not None
        fork = server.fork
        await until(lambda: not server._workers)  # the one that was probed gives its descriptors back when it has ended
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        held: list[int] = []

        def fork_and_take_all(*request: Any) -> Worker:
            worker: Worker = fork(*request)
            resource.setrlimit(resource.RLIMIT_NOFILE, (last_descriptor() + 1, hard))
            with pytest.raises(OSError, match="Too many open files"):
                while True:
                    held.append(os.dup(0))
            return worker

        monkeypatch.setattr(server, "fork", fork_and_take_all)
        try:
            outcome = await sandbox.run(SLEEP)
        finally:
            for descriptor in held:
                os.close(descriptor)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert outcome.status is Status.CRASHED
        await until(lambda: not server._workers)
        assert (await sandbox.run("result = 1")).value == 1


async def test_answers_that_wait_to_be_recorded_count_as_unread(bare: Sandbox, limits: Limits) -> None:
    answered = 0

    class Slow(Keeper):
        async def deliver(self, deliveries: Any) -> bool:
            await self.is_over.wait()
            return False

        async def answer(self, call: Call) -> Any:
            nonlocal answered
            answered += 1
            return "x" * 1_000_000

    calls = [[number, str(number), "tool", {}] for number in range(1, 201)]
    code = SAY + f"import json\nsay(json.dumps({{'t': 'calls', 'calls': {calls}, 'wake': None, 'delay': None}}))\n"
    few = replace(limits, calls=200, calls_in_flight=4, reply_bytes=4_000_000, wall_s=0.5)
    keeper = Slow()
    outcome = await bare.run(code + SLEEP, call=keeper.answer, recording=keeper, limits=few)
    assert outcome.limit == "wall_s"
    assert answered <= 10


async def test_all_answers_come_when_they_have_been_recorded(bare: Sandbox, limits: Limits) -> None:
    class Large(Keeper):
        async def answer(self, call: Call) -> Any:
            return "x" * 1_000_000

    calls = [[number, str(number), "tool", {}] for number in range(1, 21)]
    code = SAY + (
        f"import json\nsay(json.dumps({{'t': 'calls', 'calls': {calls}, 'wake': None, 'delay': None}}))\n"
        "want = 0\nwhile want < 20 * 1_000_000: want += len(os.read(rpc_fd, 100_000))\nresult = want > 20_000_000"
    )
    few = replace(limits, calls=20, calls_in_flight=2, reply_bytes=2_000_000)
    keeper = Large()
    outcome = await bare.run(code, call=keeper.answer, recording=keeper, limits=few)
    assert outcome.value is True


@pytest.mark.parametrize("recorded", [(), (Delivery(1, 1_900_000_000_000_000, answer=b'"' + b"x" * 5_000 + b'"'),)])
async def test_no_call_is_made_once_all_answers_together_are_too_large(
    bare: Sandbox, limits: Limits, recorded: tuple[Delivery, ...]
) -> None:
    """A recorded run keeps them all, and is sent them all again."""

    class Large(Keeper):
        async def answer(self, call: Call) -> Any:
            self.made.append(call)
            await call.room()
            return "x" * 1_000

    keeper = Large(recorded)
    few = replace(limits, replies_bytes=4_500)
    code = "import json\n" + ("from sandbox.protocol.guest_messages import encode_live\n" if recorded else "")
    code += (
        "result = [tool(1) for _ in range(9)]\n"
        if not recorded
        else ("tool(1)\nimport os\nos.read(rpc_fd, 10_000)\nos.write(rpc_fd, encode_live())\nresult = [tool(1)]")
    )
    outcome = await bare.run(code, call=keeper.answer, recording=keeper, limits=few)
    assert len(outcome.value) - outcome.value.count(None) == len(keeper.made) == (0 if recorded else 5)


async def test_calls_that_are_given_up_before_they_begin_take_no_turns(bare: Sandbox, limits: Limits) -> None:
    async def answer(_: Call) -> Any:
        return 1

    code = SAY + (
        "from sandbox.protocol.guest_messages import encode_call, encode_calls, encode_cancel\n"
        "call = lambda n: encode_calls([encode_call(n, str(n), 'tool', b'{}')])\n"
        "frames = [call(n) + encode_cancel(n) for n in range(1, 9)]\n"
        "os.write(rpc_fd, b''.join(frames) + call(9))\n"
        "read = b''\nwhile b'\"id\":9,' not in read: read += os.read(rpc_fd, 1_000)\nresult = True"
    )
    outcome = await bare.run(code, call=answer, limits=replace(limits, calls_in_flight=2))
    assert outcome.value is True


async def test_errors_count_among_all_answers(bare: Sandbox, limits: Limits) -> None:
    made = 0

    async def fail(_: Call) -> Any:
        nonlocal made
        made += 1
        raise CallFailed("it did not work", kind="upstream_error", body="x" * 1_000)

    await bare.run("result = [tool(1) for _ in range(9)]", call=fail, limits=replace(limits, replies_bytes=4_500))
    assert made == 5


def last_descriptor() -> int:
    return max(int(path.name) for path in Path("/proc/self/fd").iterdir())


async def test_calls_that_are_made_when_the_time_is_up_are_not_started(
    make_bare: Callable[..., Sandbox], limits: Limits
) -> None:
    made: list[int] = []

    async def answer(call: Call) -> None:
        made.append(call.id)

    code = (
        SAY + "import time\nfor n in range(1, 100_000):\n"
        '    say(\'{"t":"calls","calls":[[%d,"%d","tool",{}]],"wake":0,"delay":null}\' % (n, n))\n'
        "    time.sleep(.002)\n"
    )
    few = replace(limits, wall_s=0.5, calls=100_000)
    async with make_bare(program="deaf_program") as sandbox:
        outcome = await sandbox.run(code, names=("tool",), call=answer, limits=few)
    assert (outcome.status, outcome.limit) == (Status.TIMED_OUT, "wall_s")
    assert made == list(range(1, len(made) + 1))
    assert outcome.usage.calls > len(made)  # those of the grace are read, and dropped


async def test_an_error_of_the_recording_after_the_end_changes_nothing(bare: Sandbox, limits: Limits) -> None:
    class Late(Keeper):
        async def deliver(self, _: Sequence[Delivery]) -> bool:
            await self.is_over.wait()
            raise OSError("no space left")

    async def answer(_: Call) -> int:
        return 1

    code = "result = tool(1)"
    outcome = await bare.run(code, names=("tool",), call=answer, recording=Late(), limits=replace(limits, wall_s=0.5))
    assert (outcome.status, outcome.limit) == (Status.TIMED_OUT, "wall_s")
