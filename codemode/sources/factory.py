"""From the configuration of a source to its tools and the transport that reaches them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codemode.catalog.tool import Effect
from codemode.errors import ConfigurationError, SourceError
from codemode.settings import namespace
from codemode.sources.detection import recognised
from codemode.sources.functions.source import load_functions
from codemode.sources.loaded import SourceWarning, Surface
from codemode.sources.overrides import Overrides, apply_overrides
from codemode.sources.registry import source_of
from codemode.sources.source import SourceContext
from codemode.sources.toolkits.source import BoundTools
from codemode.transports.absent import AbsentTransport
from codemode.transports.function import FunctionTransport

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.catalog.tool import Tool
    from codemode.settings import SourceSettings
    from codemode.sources.loaded import Failure
    from codemode.transports.base import Transport
    from codemode.transports.mcp.transport import Definitions


@dataclass(frozen=True, slots=True)
class LoadedSource:
    """A source ready to use: what was read of it, and its transport (close it with `aclose`)."""

    name: str
    surface: Surface
    transport: Transport

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Its tools, as the operator wants them."""
        return self.surface.tools

    @property
    def failure(self) -> Failure | None:
        """Why these are the tools of the last time, or none; None where they are those of now."""
        return self.surface.failure

    @property
    def warnings(self) -> tuple[SourceWarning, ...]:
        """What could not be read as it is written."""
        return self.surface.warnings


async def load_source(name: str, settings: SourceSettings, context: SourceContext | None = None) -> LoadedSource:
    """Read a source. Raises SourceError or ConfigurationError, which name the file or URL and what to do.

    Where the configuration does not say its kind, and it is no API document, what it holds tells.
    """
    context = context or SourceContext()
    try:
        surface, transport = await source_of(settings.own_kind)(name, settings, context)
    except SourceError:
        kind = await recognised(name, settings, context) if settings.is_document and settings.kind == "auto" else None
        if kind is None:
            raise
        surface, transport = await source_of(kind)(name, settings, context)
    try:
        return LoadedSource(name, _changed(name, surface, settings), transport)
    except ConfigurationError:
        await transport.aclose()
        raise


def bind_functions(name: str, target: object) -> LoadedSource:
    """The functions of `target` as a source; see `load_functions`. Raises SourceError, ConfigurationError."""
    namespace(name)
    surface = target.surface(name) if isinstance(target, BoundTools) else load_functions(target, name=name)
    return LoadedSource(name, surface, FunctionTransport(name))


def absent_source(name: str, failure: Failure) -> LoadedSource:
    """A source of which no tool is known, and why."""
    return LoadedSource(
        name, Surface((), (SourceWarning("", failure.said),), failure=failure), AbsentTransport(name, failure.said)
    )


def accepted_source(name: str, settings: SourceSettings, failure: Failure, servers: Path) -> LoadedSource:
    """An MCP server that is not there, with the tools that were accepted of it before. Raises ConfigurationError."""
    from codemode.sources.mcp.definitions import AcceptedDefinitions, tools_of

    tools, _ = tools_of(name, tuple(AcceptedDefinitions(servers).read(name).values()))
    surface = Surface(tools, (SourceWarning("", failure.said),), failure=failure)
    return LoadedSource(name, _changed(name, surface, settings), AbsentTransport(name, failure.said))


def with_definitions(
    source: LoadedSource, settings: SourceSettings, definitions: Definitions, servers: Path
) -> LoadedSource:
    """An MCP server's source with the definitions that it gives now, which its operator may have to accept."""
    from codemode.sources.mcp.definitions import AcceptedDefinitions, surface_of

    surface = surface_of(source.name, definitions, AcceptedDefinitions(servers))
    return replace(source, surface=_changed(source.name, surface, settings))


def _changed(name: str, surface: Surface, settings: SourceSettings) -> Surface:
    """The surface with the operator's changes; they are part of its state. Raises ConfigurationError."""
    if surface.failure is not None and not surface.tools:
        return surface  # there is nothing to change, and nothing to hold against the changes
    overrides = Overrides(
        include=settings.include,
        exclude=settings.exclude,
        rename=settings.rename,
        describe=settings.describe,
        effect={pattern: Effect(effect) for pattern, effect in settings.effect.items()},
        examples=settings.examples,
        tier=settings.tier,
        revert=settings.revert,
    )
    tools = apply_overrides(surface.tools, overrides, source=name)
    return replace(surface, tools=tools, digest=f"{surface.digest} {overrides!r}" if surface.digest else "")
