"""`codemode journal`: check, copy and shrink the journal."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path  # noqa: TC003 -- typer reads it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from codemode.errors import ConfigurationError
from codemode.executions.journal.checking import check
from codemode.executions.journal.configured import JOURNAL_FILE
from codemode.executions.journal.maintenance import back_up, vacuum
from codemode.serving.cli import terminal as show
from codemode.serving.cli.stored import on_journal
from codemode.serving.cli.surface import AsJson, Project, errors_as_exit_codes, on_surface

if TYPE_CHECKING:
    from codemode.executions.journal.checking import Checked
    from codemode.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Check, copy and shrink the journal of executions.")


@app.callback()
def commands() -> None:
    """Check, copy and shrink the journal of executions."""


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


@app.command("backup")
@on_surface
def back_up_journal(
    surface: Project,
    target: Annotated[Path, typer.Argument(help="File to create.")],
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Copy the journal to a new file. Servers may run. Keep `journal.key` with the copy: it is worthless without."""
    with errors_as_exit_codes(as_json=as_json):
        size = back_up(_file(surface.settings(), "pg_dump"), target)
        if as_json:
            show.print_json({"file": str(target), "bytes": size})
            return
        show.console.print(show.plain(f"{target}: {size:,} bytes"), soft_wrap=True)


@app.command("vacuum")
@on_surface
def vacuum_journal(
    surface: Project,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Rebuild the journal without its free pages. Servers may run, but wait meanwhile."""
    with errors_as_exit_codes(as_json=as_json):
        before, after = vacuum(_file(surface.settings(), "VACUUM of PostgreSQL"))
        if as_json:
            show.print_json({"bytes_before": before, "bytes_after": after})
            return
        show.console.print(f"{before:,} bytes before, {after:,} bytes after")


async def _checked(settings: Settings) -> Checked:
    if settings.keeps_journal and settings.journal.url is None:
        _require_file(settings.state() / JOURNAL_FILE)
    return await on_journal(settings, check)


def _file(settings: Settings, instead: str) -> Path:
    """Return the journal's file. Raises ConfigurationError if it is in a database, and for which tool to use."""
    if settings.journal.url is not None:
        message = f"the journal is in a PostgreSQL database: use {instead}"
        raise ConfigurationError(message)
    return _require_file(settings.state() / JOURNAL_FILE)


def _require_file(file: Path) -> Path:
    if not file.exists():
        message = f"there is no journal at {file}: nothing has been recorded yet, or the file was removed"
        raise ConfigurationError(message)
    return file


def _verdict(found: Checked) -> str:
    if found.is_whole:
        return f"the journal is intact: {found.executions} executions checked"
    structure = "its structure is damaged: restore a backup" if found.structure else "its structure is intact"
    return f"{len(found.damaged)} of {found.executions} executions are damaged; {structure}"
