"""One measurement in its own process: `python -m benchmarks.one_process WHAT ENGINE SECONDS`."""

from __future__ import annotations

import time

_STARTED = time.perf_counter()

import asyncio  # noqa: E402 - the clock starts before the imports
import itertools  # noqa: E402
import re  # noqa: E402
import sys  # noqa: E402
from concurrent.futures import ThreadPoolExecutor  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Concurrent programs in each process: enough to keep a core busy.
_AT_A_TIME = 3


async def cold(engine: Any, seconds: float) -> float:
    """Return the seconds from before the imports to the first answer."""
    await engine.start()
    await engine.run("1 + 1")
    ended = time.perf_counter()
    await engine.stop()
    return ended - _STARTED


async def throughput(engine: Any, seconds: float) -> float:
    """Return the runs of one program per second."""
    return await rate(engine, seconds, itertools.repeat("1 + 1"))


async def new(engine: Any, seconds: float) -> float:
    """Return the runs per second of programs that differ each time."""
    return await rate(engine, seconds, map("1 + {}".format, itertools.count()))


async def rate(engine: Any, seconds: float, programs: Iterator[str]) -> float:
    """Return the runs per second."""
    await engine.start()
    await engine.run("1 + 1")
    deadline = time.perf_counter() + seconds
    is_ours = engine.name == "sandbox"

    async def work() -> int:
        count = 0
        while time.perf_counter() < deadline:
            await engine.run(next(programs))
            count += 1
        return count

    started = time.perf_counter()
    if is_ours:
        counts = await asyncio.gather(*(work() for _ in range(_AT_A_TIME)))
    else:  # peers block the caller, so threads keep them busy
        with ThreadPoolExecutor(_AT_A_TIME) as executor:
            counts = list(executor.map(lambda _: asyncio.run(work()), range(_AT_A_TIME)))
    per_second = sum(counts) / (time.perf_counter() - started)
    await engine.stop()
    return per_second


async def memory(engine: Any, seconds: float) -> float:
    """Return the proportional set size of an idle, warm worker in MiB."""
    await engine.start()
    await asyncio.sleep(1)
    sizes = [proportional_kib(worker._process) for worker in engine.sandbox._pool._idle]
    await engine.stop()
    return sum(sizes) / len(sizes) / 1024


def proportional_kib(process: int) -> int:
    """Return the proportional set size of a process: shared pages count in parts."""
    match = re.search(r"Pss:\s+(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text())
    assert match is not None
    return int(match[1])


if __name__ == "__main__":
    from benchmarks import engine_adapters

    what, name, duration = sys.argv[1:]
    measure = {"cold": cold, "throughput": throughput, "new": new, "memory": memory}[what]
    print(asyncio.run(measure(getattr(engine_adapters, name)(), float(duration))))
