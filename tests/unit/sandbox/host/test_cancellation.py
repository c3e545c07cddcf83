"""Whoever runs programs may give up at any moment, twice too: no process, descriptor, task or turn is left."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.host.fork_server import ForkServer
from tests.unit.sandbox.host.given_up import GivenUp
from tests.unit.sandbox.host.keeper import Keeper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sandbox import Call, CallSite, Delivery, Sandbox


async def test_a_start_that_is_given_up_anywhere_leaves_nothing(make_bare: Callable[..., Sandbox]) -> None:
    descriptors, children = len(open_descriptors()), children_of_this_process()
    at = 1
    while await GivenUp((sandbox := make_bare()).start(), at).end():
        assert (len(open_descriptors()), children_of_this_process()) == (descriptors, children)
        at += 1
    assert at > 2
    await sandbox.aclose()


@pytest.mark.parametrize("at", [1, 2])
async def test_an_end_that_is_given_up_is_an_end(make_bare: Callable[..., Sandbox], at: int) -> None:
    descriptors, children = len(open_descriptors()), children_of_this_process()
    sandbox = make_bare()
    await sandbox.start()
    await GivenUp(sandbox.aclose(), at).end()
    assert (len(open_descriptors()), children_of_this_process()) == (descriptors, children)


async def test_a_sandbox_that_is_closed_while_it_starts_has_no_process(make_bare: Callable[..., Sandbox]) -> None:
    children = children_of_this_process()
    sandbox = make_bare()
    starting = asyncio.ensure_future(sandbox.start())
    await asyncio.sleep(0)
    await sandbox.aclose()
    await starting
    assert children_of_this_process() == children


async def test_a_run_that_is_given_up_anywhere_leaves_nothing(make_bare: Callable[..., Sandbox]) -> None:
    async def look(_: tuple[CallSite, ...]) -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def answer(_: Call) -> Any:
        await asyncio.sleep(0)

    async with make_bare(workers=0, running=1, compiled_bytes=0) as sandbox:
        at = 1
        while True:
            tasks = asyncio.all_tasks()
            keeper = Keeper()
            work = sandbox.run("tool(1)", names=("tool",), call=answer, preflight=look, recording=keeper)
            if not await GivenUp(work, at).end():
                break
            assert asyncio.all_tasks() == tasks
            assert keeper.is_over.is_set()
            at += 1
        assert at > 2
        await sandbox.run("result = 1")  # there is a turn


async def test_a_run_that_is_given_up_twice_holds_no_answer_back(bare: Sandbox) -> None:
    """The handlers may still be ending then; nothing else may wait for ever."""
    asked, ending = asyncio.Event(), asyncio.Event()

    class Holding(Keeper):
        async def deliver(self, deliveries: Sequence[Delivery]) -> bool:
            asked.set()
            await self.is_over.wait()
            return False

        async def answer(self, call: Call) -> Any:
            if call.id == 1:
                return 1
            try:
                await asyncio.Event().wait()
            finally:
                ending.set()
                await asyncio.sleep(0.01)

    keeper = Holding()
    tasks = asyncio.all_tasks()
    code = (
        "from sandbox.protocol.guest_messages import encode_call, encode_calls\nimport os, time\n"
        "os.write(rpc_fd, encode_calls([encode_call(n, str(n), 'tool', b'{}') for n in (1, 2)]))\ntime.sleep(100)"
    )
    running = asyncio.ensure_future(bare.run(code, call=keeper.answer, recording=keeper))
    await asked.wait()
    running.cancel()
    await ending.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    async with asyncio.timeout(200):
        while asyncio.all_tasks() != tasks:  # noqa: ASYNC110 - what ends by itself
            await asyncio.sleep(0.005)


def open_descriptors() -> list[Path]:
    return list(Path("/proc/self/fd").iterdir())


def children_of_this_process() -> set[str]:
    found = Path("/proc/self/task").glob("*/children")
    return {child for each in found for child in each.read_text().split()}


async def test_two_starts_at_a_time_start_one_server(make_bare: Callable[..., Sandbox]) -> None:
    sandbox = make_bare(workers=0)
    await asyncio.gather(sandbox.start(), sandbox.start())
    assert isinstance(sandbox._server, ForkServer)
    await sandbox.aclose()
    await sandbox.aclose()
