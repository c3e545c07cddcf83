"""Report results as one page of HTML: tables, plots, attempts side by side, failures and transcripts.

The page loads nothing from elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from codemode.bench import plot
from codemode.bench.measures import groups_of
from codemode.bench.report import origins_of
from codemode.bench.tables import tables_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.measures import Price
    from codemode.bench.results import Result


@dataclass(frozen=True, slots=True)
class Matrix:
    """The attempts of one suite and model, by task and column. A column is a mode, with its policy if it has one."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Sequence[Result]]]]


def matrices_of(results: Sequence[Result]) -> list[Matrix]:
    """Return a matrix for each suite and model with several columns or repeats."""
    found: dict[str, list[Result]] = {}
    for one in results:
        found.setdefault(f"{one.suite}, {one.model}", []).append(one)
    matrices = [_matrix(title, attempts) for title, attempts in found.items()]
    return [one for one in matrices if any(len(cell) > 1 or len(cells) > 1 for _, cells in one.rows for cell in cells)]


def _matrix(title: str, results: Sequence[Result]) -> Matrix:
    columns = list(dict.fromkeys(map(_column, results)))
    cells: dict[str, dict[str, list[Result]]] = {}
    for one in results:
        cells.setdefault(one.task, {}).setdefault(_column(one), []).append(one)
    return Matrix(title, columns, [(task, [row.get(name, []) for name in columns]) for task, row in cells.items()])


def _column(result: Result) -> str:
    return result.mode if result.policy == "off" else f"{result.mode}, {result.policy}"


def html_of(results: Sequence[Result], price: Price | None = None) -> str:
    """Return the page. Results without texts, such as exported figures, have no transcripts."""
    environment = Environment(
        loader=PackageLoader("codemode.bench"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    told = [result for result in results if any(turn.message for turn in result.turns)]
    return environment.get_template("report.html").render(
        tables=tables_of(results, price),
        plots=plot.plots_of(groups_of(results)),
        area=plot,
        matrices=matrices_of(results),
        failed=[result for result in results if not result.solved],
        origins=origins_of(results).splitlines(),
        transcripts=groups_of(told),
        numbers={result.key: number for number, result in enumerate(told)},
    )
