"""The sandbox beside its peers: the same programs, in turns, so that a disturbance hits all engines.

    python -m benchmarks.engines [--rounds 30] [--only NAME …]

Each round runs the same programs, so engines may reuse compiled code, except in workloads marked "new each time".
Prints medians and ratios. Exits with 1 if a peer did not run.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from benchmarks import engine_adapters as adapters
from benchmarks import engine_programs as programs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Samples = dict[str, dict[str, list[float]]]

#: Idle time before each measurement.
_GAP_S = 0.015
_THROUGHPUT_S = 2.0
_NUMBERS = itertools.count(1_000)


def label(engine: adapters.Engine) -> str:
    """Return the name of an engine in the table."""
    return engine.name + (" single-use" if isinstance(engine, adapters.MontySingleUse) else "")


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Return the seconds that `work` takes, after an idle moment."""
    await asyncio.sleep(_GAP_S)
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


async def measure_empty(engine: adapters.Engine) -> float:
    """Measure `1 + 1`."""
    return await timed(lambda: engine.run(programs.NOTHING))


async def measure_new(engine: adapters.Engine) -> float:
    """Measure a sum that differs each time."""
    code = programs.NEW.format(next(_NUMBERS))
    return await timed(lambda: engine.run(code))


async def measure_call(engine: adapters.Engine) -> float:
    """Measure one of many sequential tool calls."""
    code = programs.SEQUENTIAL.format(call=engine.call)
    with_calls = await timed(lambda: engine.run(code))
    return (with_calls - await timed(lambda: engine.run(programs.NOTHING))) / programs.CALLS


async def measure_gather(engine: adapters.Engine) -> float:
    """Measure 50 concurrent calls of 20 ms."""
    call = engine.call if engine.call.startswith("(await") else f"await {engine.call}"
    code = programs.GATHER.format(call=call, run=engine.run_async)
    return await timed(lambda: engine.run(code, handler=adapters.slow_tool))


async def measure_executor(engine: adapters.Engine) -> float:
    """Measure one of two layers of 50 calls of 20 ms in a thread pool."""
    code = programs.EXECUTOR.format(call=engine.call)
    return await timed(lambda: engine.run(code, handler=adapters.slow_tool)) / 2


async def measure_one_by_one(engine: adapters.Engine) -> float:
    """Measure 50 sequential calls of 20 ms."""
    code = programs.ONE_BY_ONE.format(call=engine.call)
    return await timed(lambda: engine.run(code, handler=adapters.slow_tool))


async def measure_large(engine: adapters.Engine) -> float:
    """Measure a result of 10 MB, until it is decoded into Python objects."""
    return await timed(lambda: engine.run(programs.LARGE))


def measure_compute(name: str) -> Callable[[adapters.Engine], Awaitable[float]]:
    """Return a measurement of one of the `COMPUTE` programs."""

    async def measure(engine: adapters.Engine) -> float:
        return await timed(lambda: engine.run(programs.COMPUTE[name]))

    return measure


_PARALLEL = {"gather": measure_gather, "executor": measure_executor, "one by one": measure_one_by_one}

#: workload: (unit, units in a second, measured in every n-th round, measurement)
WORKLOADS: dict[str, tuple[str, float, int, Callable[[adapters.Engine], Awaitable[float]]]] = {
    "1 + 1": ("us", 1e6, 1, measure_empty),
    "1 + 1, new each time": ("us", 1e6, 1, measure_new),
    "one call": ("us", 1e6, 1, measure_call),
    "50 x 20 ms, gather": ("ms", 1e3, 1, measure_gather),
    "50 x 20 ms, executor, per layer": ("ms", 1e3, 1, measure_executor),
    "50 x 20 ms, one by one": ("ms", 1e3, 10, measure_one_by_one),
    "nbody": ("ms", 1e3, 3, measure_compute("nbody")),
    "fannkuch": ("ms", 1e3, 3, measure_compute("fannkuch")),
    "text": ("ms", 1e3, 3, measure_compute("text")),
    "objects": ("ms", 1e3, 3, measure_compute("objects")),
    "10 MB result": ("ms", 1e3, 6, measure_large),
}
_SLOW = {"smolagents": {"nbody", "fannkuch", "text", "objects", "10 MB result"}}


def applies(engine: adapters.Engine, workload: str) -> bool:
    """Return whether an engine supports a workload."""
    kind = {"50 x 20 ms, gather": "gather", "50 x 20 ms, executor, per layer": "executor"}.get(workload)
    if workload == "50 x 20 ms, one by one":
        return "one by one" in engine.parallel
    if kind is not None:
        return kind in engine.parallel
    return True


