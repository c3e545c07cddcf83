"""`codemode journal`: check, copy, restore, migrate and shrink the journal."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path  # noqa: TC003 -- typer reads it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from codemode.errors import ConfigurationError
from codemode.executions.journal.backups import back_up, restore
from codemode.executions.journal.checking import check
from codemode.executions.journal.configured import journal_file, journal_of
from codemode.executions.journal.sqlite.maintenance import vacuum
from codemode.serving.cli.execution_output import print_expired
from codemode.serving.cli.project_options import AsJson, Project, with_project_options
from codemode.serving.cli.stored import on_journal
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import Secrets

if TYPE_CHECKING:
    from codemode.executions.journal.checking import CheckReport
    from codemode.executions.journal.migrations import MigrationPlan
    from codemode.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Check, copy, restore, migrate and shrink the journal of executions.")


@app.callback()
def commands() -> None:
    """Check, copy, restore, migrate and shrink the journal of executions."""


@app.command("check")
@with_project_options
def check_journal(
    project: Project,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Check the journal's structure and the seals of every execution. Exit code 1 if something is damaged."""
    with errors_as_exit_codes(as_json=as_json):
        found = asyncio.run(_checked(project.settings()))
        if as_json:
            show.print_json({**asdict(found), "is_whole": found.is_whole})
        else:
            for problem in (*found.structure, *found.damaged.values()):
                show.errors.print(show.plain(problem, style="red"), soft_wrap=True)
            show.console.print(show.plain(_verdict(found)), soft_wrap=True)
        print_expired(found.expired)
        raise typer.Exit(0 if found.is_whole else 1)


@app.command("backup")
@with_project_options
def back_up_journal(
    project: Project,
    target: Annotated[Path, typer.Argument(help="File to create.")],
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Copy the journal to a new file. Servers may run. Keep `journal.key` with the copy: it is worthless without.

    The copy of a PostgreSQL database is a file too. It has the executions of all projects in the database.
    """
    with errors_as_exit_codes(as_json=as_json):
        size = asyncio.run(back_up(project.settings(), Secrets(), target))
        if as_json:
            show.print_json({"file": str(target), "bytes": size})
            return
        show.console.print(show.plain(f"{target}: {size:,} bytes"), soft_wrap=True)


@app.command("restore")
@with_project_options
def restore_journal(
    project: Project,
    backup: Annotated[Path, typer.Argument(help="File made by `codemode journal backup`.")],
    keep_damaged: Annotated[  # noqa: FBT002
        bool, typer.Option("--keep-damaged", help="Restore although executions are damaged.")
    ] = False,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Restore a backup to an empty journal, of either kind of database. Stop all servers first.

    The whole backup is checked before. Executions that were running are paused, because later calls are not recorded.
    """
    with errors_as_exit_codes(as_json=as_json):
        restored = asyncio.run(restore(project.settings(), Secrets(), backup, keep_damaged=keep_damaged))
        if as_json:
            show.print_json(asdict(restored))
            return
        show.console.print(f"executions restored: {restored.executions}")
        if restored.paused:
            text = (
                f"{restored.paused} were running and are paused now: check what they did since, then resume or cancel"
            )
            show.console.print(text, soft_wrap=True)
        if restored.waiting:
            text = f"{restored.waiting} wait for a person: check whether that was decided and done since the backup"
            show.console.print(text, soft_wrap=True)
        if restored.damaged:
            show.console.print(f"{restored.damaged} are damaged: see `codemode journal check`")


@app.command("migrate")
@with_project_options
def migrate_journal(
    project: Project,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Migrate the journal to this version, beside running servers. A server does so itself, unless it is told not to.

    Servers of earlier versions go on, if they can read the result: see `readable_from`.
    """
    with errors_as_exit_codes(as_json=as_json):
        plan = asyncio.run(_migrated(project.settings(), dry_run=dry_run))
        if as_json:
            show.print_json({**asdict(plan), "dry_run": dry_run})
            return
        show.console.print(show.plain(_migration_text(plan, dry_run=dry_run)), soft_wrap=True)


@app.command("vacuum")
@with_project_options
def vacuum_journal(
    project: Project,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Rebuild the journal without its free pages. Servers may run, but wait meanwhile."""
    with errors_as_exit_codes(as_json=as_json):
        before, after = vacuum(_file(project.settings(), "VACUUM of PostgreSQL"))
        if as_json:
            show.print_json({"bytes_before": before, "bytes_after": after})
            return
        show.console.print(f"{before:,} bytes before, {after:,} bytes after")


async def _migrated(settings: Settings, *, dry_run: bool) -> MigrationPlan:
    """Return what there was to do, and do it unless this is a dry run."""
    journal = journal_of(settings, Secrets(), migrates=True)
    if journal is None:
        message = "executions are not recorded here: set `journal.enabled: true` in the configuration"
        raise ConfigurationError(message)
    plan = await journal.migration_plan()
    if not dry_run:
        try:
            await journal.open()
        finally:
            await journal.aclose()
    return plan


def _migration_text(plan: MigrationPlan, *, dry_run: bool) -> str:
    if not plan.steps:
        return f"the journal has version {plan.version}, readable by versions >= {plan.readable_from}: nothing to do"
    does = "would be applied" if dry_run else "applied"
    reach = f"version {plan.version} to {plan.new_version}, readable by versions >= {plan.new_readable_from}"
    who = "an empty journal" if plan.version == 0 else "running servers go on"
    if plan.version and plan.new_readable_from > plan.version:
        who = f"stop servers that know versions below {plan.new_readable_from} first"
    ends = f". {plan.end_of_executions}" if plan.expires else ""
    return f"{', '.join(plan.steps)} {does}: {reach}; {who}{ends}"


async def _checked(settings: Settings) -> CheckReport:
    if settings.keeps_journal and settings.journal.url is None:
        journal_file(settings)
    return await on_journal(settings, check)


def _file(settings: Settings, instead: str) -> Path:
    """Return the journal's file. Raises ConfigurationError if it is in a database, and for which tool to use."""
    if settings.journal.url is not None:
        message = f"the journal is in a PostgreSQL database: use {instead}"
        raise ConfigurationError(message)
    return journal_file(settings)


def _verdict(found: CheckReport) -> str:
    if found.is_whole:
        return f"the journal is intact; executions checked: {found.executions}"
    structure = "its structure is damaged: restore a backup" if found.structure else "its structure is intact"
    return f"{len(found.damaged)} of {found.executions} executions are damaged; {structure}"
