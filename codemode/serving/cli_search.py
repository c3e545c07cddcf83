"""`codemode search-eval` and `search-tune`: how well search answers an operator's own queries, and better weights."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from codemode.search.evaluation import Metrics, with_typos
from codemode.serving import console as show
from codemode.serving.surface import AsJson, Surface, on_surface, with_service

if TYPE_CHECKING:
    from codemode.service import CodeMode

app = typer.Typer()
Labelled = Annotated[Path, typer.Argument(help="Queries with the tools they need: YAML, or JSON lines.")]


@app.command("search-eval")
@on_surface
def search_eval(
    surface: Surface,
    file: Labelled,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Measure search on labelled queries of your own, as they are and with typing mistakes."""

    async def work(service: CodeMode) -> int:
        plain = service.evaluate_search(file)
        mistyped = service.evaluate_search(file, change=with_typos)
        if as_json:
            show.print_json({"as given": asdict(plain), "with typos": asdict(mistyped)})
        else:
            show.console.print(_table({"as given": plain, "with typos": mistyped}))
        return 0

    with_service(surface, work)


@app.command("search-tune")
@on_surface
def search_tune(
    surface: Surface,
    file: Labelled,
) -> None:
    """Propose ranking weights from labelled queries, cross-validated; put them under `search.ranking`."""

    async def work(service: CodeMode) -> int:
        proposal = service.propose_weights(file)
        show.console.print(_table({"now": proposal.before, "proposed, on queries left out": proposal.after}))
        if not proposal.worthwhile:
            show.console.print("keep the weights as they are: no change holds on queries that were left out")
            return 1
        show.console.print("search:\n  ranking:")
        for feature, weight in proposal.weights.ranking.items():
            show.console.print(f"    {feature}: {weight:g}")
        return 0

    with_service(surface, work)


def _table(rows: dict[str, Metrics]) -> Table:
    table = Table(box=None, padding=(0, 2), header_style="dim")
    for title in ("", "queries", "recall@1", "recall@10", "nDCG@10", "MRR@10", "all needed in 10"):
        table.add_column(title, justify="right" if title else "left")
    for title, row in rows.items():
        values = (row.recall_1, row.recall_10, row.ndcg_10, row.mrr_10, row.all_gold)
        table.add_row(title, str(row.queries), *(f"{value:.3f}" for value in values))
    return table