async def measure_all(engines: list[adapters.Engine], rounds: int) -> tuple[Samples, list[str]]:
    """Run all workloads on all engines in turns. Return the samples and the failures."""
    samples: Samples = defaultdict(lambda: defaultdict(list))
    problems: dict[tuple[str, str], str] = {}
    for number in range(rounds):
        for workload, (_, _, every, measure) in WORKLOADS.items():
            for place in range(len(engines)):
                engine = engines[(place + number) % len(engines)]
                rarely = every * (10 if workload in _SLOW.get(engine.name, ()) else 1)
                if number % rarely or not applies(engine, workload) or (label(engine), workload) in problems:
                    continue
                try:
                    samples[workload][label(engine)].append(await asyncio.wait_for(measure(engine), 600))
                except Exception as error:  # noqa: BLE001 - whatever a peer raises is its result
                    problems[label(engine), workload] = f"{type(error).__name__}: {str(error)[:200]}"
        print(f"round {number + 1} of {rounds}", file=sys.stderr, end="\r", flush=True)
    return samples, [f"{name}, {workload}: {what}" for (name, workload), what in problems.items()]


def measure_in_processes(engine: type[adapters.Engine], what: str, *, processes: int = 1) -> list[float]:
    """Run `benchmarks.one_process` and return what each process printed."""
    command = [sys.executable, "-m", "benchmarks.one_process", what, engine.__name__, str(_THROUGHPUT_S)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    return [float(process.communicate()[0]) for process in running]


_THROUGHPUT = (
    adapters.Ours,
    adapters.MontyReused,
    adapters.MontySingleUse,
    adapters.PythonProcess,
    adapters.Bubblewrap,
)
_COLD = (adapters.Ours, adapters.BareExec, adapters.MontyReused, adapters.FastMcpCodeMode)


def measure_apart(samples: Samples, rounds: int) -> None:
    """Measure in separate processes: throughput on two cores, cold start, idle memory."""
    engine: type[adapters.Engine]
    for _ in range(rounds):
        for what, workload in (("throughput", "runs per second"), ("new", "runs per second, new each time")):
            for engine in _THROUGHPUT:
                both = measure_in_processes(engine, what, processes=2)
                samples[workload][label(engine())].append(sum(both))
        for engine in _COLD:
            samples["cold start"][label(engine())] += measure_in_processes(engine, "cold")
        samples["idle worker, MiB"]["sandbox"] += measure_in_processes(adapters.Ours, "memory")


def print_table(samples: Samples) -> None:
    """Print medians, and ratios to `exec` and to pydantic-monty."""
    for workload, by_engine in samples.items():
        unit, scale = WORKLOADS[workload][:2] if workload in WORKLOADS else ("", 1.0)
        medians = {name: statistics.median(values) * scale for name, values in by_engine.items() if values}
        print(f"\n{workload}")
        print(f"  {'':<26}{'median ' + unit:>14}{'best':>12}{'x exec':>10}{'x monty':>10}{'rounds':>8}")
        for name, median in sorted(medians.items(), key=lambda item: item[1]):
            best = min(by_engine[name]) * scale
            to_exec = paired_ratio(by_engine, name, "exec")
            to_monty = paired_ratio(by_engine, name, "pydantic-monty")
            print(f"  {name:<26}{median:>14.1f}{best:>12.1f}{to_exec:>10}{to_monty:>10}{len(by_engine[name]):>8}")


def paired_ratio(by_engine: dict[str, list[float]], name: str, other: str) -> str:
    """Return the median ratio of two engines in the same round."""
    pairs = [(a, b) for a, b in zip(by_engine[name], by_engine.get(other, []), strict=False) if b]
    return f"{statistics.median(a / b for a, b in pairs):.2f}" if pairs else ""


async def main() -> int:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--apart", type=int, default=5, help="rounds of measurements in separate processes")
    parser.add_argument("--only", nargs="*", help="names of engines")
    options = parser.parse_args()
    engines: list[adapters.Engine] = []
    problems: list[str] = []
    for engine_type in adapters.ENGINES:
        engine = engine_type()
        if options.only and label(engine) not in options.only:
            continue
        try:
            await engine.start()
            await engine.run(programs.NOTHING)
        except Exception as error:  # noqa: BLE001 - a peer that is missing is reported, and fails the run
            problems.append(f"{label(engine)} did not run: {type(error).__name__}: {error}")
        else:
            engines.append(engine)
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {sys.version.split()[0]}, {options.rounds} rounds")
    print(", ".join(f"{label(engine)} {engine.version()}" for engine in engines))
    samples, failed = await measure_all(engines, options.rounds)
    for engine in engines:
        await engine.stop()
    if options.apart and not options.only:
        measure_apart(samples, options.apart)
    print_table(samples)
    for problem in problems + failed:
        print(f"PROBLEM {problem}")
    return 1 if problems or failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
