"""`codemode measure search`, `menu` and `embeddings`: how well models find the tools of one's own."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path  # noqa: TC003 -- typer reads annotations
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from codemode.catalog.loading import LoadingStep
from codemode.errors import ConfigurationError
from codemode.serving.cli.project_options import (
    FOUND,
    AsJson,
    Config,
    ProjectOptions,
    loading_bars,
    with_project_options,
    with_service,
)
from codemode.serving.output import terminal as show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.search.evaluation.evaluation import LabelledQuery, Metrics
    from codemode.service import CodeMode

SHOWN_EVERY_S = 0.3

_NOTHING_RECORDED = (
    "no labelled queries: no hit of a search has been called yet, or `search.record_usage` is false; name a file"
)


@with_project_options
def search(
    project: ProjectOptions,
    file: Annotated[
        Path | None,
        typer.Argument(help="Queries with the tools they need: YAML or JSON Lines. Default: those of recorded calls."),
    ] = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Measure search on your own labelled queries, as they are and with typing mistakes.

    Without a file these are the queries after which a hit was called, each with that tool.
    """

    async def work(service: CodeMode) -> int:
        queries = service.discovery.labelled(file)
        if not queries:
            raise ConfigurationError(_NOTHING_RECORDED)
        return _measured(service, queries, as_json=as_json)

    with_service(project, work, as_json=as_json)


def _measured(service: CodeMode, queries: Sequence[LabelledQuery], *, as_json: bool) -> int:
    from codemode.search.evaluation.evaluation import with_typos

    plain = service.discovery.evaluate_search(queries)
    mistyped = service.discovery.evaluate_search(queries, change=with_typos)
    if as_json:
        show.print_json({"as given": asdict(plain), "with typos": asdict(mistyped)})
    else:
        show.console.print(_table({"as given": plain, "with typos": mistyped}))
    return 0


def _table(rows: dict[str, Metrics]) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for title in ("", "queries", "recall@1", "recall@10", "nDCG@10", "MRR@10", "all in 10"):
        table.add_column(title, justify="right" if title else "left", no_wrap=True)
    for title, row in rows.items():
        values = (row.recall_1, row.recall_10, row.ndcg_10, row.mrr_10, row.all_gold)
        table.add_row(title, str(row.queries), *(f"{value:.3f}" for value in values))
    return table


@with_project_options
def menu(
    project: ProjectOptions,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Propose default and core tools from the calls recorded on this machine."""

    async def work(service: CodeMode) -> int:
        proposal = await service.discovery.propose_menu()
        if as_json:
            show.print_json(None if proposal is None else asdict(proposal))
        elif proposal is None:
            show.console.print("too few recorded calls for a proposal")
        else:
            shares = f"{proposal.now:.0%} now, {proposal.proposed:.0%} with the proposal, on held-out calls"
            show.console.print(f"calls without a matching keyword: {proposal.calls}; offered: {shares}")
            show.console.print(f"menu:\n  defaults: [{', '.join(proposal.defaults)}]", markup=False)
            if proposal.core:
                show.console.print(f"  # most called tools, for core: {', '.join(proposal.core)}", markup=False)
        return 0 if proposal is not None and proposal.worthwhile else 1

    with_service(project, work, as_json=as_json)


def embeddings(
    config: Config = FOUND,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Create the embeddings of all tools now, as `search.embeddings` configures them, and show the progress."""

    async def work(service: CodeMode) -> int:
        progress = await service.discovery.settle_search((), 0)
        if progress is None:
            message = "search.embeddings is not configured; docs/how-to/embeddings.md explains how"
            raise ConfigurationError(message)
        bars = None if as_json else loading_bars()
        with bars.shown() if bars else nullcontext():
            while not progress.has_ended:
                if bars:
                    bars.update(LoadingStep("embedding", tools=progress.total, done=progress.done))
                await asyncio.sleep(SHOWN_EVERY_S)
                progress = await service.discovery.settle_search((), 0) or progress
        if as_json:
            show.print_json({"total": progress.total, "done": progress.done, "problem": progress.problem})
        else:
            show.console.print(show.plain(progress.problem or f"{progress.total:,} tools are embedded"))
        return 0 if progress.is_ready else 1

    with_service(ProjectOptions(config), work, as_json=as_json)
