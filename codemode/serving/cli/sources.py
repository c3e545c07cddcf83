"""`codemode sources add | list | check | refresh | learn | remove | accept`: manage configured sources."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from dataclasses import asdict, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codemode.errors import ConfigurationError, SourceError
from codemode.executions.journal.configured import store_of
from codemode.serving.cli.configuration_file import (
    read,
    source_names,
    with_effects,
    with_source,
    without_source,
    write,
)
from codemode.serving.cli.consent import edited, has_terminal
from codemode.serving.cli.logins import WAITS_FOR_LOGIN, LoginOptions, log_in, offer_login
from codemode.serving.cli.new_source import entry_of, is_command, load_new, needs_login, read_source
from codemode.serving.cli.project_options import (
    FOUND,
    AsJson,
    Config,
    ProjectOptions,
    configuration,
    with_project_options,
    with_service,
)
from codemode.serving.cli.tables import print_table
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import (
    Secrets,
    SourceSettings,
    is_url,
    namespace,
    namespace_of,
    settings_for_document,
)
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from codemode.gateway.answer_checks import Differences
    from codemode.service import CodeMode
    from codemode.sources.changes import Changes
    from codemode.sources.factory import LoadedSource
    from codemode.sources.loaded import Surface
    from codemode.sources.proposals import ProposedRead

app = typer.Typer(no_args_is_help=True, help="Manage the sources of a configuration file.")
Name = Annotated[str, typer.Argument(help="The namespace of the source.")]
AcceptReads = Annotated[bool, typer.Option("--accept-reads", help="Write the proposed reads into the configuration.")]
#: Maximum entries printed per list; the rest is counted.
SHOWN = 20

#: Exit code for an unreadable source.
_UNREAD = 3


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="The namespace of the source. Without it, the name of its host or file.")],
    location: Annotated[
        str, typer.Argument(help="A document (path or URL), Python code, the URL of an MCP server, or its command.")
    ] = "",
    arguments: Annotated[list[str] | None, typer.Argument(help="After --: arguments of the command.")] = None,
    base_url: Annotated[str, typer.Option("--base-url", help="Base URL of its operations.")] = "",
    bearer_env: Annotated[str, typer.Option("--bearer-env", help="Environment variable with a bearer token.")] = "",
    bind: Annotated[str, typer.Option("--bind", help="Python code that implements the described tools.")] = "",
    accept_reads: AcceptReads = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = FOUND,
) -> None:
    """Read a source, report its tools, and add it to the configuration. Its kind is detected.

    A server that asks for a login is added without tools, with exit code 75. At a terminal the login follows at once.
    """
    with errors_as_exit_codes(as_json=as_json):
        if not location:
            name, location = namespace_of(name), name
        namespace(name)
        if arguments or is_command(location):
            settings = SourceSettings(command=(location, *(arguments or ())))
        else:
            settings = settings_for_document(location, base_url=base_url, name=name).sources[name]
            settings = settings.model_copy(update={"bind": bind})
        settings, source = asyncio.run(load_new(name, settings, bearer_env))
        is_document = settings.is_document
        base = base_url or (next(iter(_absolute(source)), "") if is_document else "")
        with edited(config):
            write(config, with_source(read(config), name, entry_of(settings, base, bearer_env, config)))
        if needs_login(source):
            source = _after_login(name, config, as_json=as_json)
        offer = _login_offer(name, settings, source, bearer_env)
        if as_json:
            show.print_json({name: _as_data(source) | ({"next": offer} if offer else {})})
        else:
            _report(name, source)
        if accept_reads:
            accept_proposed(config, {name: source})
        if is_document and not base_url:
            message = _base_url_message(source.surface, settings.location, base, f"sources.{name}.base_url in {config}")
            show.errors.print(show.plain(message, style="" if base else "yellow"), soft_wrap=True)
        if offer and not as_json:
            offer_login(name, f"{name} has a login", config)


@app.command("remove")
def remove(name: Name, as_json: AsJson = False, config: Config = FOUND) -> None:  # noqa: FBT002
    """Remove a source from the configuration."""
    with errors_as_exit_codes(as_json=as_json):
        with edited(config):
            write(config, without_source(read(config), name))
        if as_json:
            show.print_json({"removed": name})


@app.command("accept")
def accept(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Accept without asking.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = FOUND,
) -> None:
    """Accept definitions of an MCP server that are held back: changed ones, new destructive ones, another of an id."""
    with errors_as_exit_codes(as_json=as_json):
        settings = configuration(config)
        if name not in settings.sources or not settings.sources[name].is_mcp:
            servers = [known for known, source in settings.sources.items() if source.is_mcp]
            message = f"there is no MCP server {name!r} in {config}{did_you_mean(name, servers)}"
            raise ConfigurationError(message)
        from codemode.sources.mcp.definitions import AcceptedDefinitions
        from codemode.sources.mcp.source import changed_definitions

        with closing(store_of(settings, Secrets())) as store:
            changes = asyncio.run(changed_definitions(name, settings, store))
            if as_json:
                show.print_json({change.name: change.text.splitlines() for change in changes})
            else:
                for change in changes:
                    show.console.print(show.plain(change.text), soft_wrap=True)
            if not changes:
                if not as_json:
                    show.console.print("no changes since the definitions were accepted")
            elif yes or typer.confirm(f"Accept {len(changes)} definition{'s' if len(changes) > 1 else ''}?"):
                accepted = AcceptedDefinitions(store)
                accepted.accept(name, [change.definition for change in changes if change.definition is not None])
                for change in changes:
                    if change.definition is None:
                        accepted.accept_instructions(name, change.instructions)
            else:
                raise typer.Exit(1)


@app.command("learn")
def learn(name: Name, as_json: AsJson = False, config: Config = FOUND) -> None:  # noqa: FBT002
    """Call the reads of a source whose results are undocumented, and show models the fields of the answers."""

    async def work(service: CodeMode) -> int:
        learned = await service.discovery.learn(name)
        if as_json:
            show.print_json([one._asdict() for one in learned])
        else:
            for one in learned:
                line = one.signature or f"{one.tool}: {one.problem}"
                show.console.print(show.plain(line, style="" if one.signature else "yellow"), soft_wrap=True)
            show.console.print(f"{sum(bool(one.signature) for one in learned)} of {len(learned)} results learned")
        return 0

    with_service(ProjectOptions(config), work, as_json=as_json)


@app.command("list")
def list_sources(as_json: AsJson = False, config: Config = FOUND) -> None:  # noqa: FBT002
    """List all sources with the number of their tools."""

    async def work(service: CodeMode) -> int:
        from codemode.sources.check import check_surface

        rows: list[dict[str, Any]] = [
            {
                "name": name,
                "title": source.surface.title,
                "tools": len(source.tools),
                "warnings": len(check_surface(source.surface).warnings),
            }
            for name, source in service.sources.items()
        ]
        if as_json:
            show.print_json(rows)
        else:
            cells = [(row["name"], str(row["tools"]), str(row["warnings"]), row["title"]) for row in rows]
            print_table(("name", "tools", "warnings", "title"), cells, may_be_cut=("title",))
        return 0

    with_service(ProjectOptions(config), work, as_json=as_json)


@app.command("refresh")
def refresh(
    names: Annotated[list[str] | None, typer.Argument(help="Sources to read again. Default: all.")] = None,
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = FOUND,
) -> None:
    """Read sources again, and list operations added, removed or changed since the last refresh."""

    async def work(service: CodeMode) -> int:
        from codemode.sources.changes import LastSeen

        seen = LastSeen(service.settings.state() / "seen")
        found = {name: seen.changes(name, service.sources[name].tools) for name in service.sources}
        if as_json:
            show.print_json({name: None if changes is None else asdict(changes) for name, changes in found.items()})
        else:
            for name, changes in found.items():
                _print_changes(name, len(service.sources[name].tools), changes)
        return 0

    with_service(ProjectOptions(config), work, only=names or (), as_json=as_json)


@app.command("check")
@with_project_options
def check(
    project: ProjectOptions,
    names: Annotated[list[str] | None, typer.Argument(help="Sources to check. Default: all.")] = None,
    accept_reads: AcceptReads = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Report parts of a source that cannot be read, and descriptions that are empty, vague or repeated.

    It also proposes effects for writes that look like reads, and counts the answers of earlier calls that differed from
    their schemas. The exit code is 3 if a source cannot be read at all.
    """
    if accept_reads and project.source:
        with errors_as_exit_codes(as_json=as_json):
            raise ConfigurationError("--accept-reads writes to a configuration file: it excludes --source")

    async def work(service: CodeMode) -> int:
        differences = service.knowledge.answer_checks.differences
        if as_json:
            show.print_json({name: _as_data(found, differences) for name, found in service.sources.items()})
        else:
            for name, found in service.sources.items():
                _report(name, found, differences)
        if accept_reads:
            accept_proposed(project.config, service.sources)
        return _UNREAD if service.catalog.unavailable else 0

    with_service(project, work, only=names or (), as_json=as_json)


