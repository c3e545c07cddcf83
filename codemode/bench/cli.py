"""`codemode bench`: play the tasks of a suite with a model or the suite's gold actions, and report the results."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import typer.core

from codemode.bench import options  # noqa: TC001 -- typer evaluates the annotations
from codemode.errors import ConfigurationError
from codemode.serving.cli.surface import AsJson, run_until_signal
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import AgentSettings, load_settings
from codemode.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.players import Player


class _RunByDefault(typer.core.TyperGroup):
    """`codemode bench SUITE` is `codemode bench run SUITE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_RunByDefault, help="Measure a model on suites of agent tasks that others wrote.")


@app.command("run")
def run(
    suite: options.SuiteName,
    model: options.Model = "",
    model_url: options.ModelUrl = "",
    mode: options.Modes = "code",
    config: options.Config = None,
    temperature: options.Temperature = None,
    seed: options.Seed = None,
    policy: options.PolicyName = "off",
    tasks: options.Tasks = "",
    repeats: options.Repeats = 1,
    jobs: options.Jobs = 2,
    out: options.Out = Path("bench.jsonl"),
    record: options.Record = None,
    replay: options.Replay = None,
    about: options.About = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Play the tasks of a suite, and judge them by the state they leave.

    Exit code 1 if a gold program fails or leaves its task unsolved, unless the suite declares it, if a declared failure
    does not happen, and if the model was unreachable.
    """
    from codemode.bench.modes import chosen_players
    from codemode.bench.origins import check_conditions, given, origin_of
    from codemode.bench.outcome import progress, report_outcome
    from codemode.bench.recorded_players import played
    from codemode.bench.registry import chosen_tasks, suite_of
    from codemode.bench.runner import run_tasks

    async def work() -> int:
        found = suite_of(suite)
        chosen = chosen_tasks(found, tasks)
        settings = _settings(config, model, model_url, temperature, seed)
        players = chosen_players(settings, mode)
        _check(players, out, record=record, replay=replay)
        conditions = _conditions(settings)
        check_conditions(out, found.name, players, policy, conditions)
        origin = {**origin_of((found, *players), conditions), **given(about or ())}
        with progress(found.name, len(chosen) * repeats * len(players)) as ended:
            play = partial(run_tasks, found.name, chosen, out=out, about=origin, ended=ended)
            play = partial(play, policy=policy, repeats=repeats, jobs=jobs)
            results = await played(players, play, settings, record=record, replay=replay)
        return report_outcome(chosen, results, out, as_json=as_json)

    with errors_as_exit_codes(as_json=as_json):
        raise typer.Exit(run_until_signal(work()))


@app.command("report")
def report(
    files: options.Files,
    kind: options.Format = "markdown",
    price: options.Prices = "",
    export: options.Export = None,
    about: options.About = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Print a report of results: tables, a plot of success against tokens, and transcripts."""
    from codemode.bench.figures import write_figures
    from codemode.bench.measures import Price, groups_of
    from codemode.bench.origins import given
    from codemode.bench.page import html_of
    from codemode.bench.report import markdown_of
    from codemode.bench.results import read_all

    with errors_as_exit_codes(as_json=as_json):
        prices = Price.parsed(price) if price else None
        results = read_all(files)
        if export is not None:
            if export.resolve() in {file.resolve() for file in files}:
                message = f"--export: {export} has the results themselves, whose texts would be lost: name another file"
                raise ConfigurationError(message)
            write_figures(results, export, given(about or ()))
            show.errors.print(show.plain(f"wrote the figures of {counted(len(results), 'attempt')} to {export}"))
        elif as_json:
            show.print_json([group.to_json(prices) for group in groups_of(results)])
        else:
            text = html_of(results, prices) if kind == "html" else markdown_of(results, prices)
            typer.echo(text.encode(errors="replace"))  # in UTF-8, as the page says, and whatever a model wrote


def _settings(config: Path | None, model: str, url: str, temperature: float | None, seed: int | None) -> AgentSettings:
    """Return the section `agent` of the configuration, if any, with the options of the command line."""
    settings = load_settings(config, needs_sources=False).agent if config is not None else AgentSettings()
    given = {
        "model": model or settings.model or "gold",
        "base_url": url or settings.base_url,
        "temperature": settings.temperature if temperature is None else temperature,
        "seed": settings.seed if seed is None else seed,
    }
    return settings.model_copy(update=given)


def _check(players: Sequence[Player], out: Path, *, record: Path | None, replay: Path | None) -> None:
    """Reject files that cannot be what the user means. Raises ConfigurationError."""
    from codemode.bench.modes import WITHOUT_MODEL
    from codemode.bench.results import read_results

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
