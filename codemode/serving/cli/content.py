"""`codemode content`: images and files that programs on this machine returned or were given."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 -- typer reads it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from codemode.errors import ConfigurationError
from codemode.features.content.archive import JournalContents
from codemode.features.content.table import ContentTable
from codemode.gateway.caller import LOCAL
from codemode.serving.cli.files import content_of, write_file
from codemode.serving.cli.project_options import AsJson, Project, with_project_options
from codemode.serving.cli.stored import with_journal
from codemode.serving.cli.tables import print_table
from codemode.serving.output import terminal as show
from codemode.text.times import rfc3339
from codemode.transports.content import ContentNotFound

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal

app = typer.Typer(no_args_is_help=True, help="Read and store images and files of programs.")

#: Files that `content list` shows.
_LISTED = 100


@app.callback()
def commands() -> None:
    """Read and store images and files of programs."""


@app.command("list")
@with_project_options
def list_content(
    project: Project,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """List the stored images and files, newest first."""

    async def work(journal: Journal) -> int:
        found = await ContentTable(journal).list(LOCAL.id, limit=_LISTED)
        listed = [
            one._asdict() | {"kept_us": rfc3339(one.kept_us), "expires_us": rfc3339(one.expires_us)} for one in found
        ]
        rows = [{name.removesuffix("_us"): value for name, value in row.items()} for row in listed]
        if as_json:
            show.print_json(rows)
        elif rows:
            titles = ["id", "media_type", "size_bytes", "name", "expires"]
            print_table(titles, [[str(row[title]) for title in titles] for row in rows], may_be_cut=["name"])
        return 0 if rows else 1

    with_journal(project, work, as_json=as_json)


@app.command("get")
@with_project_options
def get_content(
    project: Project,
    content: Annotated[str, typer.Argument(help="The id in a reference: c_…")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.")] = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Write an image or file to a file, or to standard output if that is no terminal."""

    async def work(journal: Journal) -> int:
        found = await JournalContents(journal, project.settings().content, _is_open).find(LOCAL.id, content)
        if found is None:
            raise ContentNotFound
        if output is not None:
            write_file(output, found.data)
            show.errors.print(show.plain(f"wrote {len(found.data):,} bytes of {found.media_type} to {output}"))
        elif sys.stdout.isatty():
            raise ConfigurationError("standard output is a terminal: name a file with -o FILE")
        else:
            sys.stdout.buffer.write(found.data)
        return 0

    with_journal(project, work, as_json=as_json)


@app.command("put")
@with_project_options
def put_content(
    project: Project,
    file: Annotated[Path, typer.Argument(help="The file.")],
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Store a file and print its reference, for `run --input` and for arguments of `call`."""

    async def work(journal: Journal) -> int:
        content = content_of(file)
        await JournalContents(journal, project.settings().content, _is_open).keep(LOCAL.id, content)
        show.print_json(content.reference)
        return 0

    with_journal(project, work, as_json=as_json)


async def _is_open() -> None:
    """Do nothing: the journal is open."""
