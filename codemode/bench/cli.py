"""`codemode bench`: play the tasks of a suite with a model or the suite's gold actions, and report the results."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
import typer.core
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from codemode.bench.results import Policy, read_results
from codemode.errors import ConfigurationError
from codemode.serving.cli import terminal as show
from codemode.serving.cli.surface import AsJson, errors_as_exit_codes
from codemode.settings import AgentSettings, load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.report import Group
    from codemode.bench.results import Result


class _RunByDefault(typer.core.TyperGroup):
    """`codemode bench SUITE` is `codemode bench run SUITE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_RunByDefault, help="Measure a model on suites of agent tasks that others wrote.")


@app.command("run")
def run(
    suite: Annotated[str, typer.Argument(help="agentdojo, bfcl, tau2, m3, gym, NAME:VARIANT, or FILE.py:NAME.")],
    model: Annotated[
        str, typer.Option(help="The model, or `gold`, the default: the suite's own actions as programs.")
    ] = "",
    model_url: Annotated[str, typer.Option(help="Its base URL up to /v1. Default: OPENAI_BASE_URL.")] = "",
    mode: Annotated[
        str, typer.Option(help="How the model gets the tools: code, hybrid, menu, native, auto, fastmcp, pydantic-ai.")
    ] = "code",
    config: Annotated[Path | None, typer.Option("--config", "-c", help="Configuration whose `agent` is used.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="Sampling temperature.")] = None,
    seed: Annotated[int | None, typer.Option(help="Sampling seed, for services that support it.")] = None,
    policy: Annotated[Policy, typer.Option(help="Destructive calls: `off` allows them, `ask` withholds them.")] = "off",
    tasks: Annotated[str, typer.Option(help="The first N tasks, or task ids separated by commas.")] = "",
    repeats: Annotated[int, typer.Option(min=1, help="Attempts at each task.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Tasks that run at the same time.")] = 2,
    out: Annotated[Path, typer.Option(help="File of results. Attempts in it are not repeated.")] = Path("bench.jsonl"),
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Play the tasks of a suite, and judge them by the state they leave. Exit code 1 if a gold task is not solved."""
    from codemode.bench.modes import chosen_players
    from codemode.bench.registry import chosen_tasks, suite_of
    from codemode.bench.runner import run_tasks

    with errors_as_exit_codes(as_json=as_json):
        found = suite_of(suite)
        chosen = chosen_tasks(found, tasks)
        players = chosen_players(_settings(config, model, model_url, temperature, seed), mode)
        with _progress() as progress:
            total = len(chosen) * repeats * len(players)
            bar = progress.add_task(found.name, total=total, solved=0, tokens=0)

            def ended(result: Result) -> None:
                known = progress.tasks[bar].fields
                progress.update(
                    bar, advance=1, solved=known["solved"] + result.solved, tokens=known["tokens"] + result.tokens
                )

            async def work() -> list[Result]:
                played = []
                for player in players:
                    played += await run_tasks(
                        found.name, chosen, player, out=out, policy=policy, jobs=jobs, repeats=repeats, ended=ended
                    )
                return played

            results = asyncio.run(work())
        _print(results, as_json=as_json)
        raise typer.Exit(int(players[0].model == "gold" and not all(result.solved for result in results)))


@app.command("report")
def report(
    file: Annotated[Path, typer.Argument(help="File of results, as `codemode bench run` writes it.")],
    kind: Annotated[Literal["markdown", "html"], typer.Option("--format", help="Format of the report.")] = "markdown",
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Print a report of results: a table, a plot of success against tokens, and transcripts."""
    from codemode.bench.report import groups_of, html_of, markdown_of

    with errors_as_exit_codes(as_json=as_json):
        if not file.exists():
            message = f"there is no file {file}: `codemode bench run SUITE --out {file}` writes it"
            raise ConfigurationError(message)
        results = read_results(file)
        if as_json:
            show.print_json(_summaries(groups_of(results)))
        else:
            typer.echo(html_of(results) if kind == "html" else markdown_of(results))


def _settings(config: Path | None, model: str, url: str, temperature: float | None, seed: int | None) -> AgentSettings:
    """Return the section `agent` of the configuration, if any, with the options of the command line."""
    settings = load_settings(config, needs_sources=False).agent if config is not None else AgentSettings()
    given = {
        "model": model or settings.model or "gold",
        "base_url": url or settings.base_url,
        "temperature": settings.temperature if temperature is None else temperature,
        "seed": settings.seed if seed is None else seed,
    }
    return AgentSettings.model_validate({**dict(settings), **given})


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[solved]} solved, {task.fields[tokens]:,} tokens"),
        TimeRemainingColumn(),
        console=show.errors,
    )


def _summaries(groups: Sequence[Group]) -> list[dict[str, Any]]:
    return [
        {
            "suite": one.suite,
            "model": one.model,
            "mode": one.mode,
            "policy": one.policy,
            "attempts": len(one.results),
            "solved": one.solved,
            "tokens": one.tokens,
        }
        for one in groups
    ]


def _print(results: Sequence[Result], *, as_json: bool) -> None:
    from codemode.bench.report import groups_of

    groups = groups_of(results)
    if as_json:
        show.print_json(_summaries(groups))
        return
    table = Table(box=None, padding=(0, 2), header_style="dim")
    for title in ("suite", "model", "mode", "solved"):
        table.add_column(title)
    for one in groups:
        table.add_row(one.suite, one.model, one.mode, f"{one.solved}/{len(one.results)}")
    show.console.print(table)
    for result in results:
        if not result.solved:
            show.console.print(show.plain(f"{result.task}: {result.reason}", style="dim"), soft_wrap=True)
