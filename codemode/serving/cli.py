"""The command line: `codemode demo | search | run | tools | cost | serve`.

Exit codes: 0 it worked; 1 the program did not complete, or nothing was found; 2 wrong usage or configuration;
3 a source cannot be read; 4 the sandbox is not available on this machine.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codemode.catalog.stubs import one_liner
from codemode.errors import CodeModeError, ConfigurationError, SourceError
from codemode.service import CodeMode
from codemode.serving import console as show
from codemode.serving.demo import run_demo
from codemode.serving.server import serve as serve_http
from codemode.settings import DEFAULT_FILE, SecretReference, Settings, load_settings, settings_for_document
from sandbox import SandboxError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__.split("\n")[0])

Config = Annotated[Path, typer.Option("--config", "-c", help="Configuration file.")]
Source = Annotated[str, typer.Option("--source", help="One document instead of a file: a path or a URL.")]
BaseUrl = Annotated[str, typer.Option("--base-url", help="With --source: where its operations are answered.")]
Name = Annotated[str, typer.Option("--name", help="With --source: the namespace of its tools.")]
BearerEnv = Annotated[
    str, typer.Option("--bearer-env", help="With --source: environment variable with a bearer token.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for another program.")]


@dataclass(frozen=True)
class Surface:
    """What a command works on: a configuration file, or one document."""

    config: Path
    source: str
    base_url: str
    name: str
    bearer_env: str

    def settings(self) -> Settings:
        """Raises ConfigurationError."""
        if not self.source:
            if self.base_url or self.name or self.bearer_env:
                message = "--base-url, --name and --bearer-env go with --source"
                raise ConfigurationError(message)
            return load_settings(self.config)
        bearer = SecretReference(env=self.bearer_env) if self.bearer_env else None
        bearer = SecretReference(env=self.bearer_env) if self.bearer_env else None
        return settings_for_document(self.source, base_url=self.base_url, name=self.name, bearer=bearer)


@app.command()
def demo() -> None:
    """Start the example service and run five programs against it."""
    with _errors_as_exit_codes():
        raise typer.Exit(asyncio.run(run_demo()))


@app.command()
def search(
    queries: Annotated[list[str], typer.Argument(help="What to look for; one query for each step of a plan.")],
    namespace: Annotated[str, typer.Option(help="Only tools of this namespace.")] = "",
    full: Annotated[bool, typer.Option("--full", help="All there is to know about the best hit.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = Path(DEFAULT_FILE),
    source: Source = "",
    base_url: BaseUrl = "",
    name: Name = "",
    bearer_env: BearerEnv = "",
) -> None:
    """Find tools, answered with signatures that a program can call."""

    async def work(service: CodeMode) -> int:
        answer = await service.search(queries, namespace=namespace or None, detail="full" if full else "auto")
        if as_json:
            show.print_json(answer.to_json())
        else:
            show.console.print(answer.text, markup=False, soft_wrap=True)
        return 0 if answer.hits else 1

    _with_service(Surface(config, source, base_url, name, bearer_env), work)


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="A program; - reads it from standard input.", allow_dash=True)],
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = Path(DEFAULT_FILE),
    source: Source = "",
    base_url: BaseUrl = "",
    name: Name = "",
    bearer_env: BearerEnv = "",
) -> None:
    """Run a program in the sandbox, with every tool bound in its namespace."""

    async def work(service: CodeMode) -> int:
        ended = await service.execute(_read_program(file))
        if as_json:
            show.print_json(ended.to_json())
        else:
            show.console.print(show.outcome(ended))
        return 0 if ended.ok else 1

    _with_service(Surface(config, source, base_url, name, bearer_env), work)


@app.command()
def tools(
    namespace: Annotated[str, typer.Option(help="Only tools of this namespace.")] = "",
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = Path(DEFAULT_FILE),
    source: Source = "",
    base_url: BaseUrl = "",
    name: Name = "",
    bearer_env: BearerEnv = "",
) -> None:
    """List every tool, a line each."""

    async def work(service: CodeMode) -> int:
        found = sorted(
            (tool for tool in service.catalog.tools if namespace in ("", tool.namespace)), key=lambda tool: tool.id
        )
        if as_json:
            show.print_json([{"id": tool.id, "effect": tool.effect, "summary": tool.summary} for tool in found])
        else:
            for tool in found:
                show.console.print(one_liner(tool), markup=False, soft_wrap=True)
        return 0 if found else 1

    _with_service(Surface(config, source, base_url, name, bearer_env), work)


@app.command()
def cost(
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = Path(DEFAULT_FILE),
    source: Source = "",
    base_url: BaseUrl = "",
    name: Name = "",
    bearer_env: BearerEnv = "",
) -> None:
    """What the catalog costs a model: as native tools, as a menu, and as two tools."""

    async def work(service: CodeMode) -> int:
        report = service.cost()
        if as_json:
            show.print_json(report.to_json())
        else:
            show.console.print(show.cost(report))
        return 0

    _with_service(Surface(config, source, base_url, name, bearer_env), work)


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; default from the configuration.")] = "",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=-1, max=65535)] = -1,
    config: Config = Path(DEFAULT_FILE),
    source: Source = "",
    base_url: BaseUrl = "",
    name: Name = "",
    bearer_env: BearerEnv = "",
) -> None:
    """Serve search and execute over HTTP."""
    with _errors_as_exit_codes():
        settings = Surface(config, source, base_url, name, bearer_env).settings()
        changes: dict[str, Any] = {"host": host} if host else {}
        if port >= 0:
            changes["port"] = port
        serve_http(settings.model_copy(update={"server": settings.server.model_copy(update=changes)}))


def main() -> None:
    """Entry point of the `codemode` command."""
    app()


def _with_service(surface: Surface, work: Callable[[CodeMode], Awaitable[int]]) -> None:
    async def entered() -> int:
        async with CodeMode.from_settings(surface.settings()) as service:
            for name, source in service.sources.items():
                if source.warnings:
                    show.errors.print(f"{name}: {len(source.warnings)} warnings while reading it", style="dim")
            return await work(service)

    with _errors_as_exit_codes():
        raise typer.Exit(asyncio.run(entered()))


@contextmanager
def _errors_as_exit_codes() -> Iterator[None]:
    try:
        yield
    except SourceError as error:
        code, text = 3, str(error)
    except CodeModeError as error:
        code, text = 2, str(error)
    except SandboxError as error:
        code, text = 4, str(error)
    except KeyboardInterrupt:
        code, text = 130, "interrupted"
    else:
        return
    show.errors.print(text, markup=False, style="red", soft_wrap=True)
    raise typer.Exit(code)


def _read_program(file: Path) -> str:
    if str(file) == "-":
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"the program {file} cannot be read: {reason}"
        raise ConfigurationError(message) from None
