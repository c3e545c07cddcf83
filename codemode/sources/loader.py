"""The sources of a service: each read, or known to be unavailable and why; closed once nobody calls them any more."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from codemode.catalog.catalog import Catalog
from codemode.errors import ConfigurationError, EnvironmentIncomplete, SourceError
from codemode.sources.documents.cache import CatalogCache
from codemode.sources.documents.last_known import Documents, KnownDocuments
from codemode.sources.factory import LoadedSource, absent_source, accepted_source, bind_functions, load_source
from codemode.sources.loaded import Failure, SourceWarning
from codemode.sources.source import SourceContext
from codemode.sources.stable_ids import StableIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from codemode.settings import Settings
    from codemode.transports.content import ContentStore
    from codemode.transports.mcp.transport import Definitions, McpTransport

#: What may be wrong with a source now and right later: the rest of the configuration's mistakes are the operator's.
PASSING = (SourceError, EnvironmentIncomplete)

_STILL_READ = Failure("it is still being read", "it is still being read")


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The sources that were asked for; `late` are being read still, and stand among the others as they were known."""

    sources: Mapping[str, LoadedSource]
    late: Mapping[str, asyncio.Task[LoadedSource]] = field(default_factory=dict)


class Reader:
    """Reads the sources of one configuration. `on_change` is told which MCP server has other tools than before."""

    def __init__(
        self, settings: Settings, *, contents: ContentStore, on_change: Callable[[str, Definitions], None]
    ) -> None:
        self._settings = settings
        self._on_change = on_change
        self._context = SourceContext(
            contents=contents,
            cache=CatalogCache(settings.cache() / "catalogs"),
            given=StableIds(settings.state() / "ids"),
            known=KnownDocuments(settings.state() / "documents"),
            tokens=settings.tokens(),
            servers=settings.servers(),
        )

    async def read(self, name: str) -> LoadedSource:
        """Read a source as it is now. Raises SourceError, ConfigurationError."""
        settings = self._settings.sources[name]
        context = replace(self._context, documents=Documents())
        source = await self._loaded(name, context)
        if context.known is not None and context.documents.noted:
            try:
                await asyncio.to_thread(context.known.keep, name, settings.location, context.documents)
            except BaseException:
                await source.transport.aclose()
                raise
        if settings.is_mcp:
            cast("McpTransport", source.transport).on_change = partial(self._on_change, name)
        return source

    async def known(self, name: str, failure: Failure) -> LoadedSource:
        """A source as it was when it was last read, else without any tool; its failure says why it is no newer."""
        settings = self._settings.sources[name]
        if settings.is_mcp:
            return await asyncio.to_thread(accepted_source, name, settings, failure, self._context.servers)
        store = self._context.known
        documents = None if store is None else await asyncio.to_thread(store.read, name, settings.location)
        if documents is None:
            return absent_source(name, failure)
        try:
            source = await self._loaded(name, replace(self._context, documents=documents))
        except PASSING:
            return absent_source(name, failure)
        warned = SourceWarning("", f"{failure.said}; it is used as it was when it was last read")
        surface = replace(source.surface, failure=failure, warnings=(warned, *source.surface.warnings))
        return replace(source, surface=surface)

    async def read_all(
        self, *, must: Callable[[str], bool] = lambda _: False, patience_s: float | None = None
    ) -> LoadResult:
        """All sources. One that cannot be read is as it was, or absent, unless it `must`: then its error is raised.

        So is a mistake of the configuration. What takes longer than `patience_s` goes on while the others are used.
        """
        tasks = {name: asyncio.create_task(self.read(name), name=f"read {name}") for name in self._settings.sources}
        if tasks:
            await asyncio.wait(tasks.values(), timeout=patience_s)
        try:
            _raise_first(tasks, must)
            sources = {name: await self._as_far(name, task) for name, task in tasks.items()}
        except BaseException:
            await _give_up(tasks.values())
            raise
        return LoadResult(sources, {name: task for name, task in tasks.items() if not task.done()})

    async def _as_far(self, name: str, task: asyncio.Task[LoadedSource]) -> LoadedSource:
        if not task.done():
            return await self.known(name, _STILL_READ)
        error = task.exception()
        return task.result() if error is None else await self.known(name, failure_of(error))

    async def _loaded(self, name: str, context: SourceContext) -> LoadedSource:
        try:
            return await load_source(name, self._settings.sources[name], context)
        except ConfigurationError as error:
            if str(error).startswith("sources."):
                raise
            message = f"{self._settings.place('sources', name)}: {error}"
            raise type(error)(message) from error


def failure_of(error: BaseException) -> Failure:
    """Why a source is not there, for the operator and for models."""
    if isinstance(error, SourceError):
        return Failure(str(error), error.told)
    return Failure(str(error), "the operator has not given it what it needs")


def bound_functions(functions: Mapping[str, object]) -> dict[str, LoadedSource]:
    """Functions as sources. Raises SourceError, ConfigurationError."""
    return {name: bind_functions(name, target) for name, target in functions.items()}


def require_sources(settings: Settings, functions: Mapping[str, object]) -> None:
    """Raise ConfigurationError where there is nothing to read."""
    if not settings.sources and not functions:
        message = "there are no sources: name one under `sources:`, as `codemode sources add NAME LOCATION` does"
        raise ConfigurationError(message)


def catalog_of(sources: Mapping[str, LoadedSource]) -> Catalog:
    """The tools of all sources, their toolkits, and the namespaces of which no tool is known."""
    tools = (tool for source in sources.values() for tool in source.tools)
    absent = {name: one.failure.told for name, one in sources.items() if one.failure is not None and not one.tools}
    return Catalog(tools, (toolkit for source in sources.values() for toolkit in source.surface.toolkits), absent)


def to_retry(sources: Mapping[str, LoadedSource]) -> list[str]:
    """The sources that are not as they are now, and whose transport does not try again by itself."""
    failures = {name: source.failure for name, source in sources.items() if source.failure is not None}
    return [name for name, failure in failures.items() if not failure.is_connecting]


def source_states(sources: Mapping[str, LoadedSource], view: Catalog) -> list[dict[str, str | int]]:
    """The sources of a view as JSON data: `ready`, `stale` (the tools of the last time) or `unavailable`, and why."""
    found: list[dict[str, str | int]] = []
    for name, source in sources.items():
        count = sum(tool.source == name for tool in view)
        if not count and name not in view.unavailable:
            continue  # what a role may not use is in no view of it
        state: dict[str, str | int] = {"name": name, "state": "ready", "tools": count}
        if source.failure is not None:
            state |= {"state": "stale" if count else "unavailable", "reason": source.failure.told}
        found.append(state)
    return found


async def close_after(running: Iterable[asyncio.Event], retired: Mapping[str, LoadedSource]) -> None:
    """Close the connections of sources that were replaced, once what began with them has ended."""
    for execution in running:
        await execution.wait()
    for source in retired.values():
        await source.transport.aclose()


def _raise_first(tasks: Mapping[str, asyncio.Task[LoadedSource]], must: Callable[[str], bool]) -> None:
    for name, task in tasks.items():
        error = task.exception() if task.done() else None
        if error is not None and (must(name) or not isinstance(error, PASSING)):
            raise error


async def _give_up(tasks: Iterable[asyncio.Task[LoadedSource]]) -> None:
    """End what is being read, and close what was."""
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    async with AsyncExitStack() as closing:
        for one in ended:
            if isinstance(one, LoadedSource):
                closing.push_async_callback(one.transport.aclose)
