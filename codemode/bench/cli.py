"""`codemode measure`: play tasks with a model or their gold programs, report the results, measure search and menus."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
import typer.core

from codemode.bench import catalog, options
from codemode.errors import ConfigurationError
from codemode.serving.cli.project_options import (
    FOUND,
    AsJson,
    ProjectOptions,
    configuration,
    run_until_signal,
    with_project_options,
)
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import AgentSettings
from codemode.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.players import Player
    from codemode.bench.results import Policy
    from codemode.bench.suite import Suite


class _SuiteByDefault(typer.core.TyperGroup):
    """`codemode measure TASKS.yaml` is `codemode measure suite TASKS.yaml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["suite", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_SuiteByDefault, help="Measure a model on tasks, your own or of others, and search and menus on your tools."
)
app.command("search")(catalog.search)
app.command("menu")(catalog.menu)
app.command("embeddings")(catalog.embeddings)


@app.command("suite")
@with_project_options
def play(
    project: ProjectOptions,
    suite: options.SuiteName,
    model: options.Model = "",
    model_url: options.ModelUrl = "",
    mode: options.Modes = "",
    temperature: options.Temperature = None,
    seed: options.Seed = None,
    policy: options.PolicyName = None,
    tasks: options.Tasks = "",
    repeats: options.Repeats = 1,
    jobs: options.Jobs = None,
    out: options.Out = None,
    record: options.Record = None,
    replay: options.Replay = None,
    about: options.About = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Play the tasks of a suite, or of a file TASKS.yaml, and judge them by the state they leave.

    Tasks without an example service are for the sources of the configuration, and its policy applies. Otherwise its
    section `agent` alone is read, if --config names it.

    Exit code 1 if a gold program fails or leaves its task unsolved, unless the suite declares it, if a declared failure
    does not happen, and if the model was unreachable.
    """
    from codemode.bench.modes import chosen_players
    from codemode.bench.origins import check_conditions, given, origin_of
    from codemode.bench.outcome import progress, report_outcome
    from codemode.bench.recorded_players import played
    from codemode.bench.registry import chosen_tasks, suite_of
    from codemode.bench.runner import run_tasks
    from codemode.bench.task_file import TaskFile

    async def work() -> int:
        chosen_suite = suite_of(suite)
        conduct = _conduct(chosen_suite, project, policy, jobs, out)
        chosen = chosen_tasks(chosen_suite, tasks)
        settings = _settings(conduct.agent, model, model_url, temperature, seed)
        players = chosen_players(settings, mode or _modes(chosen_suite, settings))
        if players[0].model == "gold" and isinstance(chosen_suite, TaskFile):
            chosen_suite.check_solutions([task.id for task in chosen])
            _tell_of_gold(named=bool(model))
        _check(players, conduct.out, record=record, replay=replay)
        conditions = _conditions(settings)
        check_conditions(conduct.out, chosen_suite.name, players, conduct.policy, conditions)
        origin = {**origin_of((chosen_suite, *players), conditions), **given(about or ())}
        attempts = len(chosen) * repeats * len(players)
        with progress(chosen_suite.name, attempts, shown=show.errors.is_interactive or not as_json) as ended:
            run = partial(run_tasks, chosen_suite.name, chosen, out=conduct.out, about=origin, ended=ended)
            run = partial(run, policy=conduct.policy, repeats=repeats, jobs=conduct.jobs)
            results = await played(players, run, settings, record=record, replay=replay)
        return report_outcome(chosen, results, conduct.out, as_json=as_json)

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


class _Conduct(NamedTuple):
    """How a suite is played: the settings of the model, the policy, the tasks at a time, and the file of results."""

    agent: AgentSettings
    policy: Policy
    jobs: int
    out: Path | None


def _conduct(
    chosen: Suite, project: ProjectOptions, policy: Policy | None, jobs: int | None, out: Path | None
) -> _Conduct:
    """Return how a suite is played: configured sources, whose state attempts share, otherwise than fresh ones.

    Raises ConfigurationError.
    """
    from codemode.bench.task_file import TaskFile

    if isinstance(chosen, TaskFile) and chosen.needs_configuration:
        if policy not in (None, "configured"):
            message = f"--policy {policy}: the policy of the configuration applies to tasks on its sources"
            raise ConfigurationError(message)
        settings = project.settings()
        chosen.configure(settings)
        return _Conduct(settings.agent, "configured", jobs or 1, out)
    if project.source:
        message = f"--source: {chosen.name} has tools of its own"
        raise ConfigurationError(message)
    agent = AgentSettings() if project.config is FOUND else configuration(project.config, needs_sources=False).agent
    return _Conduct(agent, policy or "off", jobs or 2, out or Path("bench.jsonl"))


def _modes(chosen: Suite, settings: AgentSettings) -> str:
    """Return the modes of a file of tasks that a model plays, else `code`."""
    from codemode.bench.modes import WITHOUT_MODEL
    from codemode.bench.task_file import TaskFile

    named = chosen.modes if isinstance(chosen, TaskFile) and settings.model not in WITHOUT_MODEL else ()
    return ",".join(named) or "code"


def _settings(
    settings: AgentSettings, model: str, url: str, temperature: float | None, seed: int | None
) -> AgentSettings:
    """Return the section `agent` of the configuration with the options of the command line."""
    given = {
        "model": model or settings.model or "gold",
        "base_url": url or settings.base_url,
        "temperature": settings.temperature if temperature is None else temperature,
        "seed": settings.seed if seed is None else seed,
    }
    return settings.model_copy(update=given)


def _tell_of_gold(*, named: bool) -> None:
    if not named:
        show.errors.print(show.plain("no model plays: the solutions of the tasks run. --model NAME measures a model"))


def _check(players: Sequence[Player], out: Path | None, *, record: Path | None, replay: Path | None) -> None:
    """Reject files that cannot be what the user means. Raises ConfigurationError."""
    from codemode.bench.modes import WITHOUT_MODEL
    from codemode.bench.results import read_results

    if players[0].model in WITHOUT_MODEL and (record or replay):
        message = f"--record and --replay are for the turns of a model: --model {players[0].model} needs none"
        raise ConfigurationError(message)
    if replay and out and read_results(out):
        message = f"--replay: {out} has results already, which would not be replayed: name another file with --out"
        raise ConfigurationError(message)


def _conditions(settings: AgentSettings) -> dict[str, object]:
    """Return the settings of a model that change its answers."""
    from codemode.bench.modes import WITHOUT_MODEL

    if settings.model in WITHOUT_MODEL:
        return {}
    return {"temperature": settings.temperature, "seed": settings.seed, "answer tokens": settings.answer_tokens}
