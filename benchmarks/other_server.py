"""Several servers on one PostgreSQL: how soon one of them shows, cancels and takes up what another one runs.

    python -m benchmarks.other_server [--deaths 3]

Starts `codemode serve` three times, with leases of the default length. Printed are the delay of events on another
server after those on the server that runs the execution, and the duration of a cancel through another server. Then a
server is killed (`kill -9`): printed is the time until each of its executions makes its call again, and how many each
other server took.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from tests.integration.codemode.executions.upstream import Place, place
from tests.integration.codemode.serving.servers import Served, served
from tests.postgres import cluster

CALLS = 100
CANCELS = 20
EXECUTIONS = 12


async def arrivals(server: Served, execution: str) -> dict[int, float]:
    return {event["sequence"]: time.monotonic() async for event in server.events(execution)}


def line(what: str, values: list[float], unit: str = "ms", factor: float = 1000) -> None:
    ordered = [value * factor for value in sorted(values)]
    last = ordered[int(0.95 * (len(ordered) - 1))]
    print(f"{what:48}{statistics.median(ordered):9.1f} median{last:9.1f} p95{ordered[-1]:9.1f} most, {unit}")


async def events(first: Served, second: Served) -> None:
    execution = await first.start(f"for n in range({CALLS}): up.x.get(n=n)")
    here, there = await asyncio.gather(arrivals(first, execution), arrivals(second, execution))
    line("events, after those of the own server", [there[number] - here[number] for number in here])


async def cancels(here: Place, first: Served, second: Served) -> None:
    here.upstream.hold("/post")
    durations = []
    for _ in range(CANCELS):
        seen = len(here.upstream.seen)
        execution = await first.start("up.x.post(n=1)")
        await here.upstream.wait_for(seen + 1)
        begun = time.monotonic()
        answer = await second.http.post(f"/v1/executions/{execution}/cancel")
        assert answer.json()["outcome"]["calls"], answer.text
        durations.append(time.monotonic() - begun)
    line("cancel through another server", durations)


async def death(here: Place, dying: Served, others: list[Served]) -> None:
    hold = here.upstream.hold("/get")
    hold.clear()
    seen = len(here.upstream.seen)
    started = [await dying.start(f"up.x.get(n={number})") for number in range(EXECUTIONS)]
    await here.upstream.wait_for(seen + EXECUTIONS)
    await asyncio.sleep(random.uniform(0, 5))  # noqa: S311 -- any time between two renewals
    begun = time.monotonic()
    dying.process.kill()
    durations = []
    for number in range(1, EXECUTIONS + 1):
        await here.upstream.wait_for(seen + EXECUTIONS + number)
        durations.append(time.monotonic() - begun)
    hold.set()
    for execution in started:
        assert (await others[0].ended(execution))["status"] == "completed"
    line(f"take-over of {EXECUTIONS} executions", durations, "s", 1)


async def main(deaths: int) -> None:
    with cluster() as url, tempfile.TemporaryDirectory() as folder:
        async with place(Path(folder)) as here, AsyncExitStack() as stack:
            others = [await stack.enter_async_context(served(here, url, name)) for name in ("one", "two")]
            async with served(here, url, "zero") as dying:
                for _ in range(3):
                    await events(dying, others[0])
                await cancels(here, dying, others[0])
            for number in range(deaths):
                async with served(here, url, f"dying-{number}") as dying:
                    await death(here, dying, others)
        taken = [sum("is recovered" in written for written in other.log) for other in others]
        print(f"taken over by the other servers: {taken}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deaths", type=int, default=3, help="servers that are killed")
    asyncio.run(main(parser.parse_args().deaths))
