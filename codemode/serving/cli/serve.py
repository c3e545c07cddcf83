"""`codemode serve`: the HTTP server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from codemode.serving.cli.project_options import ProjectOptions, Strict, with_project_options
from codemode.serving.output.exit_codes import errors_as_exit_codes

if TYPE_CHECKING:
    from codemode.settings import Settings

app = typer.Typer()


@app.command()
@with_project_options
def serve(
    project: ProjectOptions,
    host: Annotated[str, typer.Option(help="Address to listen on. Default: server.host.")] = "",
    port: Annotated[
        int | None, typer.Option(help="Port to listen on, 0 for a free one. Default: server.port.", min=0, max=65535)
    ] = None,
    processes: Annotated[
        int | None, typer.Option(help="Server processes on that port. Default: server.processes.", min=1, max=64)
    ] = None,
    strict: Strict = False,  # noqa: FBT002
) -> None:
    """Serve search and execute over HTTP, and MCP at /mcp."""
    with errors_as_exit_codes():
        changes: dict[str, Any] = {"host": host} if host else {}
        if port is not None:
            changes["port"] = port
        if processes is not None:
            changes["processes"] = processes

        def read(*, asks: bool = False) -> Settings:
            settings = project.settings(asks=asks)
            return settings.model_copy(update={"server": settings.server.model_copy(update=changes)})

        own = read(asks=True)
        from codemode.serving.application.server import serve as serve_http

        serve_http(own, read, strict=strict)
