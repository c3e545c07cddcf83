"""The command line: `codemode demo | init | doctor | search | menu | run | tools | cost | serve | mcp | sources | …`.

Exit codes: 0 it worked; 1 the program did not complete, nothing was found, or `doctor` found something wrong; 2 wrong
usage or configuration; 3 a source cannot be read; 4 the sandbox is not available on this machine; 70 a mistake in
codemode itself; 74 something cannot be read or written.
"""

from __future__ import annotations

import io
import sys
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
import typer.core
import typer.main

_PACKAGE = "codemode.serving.cli"

#: Each command: the module that has it (in its attribute `app`, or the one named), and its help. A command imports the
#: module of its own and no other; `codemode --help` imports none.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("run", "Start the example services and run six programs against them."),
    "run": ("run", "Run a program in the sandbox, with every tool bound in its namespace."),
    "tools": ("run", "List every tool, a line each."),
    "cost": ("run", "What the catalog costs a model: as native tools, as a menu, and as two tools."),
    "serve": ("serve", "Serve search and execute over HTTP, and MCP at /mcp."),
    "mcp": ("serve", "Serve search and execute to one MCP client over standard input and output."),
    "search": ("search", "Find tools, answered with signatures that a program can call."),
    "embed": (
        "search",
        "Make the embeddings of all tools now, as `search.embeddings` asks for them, and show how far they are.",
    ),
    "search-eval": (
        "search",
        "Measure search on labelled queries of your own, as they are and with typing mistakes.",
    ),
    "search-tune": (
        "search",
        "Propose ranking weights from labelled queries, cross-validated; put them under `search.ranking`.",
    ),
    "chat": (
        "agent",
        "Talk to a model that has the tools; shows its programs, the calls that they make, and what it costs.",
    ),
    "eval": ("agent", "Measure a model on tasks: success, tokens, turns and time in each mode."),
    "menu": ("menu", "Show which tools a model that cannot write code is offered for a message, and why."),
    "menu-tune": (
        "menu",
        "Propose defaults and core tools from what was called after menus, as it is recorded on this machine.",
    ),
    "init": ("setup", "Write a first configuration from the API documents given, or found in this folder."),
    "doctor": (
        "setup",
        "Look at isolation, configuration, secrets, sources, folders and port; exit code 1 where something is wrong.",
    ),
    "sources": ("sources", "The API surfaces of a configuration file."),
    "keys": ("keys", "Keys of the server: create, list, rotate, revoke."),
    "policy": ("policy", "The access policy: explain a decision, check the rules."),
    "auth": ("auth", "Logins at the services behind the sources."),
    "executions": ("executions:executions", "What programs have done, and how they go on."),
    "journal": ("journal", "The record of executions: check it."),
    "approvals": ("executions:approvals", "Calls that wait for a person."),
}

#: Commands that have commands of their own.
GROUPS = frozenset(("sources", "keys", "policy", "auth", "executions", "journal", "approvals"))


class _Commands(typer.core.TyperGroup):
    """The commands by name, each imported when it is run."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A stand-in that has a command's help."""
        if cmd_name not in COMMANDS:
            return None
        return typer.core.TyperCommand(cmd_name, help=COMMANDS[cmd_name][1])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command itself."""
        name, stand_in, rest = super().resolve_command(ctx, args)
        return name, stand_in if name is None else imported(name), rest


def imported(name: str) -> Any:
    """The command of that name, from its module."""
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
        sys.stdout.write(f"codemode {version('codemode')}\n")
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
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character shows its number
    app()
