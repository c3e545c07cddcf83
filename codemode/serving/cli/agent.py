"""`codemode chat`: a model of any provider with the tools of a configuration."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Annotated

import typer

from codemode.errors import ConfigurationError
from codemode.serving.cli.project_options import (
    AsJson,
    NoInput,
    ProjectOptions,
    Role,
    YesTo,
    local_caller,
    report_sources,
    with_project_options,
    with_service,
)
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import DEFAULT_ROLE, AgentMode, AgentSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.agent import Agent, AgentResult

app = typer.Typer()

ModelName = Annotated[str, typer.Option("--model", help="The model. Default: agent.model, then CODEMODE_MODEL.")]
ModelUrl = Annotated[str, typer.Option("--model-url", help="Its base URL up to /v1. Default: OPENAI_BASE_URL.")]


@app.command()
@with_project_options
def chat(
    project: ProjectOptions,
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
        chosen = chosen_settings(service.settings.agent, model, model_url, mode)
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
        with_service(project, work, as_json=as_json)
    else:
        _converse(project, agent_of)


def _converse(project: ProjectOptions, agent_of: Callable[[CodeMode], tuple[Agent, Caller]]) -> None:
    with errors_as_exit_codes():
        from codemode.service import CodeMode
        from codemode.serving.cli.chat import converse

        service = CodeMode.from_settings(project.settings(), strict=bool(project.source))
        converse(service, agent_of, report_sources)


def chosen_settings(settings: AgentSettings, model: str, model_url: str, mode: AgentMode | None) -> AgentSettings:
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
