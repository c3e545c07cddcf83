"""Tables of the crossing: from how many calls on code mode is cheaper, and what each job takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.crossing import CALLS, JOBS, MODES, TOOLS, Job
from codemode.bench.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codemode.bench.measures import Price
    from codemode.bench.results import Result

    Played = Mapping[tuple[str, Job], Result]

_OTHERS = tuple(mode for mode in MODES if mode != "code")


def played(results: Sequence[Result]) -> Played:
    """Return the jobs that were done, by mode and job."""
    return {(one.mode, Job.of(one.task)): one for one in results if one.solved}


def cost(result: Result, price: Price) -> float:
    """Return the cost of a job."""
    turns = result.turns
    return sum(price.of(turn.input_tokens, turn.cached_tokens, turn.output_tokens) for turn in turns)


def crossing(results: Sequence[Result], price: Price) -> Table:
    """Return the number of calls from which on code mode has fewer tokens, and costs less, than each other mode."""
    measures: dict[str, Callable[[Result], float]] = {
        "tokens": lambda one: one.tokens,
        "cost": lambda one: cost(one, price),
    }
    jobs = played(results)
    rows = [
        [job, f"{tools:,}", name, *(_first(jobs, job, tools, other, measure) for other in _OTHERS)]
        for job in JOBS
        for tools in TOOLS
        for name, measure in measures.items()
    ]
    return Table("Crossing", ("job", "tools", "by", *_OTHERS), rows)


def _first(jobs: Played, kind: str, tools: int, other: str, measure: Callable[[Result], float]) -> str:
    """Return the fewest calls from which on code mode measures less. A job that the other mode cannot do is ours."""
    if all((other, Job(kind, tools, calls)) not in jobs for calls in CALLS):
        return "cannot"
    first = ""
    for calls in reversed(CALLS):
        job = Job(kind, tools, calls)
        if ("code", job) not in jobs:
            break
        if (other, job) in jobs and measure(jobs["code", job]) >= measure(jobs[other, job]):
            break
        first = str(calls)
    return first or "never"


def sizes(results: Sequence[Result]) -> Table:
    """Return the tokens and requests of each job in each mode."""
    jobs = played(results)
    rows = [
        [kind, f"{tools:,}", str(calls), *(_cell(jobs.get((mode, Job(kind, tools, calls)))) for mode in MODES)]
        for kind in JOBS
        for tools in TOOLS
        for calls in CALLS
    ]
    return Table("Sizes", ("job", "tools", "calls", *MODES), rows)


def _cell(result: Result | None) -> str:
    return "" if result is None else f"{result.tokens:,} in {sum(turn.requests for turn in result.turns)}"
