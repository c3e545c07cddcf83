"""The command line: `codemode demo | init | doctor | run | search | serve | …`, and `codemode admin …` for the others.

Exit codes: 0 success; 1 the program did not complete, nothing was found, or `doctor` found a failure; 2 wrong usage or
configuration; 3 unreadable source; 4 the sandbox is not available on this machine; 70 a bug in codemode; 74 a file
cannot be read or written; 75 the program waits for a person; 130 interrupted.
"""

from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
import typer.core
import typer.main
from rich.markup import escape

from codemode import __version__
from codemode.serving.cli.examples import EXAMPLES
from codemode.serving.cli.usage import UsageError, print_usage_error, wants_json, with_nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

_PACKAGE = "codemode.serving.cli"


_START, _USE, _SERVE = "Set up", "Search and run", "Serve and govern"
_CONFIGURE, _CATALOG, _GOVERN, _IMPROVE = "Configuration", "Catalog", "Executions and people", "Measure and tune"

#: Panels below `codemode admin`. Their commands are hidden names of the top level too, for scripts.
_ADMIN_PANELS = frozenset((_CONFIGURE, _CATALOG, _GOVERN, _IMPROVE))


class Command(NamedTuple):
    """Module, help and help panel of a command. A module without a dot is one of this package.

    The module has the command in `app`, or in the attribute after the colon.
    """

    module: str
    help: str
    panel: str

    @property
    def is_admin(self) -> bool:
        """Whether `codemode admin --help` lists it, and `codemode --help` does not."""
        return self.panel in _ADMIN_PANELS


#: Running a command imports its module only; `codemode --help` imports none.
COMMANDS = {
    "demo": Command("run", "Show on one screen what codemode does, against two example services.", _START),
    "init": Command(
        "setup", "Write a first configuration from the given API documents, or those found in this folder.", _START
    ),
    "doctor": Command(
        "setup", "Check isolation, configuration, secrets, sources, folders and port. Exit code 1 on a failure.", _START
    ),
    "config": Command(
        "config", "Check a configuration file, explain its keys, and print their JSON Schema.", _CONFIGURE
    ),
    "trust": Command(
        "trust",
        "Show what the configuration file of this folder would run, read and send, and trust it as it is.",
        _CONFIGURE,
    ),
    "sources": Command("sources", "Manage the sources of a configuration file.", _START),
    "auth": Command("auth", "Log in to the services behind the sources.", _START),
    "run": Command("run", "Run a program in the sandbox, with all tools in their namespaces.", _USE),
    "call": Command(
        "run",
        "Call one tool, and print its result as JSON. The policy, the journal and approvals apply as in a program.",
        _USE,
    ),
    "tools": Command("run", "List all tools, one per line, or as a tree.", _CATALOG),
    "search": Command("search", "Find tools. Hits include signatures that a program can call.", _USE),
    "cost": Command(
        "cost",
        "Show what the catalog costs a model in tokens: as native tools, all or deferred, as a menu, and as two tools.",
        _CATALOG,
    ),
    "menu": Command(
        "menu", "Show the tools offered for a message to a model that cannot write code, and why.", _CATALOG
    ),
    "chat": Command(
        "agent", "Chat with a model that has the tools. Shows its programs, their calls and the cost.", _USE
    ),
    "serve": Command("serve", "Serve search and execute over HTTP, and MCP at /mcp.", _SERVE),
    "mcp": Command("mcp", "Serve search and execute to one MCP client over standard input and output.", _SERVE),
    "keys": Command("keys", "Manage server keys: create, list, rotate, revoke.", _SERVE),
    "policy": Command("policy", "Explain decisions of the access policy, and check its rules.", _GOVERN),
    "approvals": Command("executions:approvals", "Show calls that wait for a person, and decide on them.", _SERVE),
    "plans": Command("plans", "Show the lists of dry runs, approve them as a whole, and run them.", _GOVERN),
    "executions": Command("executions:executions", "Show, continue, cancel and roll back executions.", _GOVERN),
    "login": Command(
        "servers:login_app",
        "Log in to a codemode server elsewhere, at the issuer of its tokens, for scripts that call it.",
        _GOVERN,
    ),
    "logout": Command(
        "servers:logout_app",
        "Delete the token of a codemode server elsewhere. If its issuer has a revocation endpoint, revoke it too.",
        _GOVERN,
    ),
    "content": Command("content", "Read and store images and files of programs.", _GOVERN),
    "notify": Command("notify", "Test and show messages to people about what waits for them.", _GOVERN),
    "saved": Command("saved", "Manage saved programs: good programs that became tools.", _GOVERN),
    "journal": Command("journal", "Check, copy, restore, migrate and shrink the journal of executions.", _GOVERN),
    "measure": Command(
        "codemode.bench.cli",
        "Measure a model on tasks, your own or of others, and search and menus on your tools.",
        _IMPROVE,
    ),
}

