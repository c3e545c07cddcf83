"""`codemode serve` and `codemode mcp`: the long-running servers."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Annotated, Any

import typer

from codemode.serving.cli.surface import Role, Strict, Surface, errors_as_exit_codes, local_caller, on_surface
from codemode.serving.mcp.greeting import Input, Server
from codemode.settings import DEFAULT_ROLE

app = typer.Typer()


@app.command()
@on_surface
def serve(
    surface: Surface,
    host: Annotated[str, typer.Option(help="Address to listen on. Default: server.host.")] = "",
    port: Annotated[
        int | None, typer.Option(help="Port to listen on, 0 for a free one. Default: server.port.", min=0, max=65535)
    ] = None,
    strict: Strict = False,  # noqa: FBT002
) -> None:
    """Serve search and execute over HTTP, and MCP at /mcp."""
    with errors_as_exit_codes():
        settings = surface.settings()
        changes: dict[str, Any] = {"host": host} if host else {}
        if port is not None:
            changes["port"] = port
        own = settings.model_copy(update={"server": settings.server.model_copy(update=changes)})
        from codemode.serving.http.server import serve as serve_http

        serve_http(own, surface.settings, strict=strict)


@app.command()
@on_surface
def mcp(
    surface: Surface,
    role: Role = DEFAULT_ROLE,
    menu: Annotated[bool, typer.Option("--menu", help="Serve a menu of native tools instead.")] = False,  # noqa: FBT002
    strict: Strict = False,  # noqa: FBT002
) -> None:
    """Serve search and execute to one MCP client over standard input and output."""
    with errors_as_exit_codes():
        settings = surface.settings()
        if menu:
            settings = settings.model_copy(update={"server": settings.server.model_copy(update={"mcp": "menu"})})
        is_menu = settings.server.mcp == "menu"
        greeted = Input(Server(version("codemode"), is_menu=is_menu, has_tasks=settings.keeps_journal))
        # the imports below take a second
        from codemode.service import CodeMode
        from codemode.serving.mcp.stdio import serve_stdio

        service = CodeMode.from_settings(settings, strict=strict)
        raise typer.Exit(asyncio.run(serve_stdio(service, local_caller(service, role), greeted)))
