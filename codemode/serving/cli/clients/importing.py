"""Import MCP servers of other clients: entries become sources, secrets move, and logins are offered."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from codemode.errors import ConfigurationError
from codemode.executions.journal.configured import store_of
from codemode.serving.cli.clients.discovery import ClientServer, new_names
from codemode.serving.cli.clients.moved_secrets import MovedSecrets
from codemode.serving.cli.configuration_file import read, with_source, write
from codemode.serving.cli.consent import edited, has_terminal
from codemode.serving.cli.logins import WAITS_FOR_LOGIN, offer_login
from codemode.serving.cli.project_options import configuration
from codemode.serving.output import terminal as show
from codemode.settings import Secrets, Settings, is_set
from codemode.sources.factory import load_source
from codemode.sources.source import SourceContext
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: Seconds that a server has to answer whether it asks for a login.
_ASKED_S = 15.0

_ALL = "all"


def chosen(servers: Sequence[ClientServer], names: Sequence[str], *, takes_all: bool) -> list[ClientServer]:
    """Return the servers to import: those named, all, or those that a person names at a terminal; else none.

    Raises ConfigurationError for a name that no server has.
    """
    if takes_all or not (names or has_terminal()):
        return [*servers] if takes_all else []
    if not names:
        answer: str = typer.prompt("Import which? Names, separated by commas", default=_ALL, err=True)
        names = [name.strip() for name in answer.split(",") if name.strip()]
        if names == [_ALL]:
            return [*servers]
    known = {server.name for server in servers}
    for name in names:
        if name not in known:
            message = f"no client has a server {name!r}{did_you_mean(name, known) or ';'} there are: {', '.join(known)}"
            raise ConfigurationError(message)
    return [server for server in servers if server.name in names]


def show_servers(servers: Sequence[ClientServer]) -> None:
    """Print the servers with the names of their secrets, and no value."""
    if not servers:
        show.console.print("no MCP servers found in the configuration files of other clients")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("client", "name", "server", "secrets"):
        table.add_column(column, overflow="fold")
    for server in servers:
        cells = (server.client.title, server.name, server.shown, ", ".join(server.secrets))
        table.add_row(*(show.plain(cell) for cell in cells))
    show.console.print(table)
    for server in servers:
        if not server.can_be_added:
            line = f"{server.name} has secrets or variables in its command or URL, so it stays in the client's file; "
            line += f"list that file in `mcp_servers` of codemode.yaml: {server.file}"
            show.console.print(show.plain(line), soft_wrap=True)


def import_servers(config: Path, servers: Sequence[ClientServer]) -> tuple[dict[str, ClientServer], MovedSecrets]:
    """Write the servers that the configuration does not have as sources, and move their secrets.

    Raises ConfigurationError.
    """
    text = read(config)
    settings = configuration(config) if text.strip() else Settings()
    moved = MovedSecrets(settings.state() / "secrets")
    added = dict(new_names(servers, settings.sources))
    for name, server in added.items():
        text = with_source(text, name, server.entry(name, moved.reference))
    if added:
        with edited(config):
            write(config, text)
    return added, moved


def report(added: Mapping[str, ClientServer], moved: MovedSecrets, config: Path) -> None:
    """Print what was imported, where its secrets are, and which variables are to set."""
    for name, server in added.items():
        missing = ", ".join(one for one in server.variables if not is_set(one))
        line = f"{name} added to {config}" + (f"; set {missing}, as {server.client.title} does" if missing else "")
        show.console.print(show.plain(line), soft_wrap=True)
    if moved.places:
        line = f"secrets are in {' and '.join(sorted(moved.places))}; the files of the clients still have them"
        show.console.print(show.plain(line), soft_wrap=True)
    if not added:
        show.console.print(show.plain(f"{config} has them all"), soft_wrap=True)


def ask_for_logins(config: Path, names: Sequence[str], *, as_json: bool) -> list[str]:
    """Offer the logins that new servers ask for, and return the names of those that still wait for one."""
    settings = configuration(config)
    waiting = asyncio.run(_waiting(settings, names))
    if as_json:
        return waiting
    return [name for name in waiting if not offer_login(name, f"{name} asks for a login", config)]


def exit_code(waiting: Sequence[str]) -> int:
    """Return the exit code of the command."""
    return WAITS_FOR_LOGIN if waiting else 0


async def _waiting(settings: Settings, names: Sequence[str]) -> list[str]:
    """Return the new servers at a URL that ask for a login."""

    async def waits(name: str, context: SourceContext) -> bool:
        source = settings.sources[name].model_copy(update={"timeout_s": _ASKED_S})
        loaded = await load_source(name, source, context)
        await loaded.transport.aclose()
        return loaded.failure is not None and loaded.failure.needs_login

    at_url = [name for name in names if settings.sources[name].login_server and not settings.sources[name].credentials]
    with closing(store_of(settings, Secrets())) as store:
        context = SourceContext(store=store)
        answers = await asyncio.gather(*(waits(name, context) for name in at_url), return_exceptions=True)
    return [name for name, answer in zip(at_url, answers, strict=True) if answer is True]
