"""Where the processor time of the server goes: the stage counters, and py-spy beside them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from benchmarks.path_parts.generator import Generator
from benchmarks.path_parts.processes import codemode
from benchmarks.path_parts.programs import EMPTY, FIFTY, FIVE, ONE, PARALLEL, Program, of_codemode
from benchmarks.path_parts.stages import STAGES, resolved, short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.path_parts.processes import Server

#: Clients of the profiled runs: several, so that turns of the event loop are shared.
CLIENTS = 4

#: Samples of py-spy per second.
RATE = 100

#: The rest of the processor time: tasks, callbacks, selector, and functions that no stage names.
REST = "event loop and rest"

#: Innermost frames of threads that wait.
_WAITING = (("threading.py", "wait"), ("concurrent/futures/thread.py", "_worker"), ("selectors.py", "select"))

_FRAME = re.compile(r"(.+) \((.+?):(\d+)\)$")


@dataclass(frozen=True, slots=True)
class Counted:
    """Microseconds per program, in all, and by stage and function."""

    in_all: float
    functions: Mapping[tuple[str, str], float]

    def stage(self, name: str) -> float:
        """Return the microseconds of a stage, or of everything outside the stages."""
        if name == REST:
            return self.in_all - sum(self.functions.values())
        return sum(value for (stage, _), value in self.functions.items() if stage == name)


def print_profile(url: str, seconds: float, *, functions: int = 25) -> None:
    """Print the stages of all programs, and the functions that take most in a program of five calls."""
    with tempfile.TemporaryDirectory() as folder, codemode(url, "sqlite", counters=Path(folder, "counters")) as server:
        counters = Path(folder, "counters")
        counted = {program: _counted(server, counters, program, seconds) for program in (EMPTY, ONE, FIFTY, PARALLEL)}
        samples = Path(folder, "samples")
        with subprocess.Popen(_py_spy(server, samples, seconds), stdout=subprocess.DEVNULL) as profiler:
            counted[FIVE] = _counted(server, counters, FIVE, seconds)
        if profiler.returncode:
            raise RuntimeError("py-spy failed: install it (`pip install py-spy`), and run as root")
        sampled = Sampled.of(samples.read_text(encoding="utf-8"))
    _print_stages(counted, sampled.stages)
    shown = ", ".join(f"{name} {share:.0%}" for name, share in list(sampled.packages.items())[:9])
    print(f"py-spy by the package of the innermost frame: {shown}")
    _print_functions(counted[FIVE], functions)


def _print_stages(counted: Mapping[Program, Counted], sampled: Mapping[str, float]) -> None:
    print("\nprocessor time of the server by stage, with counters on, in µs: a program, or a call beyond it")
    print(f"{'':26}{'empty':>8}{'5 calls':>9}{'a call':>9}{'a parallel':>11}{'counters':>10}{'py-spy':>8}")
    for stage in (*STAGES, REST):
        by_program = {program: each.stage(stage) for program, each in counted.items()}
        call = (by_program[FIFTY] - by_program[ONE]) / (FIFTY.calls - ONE.calls)
        parallel = (by_program[PARALLEL] - by_program[EMPTY]) / PARALLEL.calls
        share = by_program[FIVE] / counted[FIVE].in_all
        print(
            f"{stage:26}{by_program[EMPTY]:8.0f}{by_program[FIVE]:9.0f}{call:9.1f}{parallel:11.1f}"
            f"{share:10.1%}{sampled.get(stage, 0):8.1%}"
        )
    print(f"{'in all':26}{counted[EMPTY].in_all:8.0f}{counted[FIVE].in_all:9.0f}")
    print("both leave out the time of the counters themselves")


def _print_functions(counted: Counted, count: int) -> None:
    print(f"\nfunctions by their own time in a program of five calls, in µs ({count} largest)")
    for (stage, label), value in sorted(counted.functions.items(), key=lambda item: -item[1])[:count]:
        print(f"{value:8.0f}  {stage:26}{label}")


def _counted(server: Server, file: Path, program: Program, seconds: float) -> Counted:
    asked = of_codemode(program)
    with closing(Generator([server.port], asked.requests, CLIENTS, expected=asked.expected)) as generator:
        generator.closed(1.0)
        before_s, before = _read(server, file)
        seen = generator.closed(seconds)
        after_s, after = _read(server, file)
    assert seen.latencies, seen.statuses
    scale = 1e6 / len(seen.latencies)
    functions = {key: (value - before.get(key, 0.0)) * scale for key, value in after.items()}
    return Counted((after_s - before_s) * scale, functions)


def _read(server: Server, file: Path) -> tuple[float, dict[tuple[str, str], float]]:
    """Ask the server for its counters. Return its processor time and the seconds of each function."""
    file.unlink(missing_ok=True)
    os.kill(server.process, signal.SIGUSR2)
    deadline = time.monotonic() + 10
    while not file.exists():
        assert time.monotonic() < deadline, "the server wrote no counters"
        time.sleep(0.01)
    written = json.loads(file.read_text(encoding="utf-8"))
    return written["process_s"], {(stage, label): seconds for stage, label, seconds, _ in written["rows"]}


def _py_spy(server: Server, file: Path, seconds: float) -> list[str]:
    duration = max(1, round(seconds + 1))
    command = [str(Path(sys.executable).parent / "py-spy"), "record", "--pid", str(server.process), "--format", "raw"]
    command += ["--nonblocking", "--full-filenames", "--rate", str(RATE), "--duration", str(duration)]
    return [*command, "--output", str(file)]


@dataclass(frozen=True, slots=True)
class Sampled:
    """Shares of the samples of a running interpreter, by stage and by the package of the innermost frame."""

    stages: Mapping[str, float]
    packages: Mapping[str, float]

    @classmethod
    def of(cls, samples: str) -> Self:
        """Read the raw format of py-spy. The stage of a sample is that of the innermost frame that a stage names."""
        places = {(short(each.code.co_filename), each.code.co_name): each.stage for each in resolved()}
        stages: Counter[str] = Counter()
        packages: Counter[str] = Counter()
        for line in samples.splitlines():
            stack, _, count = line.rpartition(" ")
            frames = [
                (short(match[2]), match[1].rpartition(".")[2])
                for frame in stack.split(";")
                if (match := _FRAME.match(frame))
            ]
            if not frames or frames[-1] in _WAITING:
                continue
            if frames[-1][0].startswith("benchmarks/"):
                continue  # the clock itself, which the counters leave out, too
            stages[next((places[each] for each in reversed(frames) if each in places), REST)] += int(count)
            packages[frames[-1][0].partition("/")[0]] += int(count)
        return cls(*({name: n / found.total() for name, n in found.most_common()} for found in (stages, packages)))
