"""Report results as one page of HTML: tables, plots, attempts side by side, failures and transcripts.

The page loads nothing from elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from codemode.bench import plot
from codemode.bench.matrix import matrices_of
from codemode.bench.measures import groups_of
from codemode.bench.report import origins_of
from codemode.bench.tables import tables_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.measures import Price
    from codemode.bench.results import Result


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
