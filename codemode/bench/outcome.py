"""What a run shows on the command line: a progress bar, then the attempts that did not end as they should."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from codemode.bench.measures import groups_of
from codemode.bench.pairs import pairs_of
from codemode.serving.output import terminal as show
from codemode.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from codemode.bench.measures import Group
    from codemode.bench.pairs import Pair
    from codemode.bench.results import Result
    from codemode.bench.suite import Task


#: Characters of the longest bar.
_BAR = 30


def surprises(tasks: Sequence[Task], results: Iterable[Result]) -> list[str]:
    """Return a line for each gold task that fails without `Task.gold_fails`, or does not fail in spite of it.

    A task also fails if its judge accepts the state that a failed program left.
    """
    known = {task.id: task.gold_fails for task in tasks}
    found = ((one, _failure(one), known[one.task]) for one in results)
    return [
        f"{one.task}: {failure or f'solved, although `gold_fails` says: {declared}'}"
        for one, failure, declared in found
        if bool(failure) != bool(declared)
    ]


def _failure(result: Result) -> str:
    """Return why the gold programs failed, or ""."""
    if not result.solved:
        return result.reason or "not solved"
    return f"solved, although a gold program {result.fault}" if result.fault else ""


@contextmanager
def progress(title: str, attempts: int, *, shown: bool) -> Iterator[Callable[[Result], None]]:
    """Show a bar with solved tasks, tokens and the time left, if it is `shown`. Yield what takes the next result."""
    solved = tokens = 0
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[solved]} solved, {task.fields[tokens]:,} tokens"),
        TimeRemainingColumn(),
        console=show.errors,
        disable=not shown,
    )
    with bars:
        bar = bars.add_task(title, total=attempts, solved=0, tokens=0)

        def ended(result: Result) -> None:
            nonlocal solved, tokens
            solved, tokens = solved + result.solved, tokens + result.tokens
            bars.update(bar, advance=1, solved=solved, tokens=tokens)

        yield ended


def report_outcome(tasks: Sequence[Task], results: Sequence[Result], out: Path | None, *, as_json: bool) -> int:
    """Print the results, and what went wrong with the run itself. Return the exit code."""
    reached = [one for one in results if not one.is_unreachable]
    if as_json:
        show.print_json([group.to_json() for group in groups_of(reached)])
    else:
        _print(reached)
    gold = [one for one in results if one.model == "gold"]
    problems = [f"unexpected: {line}" for line in surprises(tasks, gold)]
    lost = [one for one in results if one.is_unreachable]
    if lost:
        attempts = counted(len(lost), "attempt")
        repeated = f" not in {out}, which the same command repeats" if out else " did not reach the model"
        problems.append(f"{attempts}{repeated}: {lost[0].fault}")
    for line in problems:
        show.errors.print(show.plain(line), soft_wrap=True)
    return int(bool(problems))


def in_words(pair: Pair) -> str:
    """Say whether the first mode of a pair paid, and whether its success may be chance."""
    one, other = pair.one, pair.other
    saved = 1 - (one.tokens or 0) / other.tokens if other.tokens else 0.0
    share = f"{abs(saved):.0%} {'fewer' if saved >= 0 else 'more'} tokens"
    solved = f"solved {one.solved} and {other.solved} of the {counted(len(one.results), 'same task')}"
    return (
        f"{one.mode} instead of {other.mode}: {share}, {one.requests:.1f} instead of {other.requests:.1f} requests; "
        f"{solved} (p {pair.chance:.2f})"
    )


def _print(results: Sequence[Result]) -> None:
    groups = groups_of(results)
    if groups:
        show.console.print(_table(groups))
    for line in bars_of(groups):
        show.console.print(show.plain(line), soft_wrap=True)
    for pair in pairs_of(results):
        show.console.print(show.plain(in_words(pair)), soft_wrap=True)
    is_compared = len({one.mode for one in results}) > 1
    for result in results:
        if not result.solved:
            name = f"{result.task} in {result.mode}" if is_compared else result.task
            show.console.print(show.plain(f"{name}: {result.reason}", style="dim"), soft_wrap=True)


def _table(groups: Sequence[Group]) -> Table:
    table = Table(box=None, padding=(0, 2), header_style="dim")
    for title in ("suite", "model", "mode", "solved"):
        table.add_column(title)
    for title in ("tokens", "requests", "seconds"):
        table.add_column(title, justify="right")
    for one in groups:
        effort = (f"{one.tokens or 0:,.0f}", f"{one.requests:.1f}", f"{one.duration_s:.1f}")
        table.add_row(one.suite, one.model, one.mode, f"{one.solved}/{len(one.results)}", *effort)
    return table


def bars_of(groups: Sequence[Group]) -> list[str]:
    """Return a plot of the tokens of a task, one bar for each of several groups. None if no model played."""
    most = max((one.tokens or 0 for one in groups), default=0)
    if not most or len(groups) == 1:
        return []
    names = [one.mode if len({one.suite for one in groups}) == 1 else f"{one.suite} {one.mode}" for one in groups]
    wide = max(map(len, names))
    bars = (
        f"  {name:{wide}}  {'#' * max(1, round(_BAR * (one.tokens or 0) / most))} {one.tokens or 0:,.0f}"
        for name, one in zip(names, groups, strict=True)
    )
    return ["", "  tokens of a task", *bars, ""]
