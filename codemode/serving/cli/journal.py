"""`codemode journal check`: check the integrity of the journal."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from codemode.errors import ConfigurationError
from codemode.executions.journal.checking import check
from codemode.executions.journal.configured import JOURNAL_FILE
from codemode.serving.cli import terminal as show
from codemode.serving.cli.stored import on_journal
from codemode.serving.cli.surface import AsJson, Project, errors_as_exit_codes, on_surface

if TYPE_CHECKING:
    from codemode.executions.journal.checking import Checked
    from codemode.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Check the journal of executions.")


@app.callback()
def commands() -> None:
    """Check the journal of executions."""


@app.command("check")
@on_surface
def check_journal(
    surface: Project,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Check the journal's structure and the seals of every execution. Exit code 1 if something is damaged."""
    with errors_as_exit_codes(as_json=as_json):
        found = asyncio.run(_checked(surface.settings()))
        if as_json:
            show.print_json({**asdict(found), "is_whole": found.is_whole})
        else:
            for problem in (*found.structure, *found.damaged.values()):
                show.errors.print(show.plain(problem, style="red"), soft_wrap=True)
            show.console.print(show.plain(_verdict(found)), soft_wrap=True)
        raise typer.Exit(0 if found.is_whole else 1)


async def _checked(settings: Settings) -> Checked:
    file = settings.state() / JOURNAL_FILE
    if settings.keeps_journal and settings.journal.url is None and not file.exists():
        message = f"there is no journal at {file}: nothing has been recorded yet, or the file was removed"
        raise ConfigurationError(message)
    return await on_journal(settings, check)


def _verdict(found: Checked) -> str:
    if found.is_whole:
        return f"the journal is intact: {found.executions} executions checked"
    structure = "its structure is damaged: restore a backup" if found.structure else "its structure is intact"
    return f"{len(found.damaged)} of {found.executions} executions are damaged; {structure}"
