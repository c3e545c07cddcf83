"""The command line: `codemode demo | init | doctor | search | menu | run | tools | cost | serve | mcp | sources | …`.

Exit codes: 0 success; 1 the program did not complete, nothing was found, or `doctor` found a failure; 2 wrong usage or
configuration; 3 unreadable source; 4 the sandbox is not available on this machine; 70 a bug in codemode; 74 a file
cannot be read or written.
"""

from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from codemode import __version__

_PACKAGE = "codemode.serving.cli"

#: Module and help of each command. The module has the command in `app`, or in the attribute after the colon. Running a
#: command imports its module only; `codemode --help` imports none.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("run", "Start the example services and run six programs against them."),
    "run": ("run", "Run a program in the sandbox, with all tools in their namespaces."),
    "tools": ("run", "List all tools, one per line."),
    "cost": ("run", "Show what the catalog costs a model in tokens: as native tools, as a menu, and as two tools."),
    "serve": ("serve", "Serve search and execute over HTTP, and MCP at /mcp."),
    "mcp": ("serve", "Serve search and execute to one MCP client over standard input and output."),
    "search": ("search", "Find tools. Hits include signatures that a program can call."),
    "embed": (
        "search",
        "Create the embeddings of all tools now, as `search.embeddings` configures them, and show the progress.",
    ),
    "search-eval": (
        "search",
        "Measure search on your own labelled queries, as they are and with typing mistakes.",
    ),
    "search-tune": (
        "search",
        "Propose cross-validated ranking weights from labelled queries, for `search.ranking`.",
    ),
    "chat": (
        "agent",
        "Chat with a model that has the tools. Shows its programs, their calls and the cost.",
    ),
    "eval": ("agent", "Measure a model on tasks: success, tokens, turns and time in each mode."),
    "menu": ("menu", "Show the tools offered for a message to a model that cannot write code, and why."),
    "menu-tune": (
        "menu",
        "Propose default and core tools from the calls recorded on this machine.",
    ),
    "init": ("setup", "Write a first configuration from the given API documents, or those found in this folder."),
    "doctor": (
        "setup",
        "Check isolation, configuration, secrets, sources, folders and port. Exit code 1 on a failure.",
    ),
    "config": ("config", "Check a configuration file, explain its keys, and print their JSON Schema."),
    "sources": ("sources", "Manage the sources of a configuration file."),
    "keys": ("keys", "Manage server keys: create, list, rotate, revoke."),
    "policy": ("policy", "Explain decisions of the access policy, and check its rules."),
    "auth": ("auth", "Log in to the services behind the sources."),
    "executions": ("executions:executions", "Show, continue, cancel and roll back executions."),
    "journal": ("journal", "Check the journal of executions."),
    "approvals": ("executions:approvals", "Show calls that wait for a person, and decide on them."),
}

#: Commands with subcommands.
GROUPS = frozenset(("config", "sources", "keys", "policy", "auth", "executions", "journal", "approvals"))


class _Commands(typer.core.TyperGroup):
    """Commands by name. Each module is imported when its command runs."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a stand-in with the command's help."""
        if cmd_name not in COMMANDS:
            return None
        return typer.core.TyperCommand(cmd_name, help=COMMANDS[cmd_name][1])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the real command."""
        name, stand_in, rest = super().resolve_command(ctx, args)
        return name, stand_in if name is None else imported(name), rest


def imported(name: str) -> Any:
    """Import and return the command of that name."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    group = typer.main.get_group(getattr(import_module(f"{_PACKAGE}.{module}"), attribute or "app"))
    if name in GROUPS:
        group.name = name
        return group
    return group.commands[name]


app = typer.Typer(
    cls=_Commands, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__.split("\n", maxsplit=1)[0]
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 -- called by typer
    if wanted:
        sys.stdout.write(f"codemode {__version__}\n")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[  # noqa: FBT002
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Any API surface as two tools for a model: search, and execute in a sandbox."""


def main() -> None:
    """Entry point of the `codemode` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # characters the terminal cannot show are escaped
    app()
