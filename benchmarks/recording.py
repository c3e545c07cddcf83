"""Recording: the cost of a recorded call in a program, measured in turns with and without a journal.

    python -m benchmarks.recording [--calls 500] [--rounds 7]

Programs call a Python function, sequentially or concurrently. Figures are medians of processor time (this process) and
wall time, in microseconds per call. `replayed` is the cost per call of resuming a paused execution, whose calls are all
answered from the journal.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from codemode.executions.types.records import Decision
from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.settings import Settings
from codemode.sources.functions.callables import tool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

PROGRAMS = {
    "one by one": "for n in range({calls}):\n    shop.price(n=n)\n",
    "at once": "import asyncio\nawait asyncio.gather(*[shop.price(n=n) for n in range({calls})])\n",
}
OWNER, APPROVER = Caller("owner"), Caller("person", "approver")


@tool(effect="write")
def price(n: int) -> dict[str, int]:
    """Return a small answer at once."""
    return {"id": n, "price": 30}


@tool(effect="destructive")
def drop() -> None:
    """Wait for a person."""


async def timed(work: Callable[[], Awaitable[object]], calls: int) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    await work()
    return (time.process_time() - cpu) / calls * 1e6, (time.perf_counter() - wall) / calls * 1e6


async def measure(calls: int, rounds: int) -> None:
    samples: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        settings = {"state_folder": folder, "limits": {"calls": calls + 1, "wall_s": 600}}
        ways = {
            way: CodeMode.from_settings(
                Settings.model_validate({**settings, "journal": {"enabled": way == "recorded"}}),
                functions={"shop": [price, drop]},
            )
            for way in ("not recorded", "recorded")
        }
        async with ways["recorded"] as recorded, ways["not recorded"]:
            for _ in range(rounds):
                for style, text in PROGRAMS.items():
                    code = text.format(calls=calls)
                    for way, service in ways.items():
                        work = lambda service=service, code=code: service.execute(code, caller=OWNER)  # noqa: E731
                        samples.setdefault((style, way), []).append(await timed(work, calls))
                    samples.setdefault((style, "replayed"), []).append(await replayed(recorded, code, calls))
    print(f"{datetime.now(UTC):%Y-%m-%d}, {calls} calls, medians of {rounds} rounds, µs per call")
    for (style, way), figures in samples.items():
        cpu, wall = (statistics.median(column) for column in zip(*figures, strict=True))
        print(f"  {style:12} {way:14} host CPU {cpu:7.1f}   wall {wall:7.1f}")


async def replayed(service: CodeMode, code: str, calls: int) -> tuple[float, float]:
    paused = await service.execute(code + "shop.drop()", caller=OWNER)
    decisions = [Decision(each.id, each.digest, "approved", by="") for each in paused.pending]
    await service.executions.decide(decisions, APPROVER)

    async def work() -> None:
        await service.executions.resume(paused.id, OWNER)
        await service.executions.wait(paused.id, OWNER, 600)

    return await timed(work, calls)


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    asyncio.run(measure(options.calls, options.rounds))


if __name__ == "__main__":
    main()
