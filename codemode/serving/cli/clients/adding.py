"""Add discovered MCP servers to a configuration, and report them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from codemode.serving.cli.clients.discovery import ClientServer, new_names
from codemode.serving.cli.configuration_file import read, with_source, write
from codemode.serving.cli.project_options import configuration
from codemode.serving.output import terminal as show
from codemode.settings import is_set

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def add_servers(config: Path, servers: Sequence[ClientServer]) -> dict[str, ClientServer]:
    """Write the servers that the configuration does not have as sources. Raises ConfigurationError."""
    text = read(config)
    known = configuration(config).sources if text.strip() else {}
    added = dict(new_names(servers, known))
    for name, server in added.items():
        text = with_source(text, name, server.entry())
    if added:
        write(config, text)
    return added


def report(servers: Sequence[ClientServer], added: Mapping[str, ClientServer], config: Path, *, adds: bool) -> None:
    """Print the servers, and what to do next."""
    if not servers:
        show.console.print("no MCP servers found in the configuration files of other clients")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("client", "name", "server", "env and headers"):
        table.add_column(column, overflow="fold")
    for server in servers:
        names = ", ".join((*server.source.env, *server.source.headers))
        cells = (server.client.title, server.name, server.shown, names)
        table.add_row(*(show.plain(cell) for cell in cells))
    show.console.print(table)
    for server in servers:
        if not server.can_be_added:
            line = f"{server.name} has secrets or variables in its command or URL, so it stays in the client's file;"
            line += f" list that file in `mcp_servers` of {config}: {server.file}"
            show.console.print(show.plain(line), soft_wrap=True)
    for name, server in added.items():
        missing = ", ".join(one for one in server.variables if not is_set(one))
        line = f"{name} added to {config}" + (f"; set {missing}: the values are in {server.file}" if missing else "")
        show.console.print(show.plain(line), soft_wrap=True)
    if adds and not added:
        show.console.print(show.plain(f"{config} has them all"), soft_wrap=True)
    elif not adds:
        show.console.print("next: codemode sources discover --add")
