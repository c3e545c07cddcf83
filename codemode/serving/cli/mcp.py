"""`codemode mcp` serves one MCP client; `mcp install | uninstall | import` edit and read the clients' files."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from codemode.errors import ConfigurationError
from codemode.serving.cli.project_options import (
    FOUND,
    AsJson,
    Config,
    ProjectOptions,
    Role,
    Strict,
    local_caller,
    with_project_options,
)
from codemode.serving.mcp.greeting import Input, Server
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import DEFAULT_ROLE, ClientName

app = typer.Typer()
Client = Annotated[ClientName, typer.Argument(help="The client.", case_sensitive=False)]
ServerName = Annotated[str, typer.Option("--name", help="Name of the server in the client.")]
File = Annotated[
    Path | None, typer.Option("--file", help="Configuration file of the client. Default: the one of this user.")
]


@app.callback(invoke_without_command=True)
@with_project_options
def mcp(
    context: typer.Context,
    project: ProjectOptions,
    role: Role = DEFAULT_ROLE,
    menu: Annotated[bool, typer.Option("--menu", help="Serve a menu of native tools instead.")] = False,  # noqa: FBT002
    strict: Strict = False,  # noqa: FBT002
) -> None:
    """Serve search and execute to one MCP client over standard input and output."""
    with errors_as_exit_codes():
        if context.invoked_subcommand is not None:
            _reject_options(context)
            return
        settings = project.settings()
        if menu:
            settings = settings.model_copy(update={"server": settings.server.model_copy(update={"mcp": "menu"})})
        is_menu = settings.server.mcp == "menu"
        greeted = Input(Server(version("codemode"), is_menu=is_menu, is_mixed=settings.has_mixed_modes))
        # the imports below take a second
        import asyncio

        from codemode.service import CodeMode
        from codemode.serving.mcp.stdio import serve_stdio

        service = CodeMode.from_settings(settings, strict=strict)
        raise typer.Exit(asyncio.run(serve_stdio(service, local_caller(service, role), greeted)))


def _reject_options(context: typer.Context) -> None:
    """Reject options before a subcommand, which would have no effect. Raises ConfigurationError."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            command = context.invoked_subcommand
            message = f"{parameter.opts[0]} has no effect before {command}: write it after `codemode mcp {command}`"
            raise ConfigurationError(message)


@app.command()
def install(
    client: Client,
    config: Config = FOUND,
    name: ServerName = "codemode",
    file: File = None,
    prints: Annotated[bool, typer.Option("--print", help="Print the entry, and write nothing.")] = False,  # noqa: FBT002
    link: Annotated[bool, typer.Option("--link", help="Print an install link (VS Code, Cursor).")] = False,  # noqa: FBT002
    force: Annotated[bool, typer.Option("--force", help="Replace another server of that name.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Add codemode to the configuration file of an MCP client. The former file is kept as a backup."""
    with errors_as_exit_codes(as_json=as_json):
        from codemode.serving.cli.clients.installation import Installation

        installation = Installation(client, name, file)
        if prints or link:
            installation.show(config, is_link=link, as_json=as_json)
        else:
            installation.install(config, force=force, as_json=as_json)


@app.command("import")
def import_(
    names: Annotated[list[str] | None, typer.Argument(help="Servers to import. Default: ask at a terminal.")] = None,
    client: Annotated[
        list[ClientName] | None, typer.Option("--from", help="Only servers of this client. Repeatable.")
    ] = None,
    takes_all: Annotated[bool, typer.Option("--all", help="Import all of them.")] = False,  # noqa: FBT002
    lists: Annotated[bool, typer.Option("--list", help="Only list them, and write nothing.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = FOUND,
) -> None:
    """Import the MCP servers of other clients as sources, with their secrets and logins. Their files stay as they are.

    Secrets move to the system's keyring, else to files that you alone can read. Exit code 75: a login is needed.
    """
    with errors_as_exit_codes(as_json=as_json):
        from codemode.serving.cli.clients import importing
        from codemode.serving.cli.clients.discovery import discover

        servers, unreadable = discover(Path.cwd())
        servers = [server for server in servers if not client or server.client.name in client]
        for reason in unreadable:
            show.errors.print(show.plain(f"skipped: {reason}", style="yellow"), soft_wrap=True)
        if not as_json:
            importing.show_servers(servers)
        wanted = [] if lists or not servers else importing.chosen(servers, names or (), takes_all=takes_all)
        added, moved = importing.import_servers(config, wanted)
        if wanted and not as_json:
            importing.report(added, moved, config)
        waiting = importing.ask_for_logins(config, [*added], as_json=as_json) if added else []
        if as_json:
            imported = {name: server.to_json() for name, server in added.items()}
            listed = [server.to_json() for server in servers]
            show.print_json({"servers": listed, "imported": imported, "needs_login": waiting})
        elif servers and not wanted:
            show.console.print("next: codemode mcp import NAME …, or --all")
        raise typer.Exit(importing.exit_code(waiting) if servers else 1)


@app.command()
def uninstall(
    client: Client,
    name: ServerName = "codemode",
    file: File = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Remove codemode from the configuration file of an MCP client. The former file is kept as a backup."""
    with errors_as_exit_codes(as_json=as_json):
        from codemode.serving.cli.clients.installation import Installation

        Installation(client, name, file).uninstall(as_json=as_json)
