"""`codemode search`, `embed`, `search-eval` and `search-tune`: find tools, measure and tune search."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from codemode.catalog.loading import LoadingStep
from codemode.catalog.tool import Effect  # noqa: TC001 -- typer reads it at run time
from codemode.errors import ConfigurationError
from codemode.search.query import DEFAULT_LIMIT
from codemode.search.request import MAX_LIMIT
from codemode.serving.cli.surface import (
    FOUND,
    AsJson,
    Config,
    Role,
    Surface,
    loading_bars,
    local_caller,
    on_surface,
    with_service,
)
from codemode.serving.output import terminal as show
from codemode.settings import DEFAULT_ROLE

if TYPE_CHECKING:
    from codemode.search.evaluation.evaluation import Metrics
    from codemode.service import CodeMode

PATIENCE_S = 8.0  # how long `codemode search` waits for embeddings that are nearly complete
SHOWN_EVERY_S = 0.3

app = typer.Typer()
Labelled = Annotated[Path, typer.Argument(help="Queries with the tools they need: YAML or JSON Lines.")]


@app.command()
@on_surface
def search(
    surface: Surface,
    queries: Annotated[list[str], typer.Argument(help="What to look for: one query per step of a plan.")],
    namespace: Annotated[str, typer.Option(help="Only tools of this namespace or id prefix.")] = "",
    of_source: Annotated[str, typer.Option(help="Only tools of this configured source.")] = "",
    effect: Annotated[Effect | None, typer.Option(help="Only tools with this effect.")] = None,
    tag: Annotated[str, typer.Option(help="Only tools with this tag.")] = "",
    limit: Annotated[int, typer.Option(help="Hits per page.", min=1, max=MAX_LIMIT)] = DEFAULT_LIMIT,
    offset: Annotated[int, typer.Option(help="Hits to skip.", min=0)] = 0,
    full: Annotated[bool, typer.Option("--full", help="Show the full documentation of the best hit.")] = False,  # noqa: FBT002
    role: Role = DEFAULT_ROLE,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Find tools. Hits include signatures that a program can call."""

    async def work(service: CodeMode) -> int:
        with nullcontext() if as_json else show.waiting("embedding the tools and the queries"):
            await service.settle_search(queries, PATIENCE_S)
        answer = await service.search(
            queries,
            namespace=namespace or None,
            source=of_source or None,
            effect=effect,
            tag=tag or None,
            detail="full" if full else "auto",
            limit=limit,
            offset=offset,
            caller=local_caller(service, role),
        )
        if as_json:
            show.print_json(answer.to_json())
        else:
            show.console.print(show.plain(answer.text), soft_wrap=True)
        return 0 if answer.hits else 1

    with_service(surface, work, as_json=as_json)


@app.command()
def embed(
    config: Config = FOUND,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Create the embeddings of all tools now, as `search.embeddings` configures them, and show the progress."""

    async def work(service: CodeMode) -> int:
        progress = await service.settle_search((), 0)
        if progress is None:
            message = "search.embeddings is not configured; docs/how-to/embeddings.md explains how"
            raise ConfigurationError(message)
        bars = None if as_json else loading_bars()
        with bars.shown() if bars else nullcontext():
            while not progress.has_ended:
                if bars:
                    bars.update(LoadingStep("embedding", tools=progress.total, done=progress.done))
                await asyncio.sleep(SHOWN_EVERY_S)
                progress = await service.settle_search((), 0) or progress
        if as_json:
            show.print_json({"total": progress.total, "done": progress.done, "problem": progress.problem})
        else:
            show.console.print(show.plain(progress.problem or f"{progress.total:,} tools are embedded"))
        return 0 if progress.is_ready else 1

    with_service(Surface(config), work, as_json=as_json)


@app.command("search-eval")
@on_surface
def search_eval(
    surface: Surface,
    file: Labelled,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Measure search on your own labelled queries, as they are and with typing mistakes."""

    async def work(service: CodeMode) -> int:
        from codemode.search.evaluation.evaluation import with_typos

        plain = service.evaluate_search(file)
        mistyped = service.evaluate_search(file, change=with_typos)
        if as_json:
            show.print_json({"as given": asdict(plain), "with typos": asdict(mistyped)})
        else:
            show.console.print(_table({"as given": plain, "with typos": mistyped}))
        return 0

    with_service(surface, work, as_json=as_json)


@app.command("search-tune")
@on_surface
def search_tune(
    surface: Surface,
    file: Labelled,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Propose cross-validated ranking weights from labelled queries, for `search.ranking`."""

    async def work(service: CodeMode) -> int:
        proposal = service.propose_weights(file)
        if as_json:
            measured = {"now": asdict(proposal.before), "proposed": asdict(proposal.after)}
            show.print_json({**measured, "ranking": dict(proposal.changed) if proposal.worthwhile else {}})
            return 0 if proposal.worthwhile else 1
        show.console.print(_table({"now": proposal.before, "proposed, held out": proposal.after}))
        if not proposal.worthwhile:
            show.console.print("keep the current weights: no change improves the held-out queries")
            return 1
        show.console.print("add this to the configuration:\n\nsearch:\n  ranking:")
        for feature, weight in proposal.changed.items():
            show.console.print(f"    {feature}: {weight:g}")
        return 0

    with_service(surface, work, as_json=as_json)


def _table(rows: dict[str, Metrics]) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for title in ("", "queries", "recall@1", "recall@10", "nDCG@10", "MRR@10", "all in 10"):
        table.add_column(title, justify="right" if title else "left", no_wrap=True)
    for title, row in rows.items():
        values = (row.recall_1, row.recall_10, row.ndcg_10, row.mrr_10, row.all_gold)
        table.add_row(title, str(row.queries), *(f"{value:.3f}" for value in values))
    return table
