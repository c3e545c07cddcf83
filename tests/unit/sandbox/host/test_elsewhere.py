"""Platforms without a process wall: refused by name, or run behind the language policy after the opt-in.

The platform is simulated; the workers that run without a fork server are real.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox import Call, Limits, Sandbox, SandboxUnavailable, Status
from sandbox.errors import WorkerError
from sandbox.host.layers import REMEDIES

PROGRAMS = str(Path(__file__).parents[1] / "programs")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.host.sandbox.PLATFORM", "darwin")


async def test_without_the_opt_in_nothing_runs_and_each_missing_layer_is_named() -> None:
    with pytest.raises(SandboxUnavailable) as caught:
        await Sandbox().run("1 + 1")
    message = str(caught.value)
    assert "this is darwin" in message
    assert all(f"{layer}: not there" in message for layer in REMEDIES)
    assert "insecure=True" in message


async def test_requiring_nothing_is_no_opt_in() -> None:
    with pytest.raises(SandboxUnavailable):
        await Sandbox(require=()).run("1 + 1")


async def test_after_the_opt_in_programs_run_and_no_layer_is_claimed() -> None:
    async def double(call: Call) -> Any:
        return call.arguments["x"] * 2

    async with Sandbox(insecure=True, workers=1) as sandbox:
        outcome = await sandbox.run("print('hello')\nns.double(x=21)", names=("ns",), call=double)
        refused = await sandbox.run("open('/etc/passwd')")
        isolation = sandbox.isolation
    assert (outcome.status, outcome.value, outcome.output) == (Status.COMPLETED, 42, "hello\n")
    assert outcome.isolation == ()
    assert outcome.usage.peak_memory_bytes > 1_000_000
    assert refused.status is Status.REFUSED
    assert isolation["seccomp"] == "not there: darwin has no filter of system calls"


async def test_limits_of_time_end_a_program_that_catches_everything() -> None:
    code = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    limits = Limits(wall_s=3, cpu_s=60)
    async with Sandbox(insecure=True, workers=1, limits=limits) as sandbox:
        assert (await sandbox.run(code)).limit == "wall_s"


async def test_a_program_that_ends_its_process_and_one_that_is_given_up_leave_nothing() -> None:
    before = asyncio.all_tasks()
    options: dict[str, Any] = {"program": "bare_program", "folders": (PROGRAMS,)}
    async with Sandbox(insecure=True, workers=0, limits=replace(Limits(), wall_s=40), **options) as sandbox:
        outcome = await sandbox.run("import os; os._exit(3)")
        assert outcome.status is Status.CRASHED
        assert outcome.failure is not None
        assert "exit status 3" in outcome.failure.message
        called = asyncio.Event()

        async def answer(_: Call) -> None:
            called.set()
            await asyncio.Event().wait()

        running = asyncio.create_task(sandbox.run("tool(1)", names=("tool",), call=answer))
        await called.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("missing", ["socket.AF_UNIX", "os.wait4"])
async def test_a_platform_without_unix_sockets_runs_nothing(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.delattr(missing)
    with pytest.raises(WorkerError, match="has no Unix sockets or no wait4: programs cannot run here"):
        await Sandbox(insecure=True, workers=0).start()


async def test_a_sandbox_that_ran_nothing_is_closed() -> None:
    async with Sandbox(insecure=True, workers=0):
        pass
