"""Create sources from their configuration: read the tools, apply overrides, connect the transport."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codemode.catalog.tool import Effect
from codemode.errors import ConfigurationError, SourceError
from codemode.settings import namespace
from codemode.sources.connections import with_choice
from codemode.sources.constants import with_constants
from codemode.sources.detection import detect_kind
from codemode.sources.functions.source import load_functions
from codemode.sources.loaded import SourceWarning, Surface
from codemode.sources.openings import told_apart
from codemode.sources.overrides import DeclaredPages, Overrides, apply_overrides, withheld_names
from codemode.sources.registry import source_of
from codemode.sources.source import SourceContext
from codemode.sources.toolkits.source import BoundTools
from codemode.text.clock import clock_in
from codemode.transports.absent import AbsentTransport
from codemode.transports.function import FunctionTransport

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.settings import SourceSettings
    from codemode.shared.values import ValueStore
    from codemode.sources.loaded import Failure
    from codemode.text.clock import Clock
    from codemode.transports.base import Transport
    from codemode.transports.content import ContentStore
    from codemode.transports.mcp.transport import Definitions


@dataclass(frozen=True, slots=True)
class LoadedSource:
    """A source that is ready for calls. Close its transport with `aclose`."""

    name: str
    surface: Surface
    transport: Transport

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, with the operator's overrides applied."""
        return self.surface.tools

    @property
    def failure(self) -> Failure | None:
        """Why the tools are not current. None if they are."""
        return self.surface.failure

    @property
    def warnings(self) -> tuple[SourceWarning, ...]:
        """The problems that were found while reading."""
        return self.surface.warnings


async def load_source(name: str, settings: SourceSettings, context: SourceContext | None = None) -> LoadedSource:
    """Read a source.

    With `kind: auto`, the kind of a document that is not an API document is detected from its content. Raises
    SourceError or ConfigurationError; both name the file or URL and say what to do.
    """
    context = context or SourceContext()
    try:
        surface, transport = await source_of(settings.own_kind)(name, settings, context)
    except SourceError:
        kind = await detect_kind(name, settings, context) if settings.is_document and settings.kind == "auto" else None
        if kind is None:
            raise
        unfitting = settings.unfitting(kind)
        if unfitting is not None:
            message = f"sources.{name}.{unfitting}"
            raise ConfigurationError(message) from None
        surface, transport = await source_of(kind)(name, settings, context)
    try:
        _require_own(name, surface)
        return LoadedSource(name, _with_overrides(name, surface, settings), transport)
    except (ConfigurationError, SourceError):
        await transport.aclose()
        raise


def _require_own(name: str, surface: Surface) -> None:
    """Raise SourceError for tools outside of the source's namespace, and for two tools of one id."""
    ids = Counter(tool.id for tool in surface.tools)
    repeated = [id_ for id_, uses in ids.items() if uses > 1]
    foreign = [tool.id for tool in surface.tools if tool.source != name or tool.namespace != name]
    if repeated:
        message = f"{name} lists two tools as {repeated[0]}"
        raise SourceError(message)
    if foreign:
        message = f"{name} lists the tool {foreign[0]!r}, which is not in its namespace {name!r}"
        raise SourceError(message)


def bind_functions(name: str, target: object, contents: ContentStore | None = None) -> LoadedSource:
    """Return the functions of `target` as a source; see `load_functions`. Raises SourceError or ConfigurationError."""
    namespace(name)
    surface = target.surface(name) if isinstance(target, BoundTools) else load_functions(target, name=name)
    surface = replace(surface, tools=told_apart(surface.tools))
    return LoadedSource(name, surface, FunctionTransport(name, contents=contents))


def absent_source(name: str, failure: Failure) -> LoadedSource:
    """Return a source without tools. `failure` says why."""
    surface = Surface((), (SourceWarning("", failure.message),), failure=failure)
    return LoadedSource(name, surface, AbsentTransport(name, failure.message))


def accepted_source(name: str, settings: SourceSettings, failure: Failure, store: ValueStore) -> LoadedSource:
    """Return an unreachable MCP server with the tools that were accepted before. Raises ConfigurationError."""
    from codemode.sources.mcp.definitions import AcceptedDefinitions, tools_of

    accepted = AcceptedDefinitions(store)
    tools, _ = tools_of(name, tuple(accepted.read(name).values()))
    description = accepted.instructions(name) or ""
    surface = Surface(tools, (SourceWarning("", failure.message),), failure=failure, description=description)
    return LoadedSource(name, _with_overrides(name, surface, settings), AbsentTransport(name, failure.message))


def with_definitions(
    source: LoadedSource, settings: SourceSettings, definitions: Definitions, store: ValueStore
) -> LoadedSource:
    """Return an MCP source with its current definitions. Changed ones are left out until the operator accepts them."""
    from codemode.sources.mcp.definitions import AcceptedDefinitions, surface_of

    surface = surface_of(source.name, definitions, AcceptedDefinitions(store))
    return replace(source, surface=_with_overrides(source.name, surface, settings))


def _with_overrides(name: str, surface: Surface, settings: SourceSettings) -> Surface:
    """Return the surface with the operator's overrides, which become part of its digest. Raises ConfigurationError."""
    surface = replace(surface, clock=_clock(surface, settings))
    if surface.failure is not None and not surface.tools:
        return surface  # without tools, every override would be rejected as unknown
    overrides = Overrides(
        include=settings.include,
        exclude=settings.exclude,
        rename=settings.rename,
        describe=settings.describe,
        effect={pattern: Effect(effect) for pattern, effect in settings.effect.items()},
        examples=settings.examples,
        tier=settings.tier,
        revert=settings.revert,
        fields=settings.fields,
        pages={pattern: DeclaredPages(pages.words, pages.start) for pattern, pages in settings.pages.items()},
    )
    every = with_constants(told_apart((*surface.tools, *surface.held)), settings.parameters, source=name)
    every = with_choice(every, settings.connections)
    choice = " with accounts" if len(settings.connections) > 1 else ""
    changed = apply_overrides(every, overrides, source=name)
    waiting = {tool.key for tool in surface.held}
    return replace(
        surface,
        tools=tuple(tool for tool in changed if tool.key not in waiting),
        held=tuple(tool for tool in changed if tool.key in waiting),
        withheld=withheld_names(every, changed, surface.withheld),
        digest=f"{surface.digest} {overrides!r} {settings.parameters!r}{choice}" if surface.digest else "",
    )


def _clock(surface: Surface, settings: SourceSettings) -> Clock:
    """Return the configured clock, else the one that the description states."""
    return clock_in(surface.description) if settings.clock is None else settings.clock.clock
