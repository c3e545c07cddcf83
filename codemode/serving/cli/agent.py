"""`codemode chat` and `codemode eval`: a model of any provider with the tools of a configuration."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import AsyncExitStack
from importlib.resources import files
from pathlib import Path  # noqa: TC003 -- typer reads it at run time
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
import yaml
from rich.table import Table

from codemode.errors import ConfigurationError
from codemode.serving.cli import terminal as show
from codemode.serving.cli.surface import (
    AsJson,
    NoInput,
    Role,
    Surface,
    YesTo,
    errors_as_exit_codes,
    local_caller,
    on_surface,
    report_sources,
    with_service,
)
from codemode.settings import DEFAULT_ROLE, AgentMode, AgentSettings, Settings
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.agent import Agent, AgentResult
    from codemode.serving.agent.evaluation import Evaluation, TaskSet

app = typer.Typer()

ModelName = Annotated[str, typer.Option("--model", help="The model. Default: agent.model, then CODEMODE_MODEL.")]
ModelUrl = Annotated[str, typer.Option("--model-url", help="Its base URL up to /v1. Default: OPENAI_BASE_URL.")]

_MODES: tuple[AgentMode, ...] = get_args(AgentMode)


@app.command()
@on_surface
def chat(
    surface: Surface,
    message: Annotated[str, typer.Argument(help="Your request. Without it a conversation starts.")] = "",
    model: ModelName = "",
    model_url: ModelUrl = "",
    mode: Annotated[AgentMode | None, typer.Option(help="How the model gets the tools. Default: agent.mode.")] = None,
    role: Role = DEFAULT_ROLE,
    yes_to: YesTo = None,
    no_input: NoInput = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Chat with a model that has the tools. Shows its programs, their calls and the cost.

    At a terminal, it shows each call that needs a person, and asks.
    """

    def agent_of(service: CodeMode) -> tuple[Agent, Caller]:
        from codemode.serving.agent import Agent
        from codemode.serving.cli.asking import approver_here

        caller = local_caller(service, role)
        approver = approver_here(service, caller, yes_to, no_input=no_input, as_json=as_json)
        chosen = _chosen(service.settings.agent, model, model_url, mode)
        conversation = uuid.uuid4().hex
        agent = Agent(service, chosen, caller=caller, conversation=conversation, settle=approver.settle, mode=mode)
        return agent, caller

    async def work(service: CodeMode) -> int:
        from codemode.serving.cli.turn_view import show_turn

        async with agent_of(service)[0] as agent:
            if as_json:
                return _print_result(await agent.answer(message or _message_from_stdin()))
            return 0 if (await show_turn(agent, message, ())).ok else 1

    if message or as_json:
        with_service(surface, work, as_json=as_json)
    else:
        _converse(surface, agent_of)


def _converse(surface: Surface, agent_of: Callable[[CodeMode], tuple[Agent, Caller]]) -> None:
    with errors_as_exit_codes():
        from codemode.service import CodeMode
        from codemode.serving.cli.chat import converse

        service = CodeMode.from_settings(surface.settings(), strict=bool(surface.source))
        converse(service, agent_of, report_sources)


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
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Measure a model on tasks: success, tokens, turns and time in each mode."""
    from codemode.serving.agent.evaluation import read_tasks

    async def work() -> int:
        task_set = read_tasks(tasks)
        modes = [_known(one.strip()) for one in mode.split(",")]
        found = [await _evaluated(surface, task_set, one, model, model_url) for one in modes]
        if as_json:
            show.print_json([one.to_json() for one in found])
        else:
            _print_evaluations(found)
        return 0 if all(attempt.status != "unreachable" for one in found for attempt in one.attempts) else 1

    with errors_as_exit_codes(as_json=as_json):
        raise typer.Exit(asyncio.run(work()))


async def _evaluated(surface: Surface, task_set: TaskSet, mode: AgentMode, model: str, model_url: str) -> Evaluation:
    from codemode.service import CodeMode
    from codemode.serving.agent.evaluation import evaluate_agent
    from codemode.serving.cli.example_services import example_sources

    async with AsyncExitStack() as entering:
        if task_set.surface is None:
            settings = surface.settings()
        else:
            sources = await entering.enter_async_context(example_sources((task_set.surface,)))
            settings = Settings.model_validate({**_example_menu(task_set.surface), "sources": sources})
        service = await entering.enter_async_context(CodeMode.from_settings(settings))
        chosen = _chosen(settings.agent, model, model_url, mode)
        with show.errors.status("") as status:
            return await evaluate_agent(
                service, task_set.tasks, chosen, begun=lambda task: status.update(f"{mode}: {task.id}")
            )


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


def _chosen(settings: AgentSettings, model: str, model_url: str, mode: AgentMode | None) -> AgentSettings:
    """Return the settings with command-line options applied."""
    given = {"model": model, "base_url": model_url, "mode": mode}
    return settings.model_copy(update={name: value for name, value in given.items() if value})


def _print_result(result: AgentResult) -> int:
    show.print_json(result.to_json())
    return 0 if result.ok else 1


def _message_from_stdin() -> str:
    """Read the message from standard input."""
    text = typer.get_text_stream("stdin").read().strip()
    if not text:
        raise ConfigurationError("no message: pass one as an argument or on standard input")
    return text


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
