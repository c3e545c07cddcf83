"""`codemode eval`: success, tokens, turns and time of a model on tasks, in each mode."""

from __future__ import annotations

from contextlib import AsyncExitStack, nullcontext
from importlib.resources import files
from pathlib import Path  # noqa: TC003 -- typer reads annotations
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
import yaml
from rich.table import Table

from codemode.errors import ConfigurationError
from codemode.serving.cli.agent import ModelName, ModelUrl, chosen_settings
from codemode.serving.cli.surface import FOUND, AsJson, Surface, configuration, on_surface, run_until_signal
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import AgentMode, AgentSettings, Settings
from codemode.text.counted import counted
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.serving.agent.attempt_file import AttemptFile
    from codemode.serving.agent.evaluation import Attempt, Evaluation, Task, TaskSet

app = typer.Typer()

_MODES: tuple[AgentMode, ...] = get_args(AgentMode)


@app.command("eval")
@on_surface
def evaluate(
    surface: Surface,
    tasks: Annotated[Path, typer.Argument(help="Tasks in YAML; api_specs/gym/tasks.yaml is an example.")],
    mode: Annotated[
        str, typer.Option(metavar=f"[{'|'.join(_MODES)}],…", help="Modes to measure, separated by commas.")
    ] = "native,menu,code",
    model: ModelName = "",
    model_url: ModelUrl = "",
    results: Annotated[
        Path | None,
        typer.Option(help="Write each result to this file, as JSON lines. Tasks that it already has are not repeated."),
    ] = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Measure a model on tasks: success, tokens, turns and time in each mode."""
    from codemode.serving.agent.attempt_file import AttemptFile
    from codemode.serving.agent.evaluation import read_tasks

    async def work() -> int:
        task_set = read_tasks(tasks)
        modes = [_known(one.strip()) for one in mode.split(",")]
        agent = _agent_settings(surface, task_set)
        shown = show.errors.is_interactive or not as_json
        found = []
        with nullcontext() if results is None else AttemptFile(results) as file:
            for one in modes:
                chosen = chosen_settings(agent, model, model_url, one).completed()
                progress = _Progress(len(task_set.tasks), chosen, file, shown=shown)
                found.append(await _evaluated(surface, task_set, chosen, progress))
        if as_json:
            show.print_json([one.to_json() for one in found])
        else:
            _print_evaluations(found)
        return 0 if all(attempt.status != "unreachable" for one in found for attempt in one.attempts) else 1

    with errors_as_exit_codes(as_json=as_json):
        raise typer.Exit(run_until_signal(work()))


async def _evaluated(surface: Surface, task_set: TaskSet, agent: AgentSettings, progress: _Progress) -> Evaluation:
    from codemode.service import CodeMode
    from codemode.serving.agent.evaluation import evaluate_agent
    from codemode.serving.cli.example_services import example_sources

    earlier = progress.earlier()
    async with AsyncExitStack() as entering:
        if task_set.surface is None:
            settings = surface.settings()
        else:
            sources = await entering.enter_async_context(example_sources((task_set.surface,)))
            settings = Settings.model_validate({**_example_menu(task_set.surface), "sources": sources})
        service = await entering.enter_async_context(CodeMode.from_settings(settings))
        with progress.status:
            return await evaluate_agent(
                service, task_set.tasks, agent, begun=progress.begin, ended=progress.end, earlier=earlier
            )


class _Progress:
    """Reports each task on standard error if it is `shown`, and writes it to the file of results if there is one."""

    def __init__(self, tasks: int, settings: AgentSettings, file: AttemptFile | None, *, shown: bool) -> None:
        self._shown = shown
        self._tasks = tasks
        self._settings = settings
        self._file = file
        self._ended = 0
        self.status = show.errors.status("")

    def earlier(self) -> dict[str, Attempt]:
        """Return the attempts that the file already has."""
        if self._file is None:
            return {}
        found = self._file.earlier(self._settings.model, self._settings.mode)
        if found:
            self._print(f"{self._settings.mode}: {counted(len(found), 'earlier result')}", "dim")
        self._ended = len(found)
        return found

    def begin(self, task: Task) -> None:
        """Show which task is in progress."""
        self.status.update(f"{self._settings.mode}: {task.id}")

    def end(self, attempt: Attempt) -> None:
        """Report a task."""
        if self._file is not None:
            self._file.append(attempt, self._settings.model, self._settings.mode)
        self._ended += 1
        took = f"{counted(attempt.turns, 'turn')}, {attempt.tokens:,} tokens, {attempt.duration_s:.1f} s"
        line = f"{self._settings.mode} {self._ended}/{self._tasks} {attempt.task}: "
        line += f"{'done' if attempt.done else 'not done'} ({took})"
        self._print(line, "green" if attempt.done else "yellow")

    def _print(self, line: str, style: str) -> None:
        if self._shown:
            show.errors.print(show.plain(line, style=style), soft_wrap=True)


def _agent_settings(surface: Surface, task_set: TaskSet) -> AgentSettings:
    """Return the section `agent` of the configuration, which needs no sources if the tasks name an example service."""
    if task_set.surface is None:
        return surface.settings().agent
    is_chosen = surface.config is not FOUND
    if surface.source or not (is_chosen or surface.config.is_file()):
        return AgentSettings()
    return configuration(surface.config, needs_sources=False).agent


def _example_menu(surface: str) -> dict[str, Any]:
    """Return the menu bundled with an example service, if any."""
    file = files("api_specs") / surface / "menu.yaml"
    return {"menu": yaml.safe_load(file.read_text(encoding="utf-8"))} if file.is_file() else {}


def _known(mode: str) -> AgentMode:
    found = next((one for one in _MODES if one == mode), None)
    if found is None:
        message = f"--mode: {mode!r} is not one of {', '.join(_MODES)}{did_you_mean(mode, _MODES)}"
        raise ConfigurationError(message)
    return found


def _print_evaluations(found: Sequence[Evaluation]) -> None:
    """Print one row per mode, then the reason for each failed task."""
    table = Table(box=None, padding=(0, 2), header_style="dim")
    for title in ("mode", "success", "tokens", "turns", "seconds"):
        table.add_column(title, justify="left" if title == "mode" else "right", no_wrap=True)
    for one in found:
        success = f"{sum(attempt.done for attempt in one.attempts)}/{len(one.attempts)}"
        table.add_row(one.mode, success, f"{one.tokens:,.0f}", f"{one.turns:.1f}", f"{one.duration_s:.1f}")
    show.console.print(table)
    for one in found:
        for attempt in one.attempts:
            if not attempt.done:
                line = f"{one.mode} {attempt.task}: {attempt.why}"
                show.console.print(show.plain(line, style="dim"), soft_wrap=True)