def _print_changes(name: str, operations: int, changes: Changes | None) -> None:
    if changes is None:
        show.console.print(f"{name}: {operations} operations, first refresh", markup=False)
        return
    if not changes:
        show.console.print(f"{name}: {operations} operations, none changed", markup=False)
        return
    for word, ids in (("added", changes.added), ("removed", changes.removed), ("changed", changes.changed)):
        if ids:
            show.console.print(f"{name}: {len(ids)} {word}", markup=False)
        for id_ in ids[:SHOWN]:
            show.console.print(f"  {id_}", markup=False, soft_wrap=True)
        if len(ids) > SHOWN:
            show.console.print(f"  … and {len(ids) - SHOWN} more (--json shows all)")


def _login_offer(name: str, settings: SourceSettings, source: LoadedSource, bearer_env: str) -> str:
    """Return the command that logs in at a new API whose document declares a login. Empty if it declares none."""
    is_mcp_or_configured = settings.is_mcp or bool(bearer_env)
    has_login = not is_mcp_or_configured and any(scheme.is_login for scheme in source.surface.auth)
    return f"codemode auth login {name}" if has_login else ""


def _after_login(name: str, config: Path, *, as_json: bool) -> LoadedSource:
    """Offer the login that a new source asks for, and return the source as it is then. Exits if nobody logs in."""
    message = f"{name} is added, and asks for a login"
    if as_json or not has_terminal() or not typer.confirm(f"{message}. Log in now?", default=True, err=True):
        later = f"codemode auth login {name}"
        if as_json:
            show.print_json({name: {"needs_login": True, "next": later}})
        else:
            show.errors.print(show.plain(f"{message}; run: {later}"), soft_wrap=True)
        raise typer.Exit(WAITS_FOR_LOGIN)
    settings = configuration(config)
    log_in(name, settings, LoginOptions())
    with closing(store_of(settings, Secrets())) as store:
        source = asyncio.run(read_source(name, settings.sources[name], store))
    if source.failure is not None:
        raise SourceError(source.failure.message, location=name)
    return source


