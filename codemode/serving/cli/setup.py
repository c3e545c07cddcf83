"""`codemode init` writes a first configuration. `codemode doctor` checks an installation and suggests fixes."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict, replace
from itertools import count, groupby
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from codemode.errors import ConfigurationError, SourceError
from codemode.serving.cli.configuration_file import write
from codemode.serving.cli.consent import edited
from codemode.serving.cli.first_configuration import documents_below, has_own_name, name_of_title, written
from codemode.serving.cli.project_options import FOUND, AsJson, Config, ProjectOptions, with_project_options
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import settings_for_document
from codemode.settings.schema import SCHEMA_FILE, shipped

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.serving.cli.findings import Finding
    from codemode.sources.factory import LoadedSource

app = typer.Typer()

#: Findings of an area that are shown one by one if they are fine.
_SHOWN_FINE = 3

_STYLE = {"ok": "green", "warning": "yellow", "failure": "red"}


@app.command()
def init(
    locations: Annotated[
        list[str] | None, typer.Argument(help="API documents, files or URLs. Default: those found here.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing configuration.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = FOUND,
) -> None:
    """Write a first configuration from the given API documents, or those found in this folder."""
    with errors_as_exit_codes(as_json=as_json):
        if config.exists() and not force:
            message = f"{config} already exists: `codemode sources add NAME LOCATION` adds to it, --force replaces it"
            raise ConfigurationError(message)
        folder = config.absolute().parent
        found = [] if locations else [str(file) for file in documents_below(folder)]
        sources = asyncio.run(_loaded(found, folder, may_leave_out=True)) if found else []
        sources = sources or asyncio.run(_loaded(locations or [_asked()], folder))
        with edited(config, by_user=bool(locations)):
            write(config, written(sources, folder))
        write(config.with_name(SCHEMA_FILE.name), shipped())
        if as_json:
            show.print_json([{"name": s.name, "location": location, "tools": len(s.tools)} for s, location in sources])
            return
        for source, location in sources:
            show.console.print(f"{source.name}: {len(source.tools)} operations from {location}", markup=False)
        show.console.print(f"{config} written; next: codemode doctor, then codemode search 'what you need'")


def _asked() -> str:
    """Ask for an API document on a terminal."""
    if not sys.stdin.isatty():
        message = "no API document found in this folder: name one with `codemode init FILE_OR_URL`"
        raise ConfigurationError(message)
    answer: str = typer.prompt("An API document (OpenAPI or Swagger), file or URL")
    return answer


async def _loaded(locations: list[str], folder: Path, *, may_leave_out: bool = False) -> list[tuple[LoadedSource, str]]:
    from codemode.sources.factory import load_source

    found: dict[str, tuple[LoadedSource, str]] = {}
    for location in locations:
        ((name, settings),) = settings_for_document(location).sources.items()
        try:
            source = await load_source(name, settings)
        except SourceError as error:
            if not may_leave_out:
                raise
            show.errors.print(f"skipped: {error}", markup=False, style="yellow", soft_wrap=True)
            continue
        await source.transport.aclose()
        best = name if has_own_name(location, folder) else name_of_title(source.surface.title) or name
        free = next(name_ for n in count(1) if (name_ := best if n == 1 else f"{best}{n}") not in found)
        found[free] = (replace(source, name=free), location)
    return list(found.values())


@app.command()
@with_project_options
def doctor(
    project: ProjectOptions,
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as failures.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Check isolation, configuration, secrets, sources, folders and port. Exit code 1 on a failure."""
    with errors_as_exit_codes(as_json=as_json):
        from codemode.serving.cli.doctor import examine, verdict
        from codemode.serving.cli.findings import State

        findings = asyncio.run(examine(project.settings))
        findings.append(verdict(findings))
        if as_json:
            show.print_json([asdict(finding) for finding in findings])
        else:
            _print(findings)
        wrong = {State.FAILURE, State.WARNING} if strict else {State.FAILURE}
        raise typer.Exit(1 if any(finding.state in wrong for finding in findings) else 0)


def _print(findings: list[Finding]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    for area, group in groupby(findings, key=lambda finding: finding.area):
        for finding in _folded(area, list(group)):
            text = show.plain(finding.found)
            if finding.state != "ok" and finding.fix:
                text += show.plain(f"\n→ {finding.fix}", style="dim")
            state = show.plain(finding.state, style=_STYLE[finding.state])
            table.add_row(state, show.plain(": ".join(filter(None, (finding.area, finding.subject)))), text)
    show.console.print(table)


def _folded(area: str, findings: list[Finding]) -> list[Finding]:
    """Return the findings of an area, with many that are fine as one line. `--json` has them all."""
    fine = [finding for finding in findings if finding.state == "ok"]
    if len(fine) <= _SHOWN_FINE:
        return findings
    shared = {finding.found for finding in fine}
    what = shared.pop() if len(shared) == 1 else ", ".join(f"{one.subject} {one.found}" for one in fine[:_SHOWN_FINE])
    folded = replace(fine[0], area=area, subject="", found=f"{what}; {len(fine)} checks are fine")
    return [folded, *(finding for finding in findings if finding.state != "ok")]
