"""`codemode journal check`: whether the record of executions is whole."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from codemode.errors import ConfigurationError
from codemode.executions.journal.checking import check
from codemode.executions.journal.configured import JOURNAL_FILE, journal_of
from codemode.serving.cli import terminal as show
from codemode.serving.cli.surface import AsJson, Surface, errors_as_exit_codes, on_surface
from codemode.settings import Secrets

if TYPE_CHECKING:
    from codemode.executions.journal.checking import Checked
    from codemode.settings import Settings

app = typer.Typer(no_args_is_help=True, help="The record of executions: check it.")


@app.callback()
def commands() -> None:
    """The record of executions."""


@app.command("check")
@on_surface
def check_journal(
    surface: Surface,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Check the structure of the journal and the seals of every execution; exit code 1 where something is damaged."""
    with errors_as_exit_codes():
        found = asyncio.run(_checked(surface.settings()))
        if as_json:
            show.print_json({**asdict(found), "is_whole": found.is_whole})
        else:
            for said in (*found.structure, *found.damaged.values()):
                show.errors.print(show.plain(said, style="red"), soft_wrap=True)
            show.console.print(show.plain(_verdict(found)), soft_wrap=True)
        raise typer.Exit(0 if found.is_whole else 1)


async def _checked(settings: Settings) -> Checked:
    file = settings.state() / JOURNAL_FILE
    if settings.keeps_journal and settings.journal.url is None and not file.exists():
        message = f"there is no journal at {file}: nothing was recorded yet, or the file was removed"
        raise ConfigurationError(message)
    journal = journal_of(settings, Secrets())
    if journal is None:
        raise ConfigurationError("this configuration keeps no journal; see journal.enabled")
    try:
        await journal.open()
        return await check(journal)
    finally:
        await journal.aclose()


def _verdict(found: Checked) -> str:
    if found.is_whole:
        return f"the journal is whole: {found.executions} executions were checked"
    structure = "its structure is damaged: put back a copy of it" if found.structure else "its structure is whole"
    return f"{len(found.damaged)} of {found.executions} executions are damaged; {structure}"
