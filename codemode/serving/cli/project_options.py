"""Shared parts of all commands: options for the configuration, the service, and exit codes."""

from __future__ import annotations

import inspect
from contextlib import AsyncExitStack, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codemode.errors import ConfigurationError, SourceError
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import (
    DEFAULT_FILE,
    DEFAULT_ROLE,
    ConfigurationUntrusted,
    SecretReference,
    Settings,
    load_settings,
    settings_for_document,
)
from codemode.shared.callbacks import ignore
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.cli.loading import LoadingBars

#: The configuration file of a command without --config: found in the folder, and named by nobody.
FOUND = Path(DEFAULT_FILE)


def _named(context: typer.Context, value: Path) -> Path:
    source = context.get_parameter_source("config")
    return FOUND if source is None or source.name == "DEFAULT" else value


Config = Annotated[Path, typer.Option("--config", "-c", callback=_named, help="Configuration file.")]
_WITHOUT = "Without a configuration file"
Source = Annotated[str, typer.Option("--source", help="A document, as a path or URL.", rich_help_panel=_WITHOUT)]
BaseUrl = Annotated[str, typer.Option("--base-url", help="Base URL of its operations.", rich_help_panel=_WITHOUT)]
Name = Annotated[str, typer.Option("--name", help="Namespace of its tools.", rich_help_panel=_WITHOUT)]
BearerEnv = Annotated[
    str,
    typer.Option("--bearer-env", help="Environment variable with a bearer token.", rich_help_panel=_WITHOUT),
]
Role = Annotated[str, typer.Option("--role", help="Act as this role of the policy.")]
Strict = Annotated[bool, typer.Option("--strict", help="Do not start if a source cannot be read.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
YesTo = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Approve calls of these tools without asking, as gym.salary.*. Repeatable."),
]
NoInput = Annotated[bool, typer.Option("--no-input", help="Ask nothing: a call that needs a person pauses.")]


def configuration(config: Path, *, needs_sources: bool = True, asks: bool = True) -> Settings:
    """Load the configuration of a command. At a terminal, a file without trust is asked about, if `asks`.

    Raises ConfigurationError.
    """
    try:
        return load_settings(config, needs_sources=needs_sources, is_named=config is not FOUND)
    except ConfigurationUntrusted as untrusted:
        from codemode.serving.cli.consent import ask_for_trust

        if not asks or not ask_for_trust(untrusted):
            raise
    return load_settings(config, needs_sources=needs_sources, is_named=False)


@dataclass(frozen=True)
class Project:
    """A configuration file, or one document, which name a project. The fields are command-line options.

    For commands that only read what the project has stored.
    """

    config: Config = FOUND
    source: Source = ""
    base_url: BaseUrl = ""
    name: Name = ""

    def settings(self, *, asks: bool = True) -> Settings:
        """Load the settings. See `configuration` for `asks`. Raises ConfigurationError."""
        if not self.source:
            useless = self._useless()
            if useless:
                message = f"{', '.join(useless)} {'needs' if len(useless) == 1 else 'need'} --source"
                raise ConfigurationError(message)
            return configuration(self.config, asks=asks)
        if self.config is not FOUND:
            message = "--config and --source exclude each other: use one of them"
            raise ConfigurationError(message)
        return settings_for_document(self.source, base_url=self.base_url, name=self.name, bearer=self._bearer())

    def _useless(self) -> list[str]:
        """Return the given options that have no effect without --source."""
        given = {"--base-url": self.base_url, "--name": self.name}
        return [option for option, value in given.items() if value]

    def _bearer(self) -> SecretReference | None:
        return None


@dataclass(frozen=True)
class ProjectOptions(Project):
    """A configuration file, or one document and its credentials. For commands that read the sources."""

    bearer_env: BearerEnv = ""

    def _useless(self) -> list[str]:
        return [*super()._useless(), *(["--bearer-env"] if self.bearer_env else [])]

    def _bearer(self) -> SecretReference | None:
        return SecretReference(env=self.bearer_env) if self.bearer_env else None


def with_project_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `ProjectOptions` or `Project` to a command with a parameter `project` of that type."""
    own = inspect.signature(command, eval_str=True)
    kind = own.parameters["project"].annotation
    options = inspect.signature(kind, eval_str=True).parameters
    kept = [parameter for name, parameter in own.parameters.items() if name != "project"]

    def with_options(**given: Any) -> None:
        project = kind(**{name: given.pop(name) for name in options})
        command(project=project, **given)

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*kept, *options.values())]
    with_options.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    with_options.__doc__ = command.__doc__
    with_options.__name__ = command.__name__
    return with_options


def with_service(
    project: Project,
    work: Callable[[CodeMode], Awaitable[int]],
    *,
    only: Sequence[str] = (),
    strict: bool = False,
    needs_sources: bool = True,
    needs_search: bool = True,
    calls: bool = True,
    as_json: bool = False,
) -> None:
    """Enter the service, do the work, and exit with its exit code. Errors are printed as JSON with `as_json`.

    `only` limits the service to these sources. With `--source` the document must be readable. Without `needs_sources`,
    sources are read when the work first needs them. Without `needs_search`, the same holds for indexing their tools.
    Without `calls`, MCP servers whose definitions are known are not started.
    """

    async def entered() -> int:
        import asyncio

        from codemode.service import CodeMode
        from codemode.serving.output import terminal as show

        settings = _narrowed(project.settings(), only) if only else project.settings()
        bars = None if as_json else loading_bars()
        service = CodeMode.from_settings(
            settings, strict=strict or bool(project.source), progress=bars.update if bars else ignore
        )
        service.discovery.indexes_early, service.discovery.connects = needs_search, calls
        async with AsyncExitStack() as entering:
            if needs_sources:
                with bars.shown() if bars else nullcontext():
                    await entering.enter_async_context(service)
                report_sources(service)
            else:
                entering.push_async_callback(service.aclose)
                await service.open()
            try:
                return await work(service)
            except asyncio.CancelledError as cancelled:
                for note in getattr(cancelled, "__notes__", ()):
                    show.errors.print(show.plain(note, style="yellow"), soft_wrap=True)
                raise

    with errors_as_exit_codes(as_json=as_json):
        raise typer.Exit(run_until_signal(entered()))


def loading_bars() -> LoadingBars | None:
    """Return progress bars on standard error, None if it cannot draw them."""
    from codemode.serving.output import terminal as show

    if not show.errors.is_interactive:
        return None
    from codemode.serving.cli.loading import LoadingBars

    return LoadingBars(show.errors)


def report_sources(service: CodeMode) -> None:
    """Print new warnings about sources. Raises SourceError if no source could be read."""
    from codemode.serving.output.shown_warnings import show_warnings

    failures = [source.failure for source in service.sources.values() if source.failure and not source.tools]
    if failures and len(failures) == len(service.settings.sources):
        raise SourceError("\n".join(failure.message for failure in failures))
    show_warnings(service.sources, service.settings.cache())


def _narrowed(settings: Settings, names: Sequence[str]) -> Settings:
    """Return settings with these sources only, and without keys that may refer to others. Raises ConfigurationError."""
    unknown = next((name for name in names if name not in settings.sources), None)
    if unknown is not None:
        from codemode.serving.cli.configuration_file import no_source

        raise no_source(unknown, settings.sources)
    sources = {name: settings.sources[name] for name in names}
    kept = {"name": settings.project, "state_folder": settings.state_folder, "cache_folder": settings.cache_folder}
    return Settings.model_validate({"sources": sources, **kept})


def run_until_signal(work: Coroutine[Any, Any, int]) -> int:
    """Run to the end. SIGTERM and SIGHUP cancel the work as Ctrl-C does, so that a program ends properly."""
    import asyncio
    import signal

    signals: list[int] = []

    async def watched() -> int:
        task = asyncio.ensure_future(work)

        def end(number: int) -> None:
            signals.append(number)
            task.cancel()

        for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            if signal.getsignal(number) is signal.SIG_DFL:  # otherwise the parent wants it ignored, as nohup does
                with suppress(NotImplementedError):  # Windows
                    asyncio.get_running_loop().add_signal_handler(number, end, number)
        return await task

    try:
        return asyncio.run(watched())
    except asyncio.CancelledError:
        if not signals:
            raise
        return 128 + signals[0]


def local_caller(service: CodeMode, role: str) -> Caller:
    """Return the local caller in a role of the policy. Raises ConfigurationError if the role is unknown."""
    if role not in service.discovery.policy.roles:
        raise no_role(role, service.discovery.policy.roles)
    from codemode.gateway.caller import LOCAL

    return replace(LOCAL, role=role)


def operator_of(service: CodeMode) -> Caller:
    """Return the caller who decides at this command line: an approver, and the owner of no execution."""
    from codemode.gateway.caller import Caller

    return Caller("operator", next(iter(service.settings.policy.approvers), DEFAULT_ROLE))


def no_role(role: str, known: Sequence[str]) -> ConfigurationError:
    """Return the error for an unknown role."""
    valid = f"valid: {', '.join(known)} (policy.roles)"
    return ConfigurationError(f"there is no role {role!r}; {valid}{did_you_mean(role, known)}")
