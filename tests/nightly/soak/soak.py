"""Run very many programs, a tenth of them hostile or killed, and see that nothing is left behind.

    python tests/nightly/soak/soak.py [--runs 100000]

Fails on a leaked process, descriptor or task, and on memory of the host or the fork server that keeps growing.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sandbox import Call, CallFailed, Limits, Sandbox, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox import Outcome
    from sandbox.host.fork_server import ForkServer

PROGRAMS = str(Path(__file__).resolve().parents[2] / "unit" / "sandbox" / "programs")
LIMITS = Limits(wall_s=60.0, cpu_s=2.0, memory_bytes=64 << 20, output_bytes=20_000, calls=50)
QUICK = replace(LIMITS, wall_s=0.05)

_AT_A_TIME = 4
#: After the first part caches are full and allocators have seen every size; what grows later is a leak.
_WARM_PART = 0.3
_GROWTH_BYTES = 24 << 20
_GROWTH_SHARE = 0.25

GOOD = (
    "1 + 1",
    "print('hello')\n[n * n for n in range(50)]",
    "import json\njson.dumps({'a': [1, 2, {'b': None}]})",
    "r = [ns.echo(x=n) for n in range(3)]\nr",
    "import asyncio\nawait asyncio.gather(*[ns.echo(x=n) for n in range(10)])",
    "import asyncio\nawait asyncio.sleep(0.001)\n'slept'",
    "from concurrent.futures import ThreadPoolExecutor\n"
    "with ThreadPoolExecutor(4) as executor:\n    r = list(executor.map(lambda n: ns.echo(x=n), range(6)))\nr",
    "try:\n    ns.fail(x=1)\nexcept ToolError as error:\n    r = error.status\nr",
)
BAD = (
    ("1 / 0", Status.FAILED),
    ("def f(:", Status.REFUSED),
    ("open('/etc/passwd')", Status.REFUSED),
    ("x = 'a' * 10 ** 9", Status.OUT_OF_MEMORY),
)
KILLED = (
    "while True:\n    pass",
    "while True:\n    try:\n        ns.echo(x=1)\n    except Exception:\n        pass",
    "ns.wait(x=1)",
    "import asyncio\nawait asyncio.gather(*[ns.wait(x=n) for n in range(20)])",
    "print('x' * 10 ** 6)",
)
HOSTILE = (
    "import os; os._exit(0)",
    "import os; os.write(rpc_fd, b'\\xff' * 1000)",
    "import os; os.write(rpc_fd, b'\\0\\0\\0\\2{}' * 1000)",
    "import os; os.close(rpc_fd)\nwhile True: pass",
    "import ctypes; ctypes.string_at(0)",
    "import os; os.kill(0, 9)",
    "x = bytearray(10 ** 9)",
)


@dataclass
class Levels:
    """What must not grow."""

    descriptors: int
    processes: int
    tasks: int
    host_bytes: int
    server_bytes: int


async def answer(call: Call) -> Any:
    """Answer, fail, or never answer."""
    if call.tool == "ns.wait":
        await asyncio.Event().wait()
    if call.tool == "ns.fail":
        raise CallFailed("busy", kind="upstream_error", status=503)
    return call.arguments


async def soak(runs: int, *, seed: int = 1) -> Levels:
    """Run them all. Returns the growth since the warm part. Raises AssertionError on a wrong outcome or a leak."""
    before = descendants(), open_descriptors()
    chance = random.Random(seed)  # noqa: S311 - which program comes next need not be secret
    async with (
        Sandbox(limits=LIMITS) as sandbox,
        Sandbox(limits=LIMITS, program="bare_program", folders=(PROGRAMS,)) as bare,
    ):
        boxes = (sandbox, bare)
        await run_all(boxes, chance, max(40, int(runs * _WARM_PART)))
        warm = await levels(boxes)
        await run_all(boxes, chance, runs - int(runs * _WARM_PART))
        end = await levels(boxes)
    growth = Levels(*(getattr(end, name) - getattr(warm, name) for name in Levels.__annotations__))
    assert max(growth.descriptors, growth.processes, growth.tasks) <= 0, growth
    for name in ("host_bytes", "server_bytes"):
        most = max(_GROWTH_BYTES, _GROWTH_SHARE * getattr(warm, name))
        assert getattr(growth, name) < most, f"{name} grew from {getattr(warm, name)} by {getattr(growth, name)}"
    gc.collect()
    await until(lambda: descendants() <= before[0], "processes were left behind")
    assert open_descriptors() <= before[1] + 1  # the listing itself
    return growth


async def run_all(boxes: tuple[Sandbox, Sandbox], chance: random.Random, runs: int) -> None:
    """Run this many programs, some at a time."""
    turns = asyncio.Semaphore(_AT_A_TIME)

    async def one() -> None:
        try:
            await run_one(boxes, chance)
        finally:
            turns.release()

    async with asyncio.TaskGroup() as group:
        for number in range(runs):
            await turns.acquire()
            group.create_task(one())
            if number % 1_000 == 999:
                sys.stderr.write(f"{number + 1} of {runs}\r")


async def run_one(boxes: tuple[Sandbox, Sandbox], chance: random.Random) -> None:
    """Run one program of a kind that chance decides."""
    sandbox, bare = boxes
    kind = chance.random()
    if kind < 0.82:
        outcome = await sandbox.run(chance.choice(GOOD), names=("ns",), call=answer)
        assert outcome.status is Status.COMPLETED, outcome
    elif kind < 0.90:
        code, status = chance.choice(BAD)
        outcome = await sandbox.run(code, names=("ns",), call=answer)
        assert outcome.status is status, outcome
    elif kind < 0.94:
        outcome = await sandbox.run(chance.choice(KILLED), names=("ns",), call=answer, limits=QUICK)
        assert outcome.status is not Status.FAILED or "calls" in str(outcome.failure), outcome
    elif kind < 0.98:
        outcome = await bare.run(chance.choice(HOSTILE), limits=QUICK)
        assert outcome.status is not Status.COMPLETED, outcome
    else:
        await cancelled(sandbox.run("ns.wait(x=1)", names=("ns",), call=answer), after_s=chance.random() / 50)


async def cancelled(running: Any, *, after_s: float) -> None:
    """Give up on a program while it runs."""
    task: asyncio.Task[Outcome] = asyncio.ensure_future(running)
    await asyncio.sleep(after_s)
    task.cancel()
    await asyncio.wait((task,))
    assert task.cancelled()


async def levels(boxes: tuple[Sandbox, Sandbox]) -> Levels:
    """Wait until the pools are full and nothing dies any more, and read what must not grow."""
    await until(
        lambda: all(
            box._pool and len(box._pool._idle) == box._pool._size == len(cast("ForkServer", box._server)._workers)
            for box in boxes
        ),
        "a pool does not become full",
    )
    await asyncio.sleep(0.2)
    gc.collect()
    servers = [process for process in descendants() if "start.py" in command(process)]
    return Levels(
        descriptors=open_descriptors(),
        processes=len(descendants()),
        tasks=len(asyncio.all_tasks()),
        host_bytes=resident(os.getpid()),
        server_bytes=max(resident(process) for process in servers),
    )


async def until(holds: Callable[[], bool], otherwise: str) -> None:
    """Wait for it, for as long as a busy machine may take."""
    for _ in range(5_000):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(otherwise)


def descendants() -> set[int]:
    """Return all processes below this one, zombies included."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        parents.setdefault(parent, []).append(int(path.parent.name))
    found: set[int] = set()
    pending = [os.getpid()]
    while pending:
        children = parents.get(pending.pop(), [])
        found.update(children)
        pending += children
    return found


def open_descriptors() -> int:
    """Count the descriptors of this process, the one that lists them included."""
    return len(list(Path("/proc/self/fd").iterdir()))


def command(process: int) -> str:
    """Return the command line of a process."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


def resident(process: int) -> int:
    """Return resident memory in bytes."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def main() -> int:
    """Parse the command line and soak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    options = parser.parse_args()
    started = time.perf_counter()
    growth = asyncio.run(soak(options.runs))
    took = time.perf_counter() - started
    rate = options.runs / took
    sys.stdout.write(f"{options.runs} programs in {took:.0f} s ({rate:.0f}/s); growth after the warm part: {growth}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