#: Words of commands that have another name now. The first ones that a command line begins with are replaced.
RENAMED = {
    ("bench", "report"): ("measure", "report"),
    ("bench", "run"): ("measure", "suite"),
    ("bench",): ("measure",),
    ("embed",): ("measure", "embeddings"),
    ("eval",): ("measure", "suite", "--mode", "native,menu,code"),
    ("menu-tune",): ("measure", "menu"),
    ("search-eval",): ("measure", "search"),
}


class _Commands(typer.core.TyperGroup):
    """Commands by name. Each module is imported when its command runs."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the real command."""
        name, stand_in, rest = super().resolve_command(ctx, args)
        return name, imported(name) if name in COMMANDS else stand_in, rest


def _stand_in(name: str, *, hidden: bool = False) -> typer.core.TyperCommand:
    """Return what a help page lists in place of a command, whose module is not imported yet."""
    command = COMMANDS[name]
    return typer.core.TyperCommand(name, help=command.help, rich_help_panel=command.panel, hidden=hidden)


def _admin() -> _Commands:
    return _Commands(
        name="admin",
        help="All other commands: configuration, catalog, executions, measurements.",
        commands={name: _stand_in(name) for name, command in COMMANDS.items() if command.is_admin},
        no_args_is_help=True,
        rich_markup_mode="rich",
        rich_help_panel=_SERVE,
        epilog="Example: [bold]codemode admin executions list[/]. The word `admin` may be left out.",
    )


class _CommandLine(_Commands):
    """The commands of the top level, and `admin`."""

    def __init__(self, **attributes: Any) -> None:
        commands = {name: _stand_in(name, hidden=command.is_admin) for name, command in COMMANDS.items()}
        super().__init__(**{**attributes, "commands": {**commands, "admin": _admin()}})

    def invoke(self, ctx: Any) -> Any:
        """Run a command. A rejected choice is reported with the nearest valid one."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = with_nearest(error.message)
            raise

    def main(self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **more: Any) -> Any:  # type: ignore[override]
        """Run the command line. With `--json`, usage errors are JSON too."""
        words = _with_new_names(list(sys.argv[1:] if args is None else args))
        if not standalone_mode or not wants_json(words):
            return super().main(words, standalone_mode=standalone_mode, **more)
        try:
            code = super().main(words, standalone_mode=False, **more)
        except UsageError as error:
            code = print_usage_error(error)
        except typer.Abort:
            code = 1
        return sys.exit(code)


def _with_new_names(words: list[str]) -> list[str]:
    """Return a command line with the new name of its command, which is reported on standard error."""
    for old, new in RENAMED.items():
        if tuple(words[: len(old)]) == old:
            sys.stderr.write(f"`codemode {' '.join(old)}` is `codemode {' '.join(new)}` now\n")
            return [*new, *words[len(old) :]]
    return words


def imported(name: str) -> Any:
    """Import and return the command of that name, with examples in its help."""
    module, _, attribute = COMMANDS[name].module.partition(":")
    location = module if "." in module else f"{_PACKAGE}.{module}"
    group = typer.main.get_group(getattr(import_module(location), attribute or "app"))
    if name in group.commands:
        return _with_example(name, group.commands[name])
    group.name = name
    for subcommand, command in group.commands.items():
        _with_example(f"{name} {subcommand}", command)
    return _with_example(name, group)


def _with_example(name: str, command: Any) -> Any:
    command.epilog = f"Example: [bold]{escape(EXAMPLES[name])}[/]"
    return command


app = typer.Typer(
    cls=_CommandLine,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog="Example: [bold]codemode demo[/], then [bold]codemode COMMAND --help[/]\n\n"
    "Other commands: [bold]codemode admin --help[/]",
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
    """Any API project as two tools for a model: search, and execute in a sandbox."""


def main() -> None:
    """Entry point of the `codemode` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # characters the terminal cannot show are escaped
    app()