def _absolute(source: LoadedSource) -> list[str]:
    return [url for url in source.surface.servers if is_url(url) and "{" not in url]


def _base_url_message(surface: Surface, location: str, base: str, key: str) -> str:
    """Return where calls will go, which part of the document says so, and how to change it."""
    if base:
        others = ", ".join(url for url in surface.servers[:SHOWN] if url != base)
        filled = ", ".join(one for one in surface.server_defaults[:SHOWN] if one.partition("=")[2] in base)
        facts = [f"with {filled}"] if filled else []
        facts += [f"other servers: {others}"] if others else []
        message = f"base_url: {base}, taken from the document's servers" + (f" ({'; '.join(facts)})" if facts else "")
        return f"{message}. Calls and their credentials go there; to change it, use --base-url or {key}"
    if is_url(location) and not any("{" in url for url in surface.servers):
        return f"the document names no server: calls go to the host of {location}; to change it, set {key}"
    if surface.servers:
        return f"the document's server is not an absolute URL ({', '.join(surface.servers[:SHOWN])}): set {key}"
    return f"the document names no server: set {key}"


def _report(name: str, source: LoadedSource, differences: Mapping[str, Differences] = MappingProxyType({})) -> None:
    from codemode.sources.check import check_surface

    report = check_surface(source.surface)
    effects = ", ".join(f"{count} {effect}" for effect, count in report.by_effect.items())
    facts = (
        f"{name}: {report.title}",
        f"  {report.operations} operations ({effects}), {len(report.groups)} groups, {report.paged} paginated",
        f"  {report.parameters} parameters, {report.untyped_parameters} without a type",
        f"  servers in the document: {', '.join(report.servers) or 'none'}",
        *(f"  authentication: {needed} ({count} operations)" for needed, count in report.auth_needed.items()),
        *(f"    {way}" for way in report.auth),
        *_by_words(name, report.by_words),
        *_proposed(name, report.proposed_reads),
        *_differing(source, differences),
        f"  {len(report.warnings)} warnings",
        *(f"    {place}: {reason}" for place, reason in report.warnings[:SHOWN]),
    )
    for line in facts:
        show.console.print(line, markup=False, soft_wrap=True)
    if len(report.warnings) > SHOWN:
        show.console.print(f"    … and {len(report.warnings) - SHOWN} more (--json shows all)")


