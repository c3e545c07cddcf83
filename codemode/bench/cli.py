"""`codemode bench`: play the tasks of a suite with a model or the suite's gold actions, and report the results."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
import typer.core
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from codemode.bench.results import Policy, read_all, read_results
from codemode.errors import ConfigurationError
from codemode.serving.cli import terminal as show
from codemode.serving.cli.surface import AsJson, errors_as_exit_codes
from codemode.settings import AgentSettings, load_settings
from codemode.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.players import Player
    from codemode.bench.results import Result


class _RunByDefault(typer.core.TyperGroup):
    """`codemode bench SUITE` is `codemode bench run SUITE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_RunByDefault, help="Measure a model on suites of agent tasks that others wrote.")
About = Annotated[list[str] | None, typer.Option(help="NAME=VALUE to add to the origin of results. Repeatable.")]


@app.command("run")
def run(
    suite: Annotated[
        str, typer.Argument(help="agentdojo, bfcl, tau2, m3, gym, NAME:VARIANT, or FILE.py:NAME of your own.")
    ],
    model: Annotated[
        str, typer.Option(help="The model, `gold`, the default: the suite's own programs, or `idle`: does nothing.")
    ] = "",
    model_url: Annotated[str, typer.Option(help="Its base URL up to /v1. Default: OPENAI_BASE_URL.")] = "",
    mode: Annotated[
        str, typer.Option(help="How the model gets the tools: code, hybrid, menu, native, auto, fastmcp, pydantic-ai.")
    ] = "code",
    config: Annotated[Path | None, typer.Option("--config", "-c", help="Configuration whose `agent` is used.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="Sampling temperature.")] = None,
    seed: Annotated[int | None, typer.Option(help="Sampling seed, for services that support it.")] = None,
    policy: Annotated[
        Policy, typer.Option(help="Destructive calls: `off` allows, `ask` pauses, `deny` hides.")
    ] = "off",
    tasks: Annotated[str, typer.Option(help="The first N tasks, or task ids separated by commas.")] = "",
    repeats: Annotated[int, typer.Option(min=1, help="Attempts at each task.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Tasks that run at the same time.")] = 2,
    out: Annotated[Path, typer.Option(help="File of results. Attempts in it are not repeated.")] = Path("bench.jsonl"),
    record: Annotated[Path | None, typer.Option(help="Append the model's answers to this file.")] = None,
    replay: Annotated[Path | None, typer.Option(help="Answer from this recording, without the model.")] = None,
    about: About = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Play the tasks of a suite, and judge them by the state they leave.

    Exit code 1 if a gold program fails or leaves its task unsolved, unless the suite declares it, and if a declared
    failure does not happen.
    """
    from codemode.bench.gold import surprises
    from codemode.bench.modes import chosen_players
    from codemode.bench.origins import given, origin_of
    from codemode.bench.recorded_players import models_of, player_of
    from codemode.bench.registry import chosen_tasks, suite_of
    from codemode.bench.runner import run_tasks

    with errors_as_exit_codes(as_json=as_json):
        found = suite_of(suite)
        chosen = chosen_tasks(found, tasks)
        settings = _settings(config, model, model_url, temperature, seed)
        players = chosen_players(settings, mode)
        _check(players, out, record=record, replay=replay)
        origin = {**origin_of(found.name, _conditions(settings)), **given(about or ())}
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
                async with models_of(settings, record=record, replay=replay) as models:
                    for player in players:
                        played += await run_tasks(
                            found.name,
                            chosen,
                            player,
                            out=out,
                            policy=policy,
                            jobs=jobs,
                            repeats=repeats,
                            about=origin,
                            player_of=player_of(player, models),
                            ended=ended,
                        )
                return played

            results = asyncio.run(work())
        _print(results, as_json=as_json)
        unexpected = surprises(chosen, results) if players[0].model == "gold" else []
        for line in unexpected:
            show.errors.print(show.plain(f"unexpected: {line}"), soft_wrap=True)
        raise typer.Exit(int(bool(unexpected)))


@app.command("report")
def report(
    files: Annotated[list[Path], typer.Argument(help="Files of results, as `codemode bench run` writes them.")],
    kind: Annotated[Literal["markdown", "html"], typer.Option("--format", help="Format of the report.")] = "markdown",
    price: Annotated[str, typer.Option(help="INPUT,CACHED,OUTPUT: prices of a million tokens.")] = "",
    export: Annotated[
        Path | None, typer.Option(help="Write the figures alone to this file, without texts of suites and models.")
    ] = None,
    about: About = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Print a report of results: tables, a plot of success against tokens, and transcripts."""
    from codemode.bench.figures import write_figures
    from codemode.bench.measures import Price, groups_of
    from codemode.bench.origins import given
    from codemode.bench.page import html_of
    from codemode.bench.report import markdown_of

    with errors_as_exit_codes(as_json=as_json):
        prices = Price.parsed(price) if price else None
        results = read_all(files)
        if export is not None:
            write_figures(results, export, given(about or ()))
            show.errors.print(show.plain(f"wrote the figures of {counted(len(results), 'attempt')} to {export}"))
        elif as_json:
            show.print_json([group.to_json(prices) for group in groups_of(results)])
        else:
            typer.echo(html_of(results, prices) if kind == "html" else markdown_of(results, prices))


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


def _check(players: Sequence[Player], out: Path, *, record: Path | None, replay: Path | None) -> None:
    """Reject files that cannot be what the user means. Raises ConfigurationError."""
    from codemode.bench.modes import WITHOUT_MODEL

    if out.suffix == ".xz" or (record and record.suffix == ".xz"):
        raise ConfigurationError("results and recordings are written as plain lines: compress the file after the run")
    if players[0].model in WITHOUT_MODEL and (record or replay):
        message = f"--record and --replay are for the turns of a model: --model {players[0].model} needs none"
        raise ConfigurationError(message)
    if replay and read_results(out):
        message = f"--replay: {out} has results already, which would not be replayed: name another file with --out"
        raise ConfigurationError(message)


def _conditions(settings: AgentSettings) -> dict[str, object]:
    """Return the settings of a model that change its answers."""
    from codemode.bench.modes import WITHOUT_MODEL

    if settings.model in WITHOUT_MODEL:
        return {}
    return {"temperature": settings.temperature, "seed": settings.seed, "answer tokens": settings.answer_tokens}


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[solved]} solved, {task.fields[tokens]:,} tokens"),
        TimeRemainingColumn(),
        console=show.errors,
    )


def _print(results: Sequence[Result], *, as_json: bool) -> None:
    from codemode.bench.measures import groups_of

    groups = groups_of(results)
    if as_json:
        show.print_json([group.to_json() for group in groups])
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
