"""The command line: `codemode demo | init | doctor | search | menu | run | tools | cost | serve | mcp | sources | …`.

Exit codes: 0 it worked; 1 the program did not complete, nothing was found, or `doctor` found something wrong; 2 wrong
usage or configuration; 3 a source cannot be read; 4 the sandbox is not available on this machine; 70 a mistake in
codemode itself; 74 something cannot be read or written.
"""

from __future__ import annotations

import asyncio
import io
import sys
from importlib.metadata import version
from pathlib import Path  # noqa: TC003 -- typer reads it at run time
from typing import Annotated, Any

import typer

from codemode.catalog.stubs import one_liner
from codemode.errors import ConfigurationError
from codemode.service import CodeMode
from codemode.serving import (
    cli_agent,
    cli_auth,
    cli_executions,
    cli_keys,
    cli_menu,
    cli_policy,
    cli_search,
    cli_setup,
    cli_sources,
)
from codemode.serving import console as show
from codemode.serving.surface import (
    AsJson,
    Role,
    Surface,
    errors_as_exit_codes,
    local_caller,
    on_surface,
    with_service,
)
from codemode.settings import DEFAULT_ROLE

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__.split("\n")[0])
app.add_typer(cli_search.app)
app.add_typer(cli_agent.app)
app.add_typer(cli_menu.app)
app.add_typer(cli_setup.app)
app.add_typer(cli_sources.app, name="sources")
app.add_typer(cli_keys.app, name="keys")
app.add_typer(cli_policy.app, name="policy")
app.add_typer(cli_auth.app, name="auth")
app.add_typer(cli_executions.executions, name="executions")
app.add_typer(cli_executions.approvals, name="approvals")


def _print_version(wanted: bool) -> None:  # noqa: FBT001 -- called by typer
    if wanted:
        show.console.print(f"codemode {version('codemode')}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[  # noqa: FBT002
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Any API surface as two tools for a model: search, and execute in a sandbox."""


@app.command()
def demo(as_json: AsJson = False) -> None:  # noqa: FBT002
    """Start the example services and run six programs against them."""
    from codemode.serving.demo import run_demo

    with errors_as_exit_codes():
        raise typer.Exit(asyncio.run(run_demo(as_json=as_json)))


@app.command()
@on_surface
def run(
    surface: Surface,
    file: Annotated[Path, typer.Argument(help="A program; - reads it from standard input.", allow_dash=True)],
    role: Role = DEFAULT_ROLE,
    resume_from: Annotated[str, typer.Option(help="An earlier execution, whose calls are not made again.")] = "",
    fresh_reads: Annotated[bool, typer.Option("--fresh-reads", help="But its reads are.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Run a program in the sandbox, with every tool bound in its namespace."""

    async def work(service: CodeMode) -> int:
        ended = await service.execute(
            _read_program(file), caller=local_caller(service, role), resume_from=resume_from, fresh_reads=fresh_reads
        )
        if as_json:
            show.print_json(ended.to_json())
        else:
            show.console.print(show.outcome(ended))
        return 0 if ended.ok else 1

    with_service(surface, work)


@app.command()
@on_surface
def tools(
    surface: Surface,
    namespace: Annotated[str, typer.Option(help="Only tools of this namespace, or below this part of an id.")] = "",
    role: Role = DEFAULT_ROLE,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """List every tool, a line each."""

    async def work(service: CodeMode) -> int:
        catalog = (await service.view(local_caller(service, role))).catalog
        found = sorted((tool for tool in catalog if _is_in(namespace, tool.id)), key=lambda tool: tool.id)
        if namespace and not found:
            known = ", ".join(sorted({tool.namespace for tool in catalog}))
            message = f"no tool has the namespace {namespace!r}; there are: {known}"
            raise ConfigurationError(message)
        if as_json:
            show.print_json([{"id": tool.id, "effect": tool.effect, "summary": tool.summary} for tool in found])
        else:
            for tool in found:
                show.console.print(show.plain(one_liner(tool)), soft_wrap=True)
        return 0 if found else 1

    with_service(surface, work)


@app.command()
@on_surface
def cost(
    surface: Surface,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """What the catalog costs a model: as native tools, as a menu, and as two tools."""

    async def work(service: CodeMode) -> int:
        report = service.cost()
        if as_json:
            show.print_json(report.to_json())
        else:
            show.console.print(show.cost(report))
        return 0

    with_service(surface, work)


@app.command()
@on_surface
def serve(
    surface: Surface,
    host: Annotated[str, typer.Option(help="Address to listen on; default from the configuration.")] = "",
    port: Annotated[
        int | None, typer.Option(help="Port; 0 takes a free one; default from the configuration.", min=0, max=65535)
    ] = None,
) -> None:
    """Serve search and execute over HTTP, and MCP at /mcp."""
    from codemode.serving.server import serve as serve_http

    with errors_as_exit_codes():
        settings = surface.settings()
        changes: dict[str, Any] = {"host": host} if host else {}
        if port is not None:
            changes["port"] = port
        own = settings.model_copy(update={"server": settings.server.model_copy(update=changes)})
        serve_http(own, surface.settings)


@app.command()
@on_surface
def mcp(
    surface: Surface,
    role: Role = DEFAULT_ROLE,
    menu: Annotated[bool, typer.Option("--menu", help="Serve a menu of native tools instead.")] = False,  # noqa: FBT002
) -> None:
    """Serve search and execute to one MCP client over standard input and output."""
    from codemode.serving.mcp_stdio import serve_stdio

    with errors_as_exit_codes():
        settings = surface.settings()
        if menu:
            settings = settings.model_copy(update={"server": settings.server.model_copy(update={"mcp": "menu"})})
        service = CodeMode.from_settings(settings)
        raise typer.Exit(asyncio.run(serve_stdio(service, local_caller(service, role))))


def main() -> None:
    """Entry point of the `codemode` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character shows its number
    app()


def _is_in(namespace: str, id_: str) -> bool:
    return not namespace or id_.startswith(f"{namespace.rstrip('.')}.")


def _read_program(file: Path) -> str:
    if str(file) == "-":
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"the program {file} cannot be read: {reason}"
        raise ConfigurationError(message) from None