def _by_words(name: str, by_words: Mapping[str, str]) -> Iterator[str]:
    """Yield the operations that count as destructive because of a word, and how to override that."""
    if not by_words:
        return
    yield f"  {len(by_words)} destructive by a word, not by method (override with sources.{name}.effect):"
    for id_, word in list(by_words.items())[:SHOWN]:
        yield f"    {id_}: {word!r}"
    if len(by_words) > SHOWN:
        yield f"    … and {len(by_words) - SHOWN} more (--json shows all)"


def _proposed(name: str, proposed: Sequence[ProposedRead]) -> Iterator[str]:
    """Yield the configuration lines that make writes reads which look like reads."""
    from codemode.sources.proposals import looking_like_reads

    if not proposed:
        return
    yield f"  {looking_like_reads(proposed)} (--accept-reads accepts all; or copy to sources.{name}.effect):"
    for one in proposed[:SHOWN]:
        yield f"    {json.dumps(one.pattern, ensure_ascii=False)}: read  # {one.summary or one.tool}"
    if len(proposed) > SHOWN:
        yield f"    … and {len(proposed) - SHOWN} more (--json shows all)"


def accept_proposed(config: Path, sources: Mapping[str, LoadedSource]) -> None:
    """Write the proposed reads of sources into the configuration. Raises ConfigurationError."""
    from codemode.sources.proposals import proposed_reads

    text = read(config)
    own, told = source_names(text), []
    for name, source in sources.items():
        effects = {one.pattern: "read" for one in proposed_reads(source.tools)}
        if effects and name not in own:
            told.append(f"{name}: nothing accepted, since {config} only names its file: list the server in sources")
        elif effects:
            text = with_effects(text, name, effects)
            told.append(f"{name}: {len(effects)} reads accepted in {config}")
    with edited(config):
        write(config, text)
    for line in told:
        show.errors.print(show.plain(line), soft_wrap=True)


def _differing(source: LoadedSource, differences: Mapping[str, Differences]) -> Iterator[str]:
    """Yield the tools whose answers differed from their schemas, most frequent first."""
    found = sorted(_of_source(source, differences).items(), key=lambda item: -item[1].number)
    if not found:
        return
    yield f"  {sum(one.number for _, one in found)} answers, of {len(found)} operations, differed from their schemas:"
    for id_, one in found[:SHOWN]:
        yield f"    {id_}: {one.number} answers; the last {one.last}"
    if len(found) > SHOWN:
        yield f"    … and {len(found) - SHOWN} more (--json shows all)"


def _of_source(source: LoadedSource, differences: Mapping[str, Differences]) -> dict[str, Differences]:
    return {tool.id: differences[tool.id] for tool in source.tools if tool.id in differences}


def _as_data(source: LoadedSource, differences: Mapping[str, Differences] = MappingProxyType({})) -> dict[str, Any]:
    from codemode.sources.check import check_surface

    report = check_surface(source.surface)
    facts = {field.name: getattr(report, field.name) for field in fields(report)}
    differing = {id_: one._asdict() for id_, one in _of_source(source, differences).items()}
    warnings = [{"place": place, "reason": reason} for place, reason in report.warnings]
    proposed = [one._asdict() for one in report.proposed_reads]
    return facts | {"differing_answers": differing, "warnings": warnings, "proposed_reads": proposed}
