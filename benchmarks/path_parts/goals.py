"""The goals of the path, as ratios within one run."""

from __future__ import annotations

import asyncio
import time
from statistics import median
from typing import TYPE_CHECKING, Protocol

from benchmarks.engine_adapters import Engine, MontyReused, Ours
from benchmarks.path_parts.programs import EMPTY, FIFTY, FIVE, ONE, PARALLEL

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Calls of the program that runs in the sandbox alone.
_CALLS = 200


class Cell(Protocol):
    """See `benchmarks.path.Cell`."""

    @property
    def per_second(self) -> float: ...  # noqa: D102
    @property
    def p50_ms(self) -> float: ...  # noqa: D102
    @property
    def server_ms(self) -> float: ...  # noqa: D102


def print_goals(table: Mapping[tuple[str, str, int], Cell], overload: float) -> None:
    """Print each goal with the measured value, and whether it is met."""
    ours, floor, many = "codemode sqlite", "floor_httpx2", 16
    empty = table[ours, EMPTY.name, many].server_ms
    call = _call_ms(table, ours)
    recorded = table[ours, PARALLEL.name, many].server_ms - table["codemode none", PARALLEL.name, many].server_ms
    in_group = recorded / PARALLEL.calls
    print("\ngoals, with 16 clients")
    _row("empty program, ms of the server", empty, at_most=2.0)
    _row("empty program / FastAPI route", empty / table[floor, EMPTY.name, many].server_ms, at_most=2.5)
    _row("a call, ms of the server", call, at_most=0.6)
    _row("a call / the floor's call with httpx2", call / _call_ms(table, floor), at_most=2.0)
    _row("five calls, programs/s, one process", table[ours, FIVE.name, many].per_second, at_least=100)
    _row("five calls, programs/s, two processes", table["2 processes", FIVE.name, many].per_second, at_least=160)
    _row("five calls, p50 in ms", table[ours, FIVE.name, many].p50_ms, at_most=100)
    _row("goodput at twice the peak / the peak", overload, at_least=0.95)
    _row("record of a call in a group, ms", in_group, at_most=0.15)
    _row("one call in the sandbox / Monty, wall time", asyncio.run(_beside_monty()), at_most=1.5)
    print("\nbeside FastMCP's code mode, 16 clients")
    for program in (EMPTY, FIVE, FIFTY, PARALLEL):
        theirs, mine = table["fastmcp", program.name, many], table[ours, program.name, many]
        print(
            f"  {program.name:14} programs/s {mine.per_second / theirs.per_second:5.2f} x, "
            f"processor time of the server {mine.server_ms / theirs.server_ms:5.2f} x"
        )


def _call_ms(table: Mapping[tuple[str, str, int], Cell], name: str) -> float:
    """Return the server's milliseconds for one of many sequential calls."""
    fifty, one = (table[name, program.name, 16].server_ms for program in (FIFTY, ONE))
    return (fifty - one) / (FIFTY.calls - ONE.calls)


def _row(name: str, value: float, *, at_most: float | None = None, at_least: float | None = None) -> None:
    is_met = value <= at_most if at_most is not None else value >= (at_least or 0)
    goal = f"at most {at_most:g}" if at_most is not None else f"at least {at_least:g}"
    print(f"  {name:44}{value:9.2f}   {goal:15}{'met' if is_met else 'NOT MET'}")


async def _beside_monty() -> float:
    """Return the wall time of one sequential call in the sandbox, as a multiple of Monty's."""
    engines: tuple[Engine, Engine] = (Ours(), MontyReused())
    for engine in engines:
        await engine.start()
    ratios = []
    for _ in range(7):
        mine, theirs = [await _call_s(engine) for engine in engines]
        ratios.append(mine / theirs)
    for engine in engines:
        await engine.stop()
    return median(ratios)


async def _call_s(engine: Engine) -> float:
    began = time.perf_counter()
    await engine.run("1 + 1")
    empty = time.perf_counter() - began
    began = time.perf_counter()
    await engine.run(f"x = 0\nfor i in range({_CALLS}):\n    x += {engine.call}\nx")
    return (time.perf_counter() - began - empty) / _CALLS
