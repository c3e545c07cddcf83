"""`codemode menu`: show the menu for a message."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 -- typer reads it at run time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codemode.errors import ConfigurationError
from codemode.serving.cli.project_options import (
    AsJson,
    ProjectOptions,
    Role,
    local_caller,
    with_project_options,
    with_service,
)
from codemode.serving.output import terminal as show
from codemode.settings import DEFAULT_ROLE

if TYPE_CHECKING:
    from codemode.service import CodeMode

app = typer.Typer()


@app.command()
@with_project_options
def menu(
    project: ProjectOptions,
    message: Annotated[str, typer.Argument(help="The user's message.")],
    history: Annotated[Path | None, typer.Option(help="Earlier messages: a JSON list of OpenAI messages.")] = None,
    role: Role = DEFAULT_ROLE,
    meta_tools: Annotated[bool, typer.Option("--meta-tools", help="Include tools that load more.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Show the tools offered for a message to a model that cannot write code, and why."""

    async def work(service: CodeMode) -> int:
        caller = local_caller(service, role)
        before = _read(history)
        if meta_tools:
            found = await (await service.menu_session(caller)).offer(message, before)
        else:
            found = await service.select_menu(message, before, caller=caller)
        if as_json:
            show.print_json(found.to_json())
        else:
            show.console.print(show.plain(found.explain()), soft_wrap=True)
        return 0 if len(found) else 1

    with_service(project, work, as_json=as_json)


def _read(file: Path | None) -> list[Any]:
    if file is None:
        return []
    try:
        messages = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"it is not JSON: {error}"
        message = f"cannot read the history {file}: {reason}"
        raise ConfigurationError(message) from None
    if not isinstance(messages, list):
        message = f"the history {file} is not a JSON list of messages"
        raise ConfigurationError(message)
    return messages
