"""Load the sources of a service. A source that cannot be read is replaced by its last known state."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from codemode.catalog.catalog import Catalog
from codemode.catalog.loading import LoadingStep
from codemode.catalog.withheld import Withheld
from codemode.errors import ConfigurationError, EnvironmentIncomplete, SourceError
from codemode.shared.callbacks import ignore
from codemode.sources.documents.last_known import Documents, KnownDocuments
from codemode.sources.factory import LoadedSource, absent_source, accepted_source, bind_functions, load_source
from codemode.sources.loaded import Failure, SourceWarning
from codemode.sources.source import SourceContext
from codemode.sources.stable_ids import StableIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from codemode.catalog.loading import LoadingListener
    from codemode.settings import Settings
    from codemode.shared.values import ValueStore
    from codemode.transports.allowances import Allowances
    from codemode.transports.content import ContentStore
    from codemode.transports.mcp.transport import Definitions, McpTransport

log = logging.getLogger(__name__)

#: Errors that may pass without a change of the configuration.
PASSING = (SourceError, EnvironmentIncomplete)

_STILL_LOADING = Failure("it is still loading", "it is still loading")


@dataclass(frozen=True, slots=True)
class LoadResult:
    """All sources by name. Those in `late` are still loading, and `sources` holds their last known state."""

    sources: Mapping[str, LoadedSource]
    late: Mapping[str, asyncio.Task[LoadedSource]] = field(default_factory=dict)


class Reader:
    """Read the sources of one configuration.

    `on_change` is called with the name of an MCP server and its new definitions whenever they change. `progress`
    receives the steps of reading.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        contents: ContentStore,
        store: ValueStore,
        allowances: Allowances,
        on_change: Callable[[str, Definitions], None],
        progress: LoadingListener = ignore,
    ) -> None:
        self._settings = settings
        self._progress = progress
        self._on_change = on_change
        self._context = SourceContext(
            contents=contents,
            allowances=allowances,
            cache=settings.cache() / "catalogs",
            known_ids=StableIds(store),
            store=store,
            servers=settings.servers(),
            progress=progress,
        )
        self._known = KnownDocuments(store)
        self._digests: dict[str, str] = {}  # of the documents that each source was last read from

    @property
    def connects(self) -> bool:
        """Whether MCP servers are started whose definitions are known."""
        return self._context.connects

    @connects.setter
    def connects(self, connects: bool) -> None:
        self._context = replace(self._context, connects=connects)

    async def read(self, name: str, *, recent: bool = False) -> LoadedSource:
        """Read the current state of a source. Raises SourceError or ConfigurationError.

        With `recent`, documents that another server has fetched just now are not fetched again.
        """
        began = time.monotonic()
        self._progress(LoadingStep("reading", name))
        try:
            source = await self._read(name, recent=recent)
        except BaseException:
            self._progress(LoadingStep("failed", name, duration_s=time.monotonic() - began))
            raise
        step = LoadingStep("loaded", name, tools=len(source.tools), duration_s=time.monotonic() - began)
        self._progress(step)
        return source

    async def _read(self, name: str, *, recent: bool) -> LoadedSource:
        settings = self._settings.sources[name]
        source = await self._of_recent(name) if recent else None
        if source is None:
            source = await self._fetched(name)
        if settings.is_mcp:
            cast("McpTransport", source.transport).on_change = partial(self._on_change, name)
        return source

    async def _fetched(self, name: str) -> LoadedSource:
        documents = Documents()
        source = await self._of_documents(name, documents)
        if documents.noted:
            try:
                await asyncio.to_thread(self._known.keep, name, self._settings.sources[name].location, documents)
            except BaseException:
                await source.transport.aclose()
                raise
        return source

    async def _of_recent(self, name: str) -> LoadedSource | None:
        documents = await asyncio.to_thread(self._known.recent, name, self._settings.sources[name].location)
        try:
            return None if documents is None else await self._of_documents(name, documents)
        except SourceError:
            return None

    async def of_others(self, name: str) -> LoadedSource | None:
        """Return a source of the documents that another server has read.

        None if they are those in use, or the source cannot be read from them.
        """
        documents = await asyncio.to_thread(self._known.read, name, self._settings.sources[name].location)
        if documents is None or documents.digest == self._digests.get(name):
            return None
        try:
            return await self._of_documents(name, documents)
        except PASSING as error:
            log.warning("source %s cannot be read from the documents of another server: %s", name, error)
            return None

    async def _of_documents(self, name: str, documents: Documents) -> LoadedSource:
        source = await self._load(name, replace(self._context, documents=documents))
        self._digests[name] = documents.digest
        return source

    async def known(self, name: str, failure: Failure) -> LoadedSource:
        """Return the last known state of a source, or a source without tools. `failure` becomes its failure."""
        settings = self._settings.sources[name]
        if settings.is_mcp:
            return await asyncio.to_thread(accepted_source, name, settings, failure, self._context.store)
        documents = await asyncio.to_thread(self._known.read, name, settings.location)
        if documents is None:
            return absent_source(name, failure)
        try:
            source = await self._of_documents(name, documents)
        except PASSING:
            return absent_source(name, failure)
        warned = SourceWarning("", f"{failure.message}; its last known state is used")
        surface = replace(source.surface, failure=failure, warnings=(warned, *source.surface.warnings))
        return replace(source, surface=surface)

    async def read_all(
        self,
        *,
        must: Callable[[str], bool] = lambda _: False,
        patience_s: float | None = None,
        recent: bool = False,
    ) -> LoadResult:
        """Read all sources, in parallel. `recent` is as for `read`.

        A source that cannot be read is replaced by its last known state, or by one without tools. Its error is raised
        if `must(name)` is true or the configuration is wrong. Sources that take longer than `patience_s` seconds keep
        loading; they are returned in `late`.
        """
        reads = {name: self.read(name, recent=recent) for name in self._settings.sources}
        tasks = {name: asyncio.create_task(reading, name=f"read {name}") for name, reading in reads.items()}
        if tasks:
            await asyncio.wait(tasks.values(), timeout=patience_s)
        try:
            _raise_fatal(tasks, must)
            sources = {name: await self._loaded_or_known(name, task) for name, task in tasks.items()}
        except BaseException:
            await _cancel(tasks.values())
            raise
        return LoadResult(sources, {name: task for name, task in tasks.items() if not task.done()})

    async def _loaded_or_known(self, name: str, task: asyncio.Task[LoadedSource]) -> LoadedSource:
        if not task.done():
            return await self.known(name, _STILL_LOADING)
        error = task.exception()
        return task.result() if error is None else await self.known(name, failure_of(error))

    async def _load(self, name: str, context: SourceContext) -> LoadedSource:
        try:
            return await load_source(name, self._settings.sources[name], context)
        except ConfigurationError as error:
            if str(error).startswith("sources."):
                raise
            message = f"{self._settings.place('sources', name)}: {error}"
            raise type(error)(message) from error


def failure_of(error: BaseException) -> Failure:
    """Return the failure of a source for the operator and for models."""
    if isinstance(error, SourceError):
        return Failure(str(error), error.told)
    return Failure(str(error), "a secret or package that it needs is missing on the server")


def bound_functions(
    functions: Mapping[str, object], settings: Settings, contents: ContentStore | None = None
) -> dict[str, LoadedSource]:
    """Return each target of Python functions as a source.

    Raises SourceError, or ConfigurationError, also if the settings have a source of the same name.
    """
    taken = sorted(functions.keys() & (settings.sources.keys() | settings.own_namespaces.keys()))
    if taken:
        message = f"{taken[0]!r} is the name of functions and of a source: give the functions another namespace"
        raise ConfigurationError(message)
    return {name: bind_functions(name, target, contents) for name, target in functions.items()}


def require_sources(settings: Settings, functions: Mapping[str, object]) -> None:
    """Raise ConfigurationError if there are neither sources nor functions."""
    if not settings.sources and not functions:
        message = "no sources are configured: run `codemode sources add NAME LOCATION`, or add one under `sources:`"
        raise ConfigurationError(message)


def catalog_of(sources: Mapping[str, LoadedSource]) -> Catalog:
    """Return the catalog of all sources, with the reason for each namespace without tools."""
    tools = (tool for source in sources.values() for tool in source.tools)
    absent = {name: one.failure.told for name, one in sources.items() if one.failure is not None and not one.tools}
    clocks = {name: source.surface.clock for name, source in sources.items() if source.surface.clock}
    toolkits = (toolkit for source in sources.values() for toolkit in source.surface.toolkits)
    surfaces = [source.surface for source in sources.values()]
    withheld = dict.fromkeys((name for surface in surfaces for name in surface.withheld), Withheld.GONE)
    withheld |= {tool.id: Withheld.WAITING for surface in surfaces for tool in surface.held}
    titles = {name: (source.surface.title, *source.surface.servers) for name, source in sources.items()}
    return Catalog(tools, toolkits, absent, clocks, withheld, titles=titles)


def to_retry(sources: Mapping[str, LoadedSource]) -> list[str]:
    """Return the names of failed sources whose transport does not reconnect by itself."""
    failures = {name: source.failure for name, source in sources.items() if source.failure is not None}
    return [name for name, failure in failures.items() if not failure.is_connecting]


def source_states(sources: Mapping[str, LoadedSource], view: Catalog) -> list[dict[str, str | int]]:
    """Return the sources of a view as JSON data, with the state and the reason of a failure.

    The states are `ready`, `stale` (its tools are those last read) and `unavailable`.
    """
    states: list[dict[str, str | int]] = []
    for name, source in sources.items():
        count = sum(tool.source == name for tool in view)
        if not count and name not in view.unavailable:
            continue  # this role may use none of its tools
        state: dict[str, str | int] = {"name": name, "state": "ready", "tools": count}
        if source.failure is not None:
            state |= {"state": "stale" if count else "unavailable", "reason": source.failure.told}
        states.append(state)
    return states


async def close_after(running: Iterable[asyncio.Event], retired: Mapping[str, LoadedSource]) -> None:
    """Close replaced sources after the executions that use them have ended."""
    for execution in running:
        await execution.wait()
    for source in retired.values():
        await source.transport.aclose()


def _raise_fatal(tasks: Mapping[str, asyncio.Task[LoadedSource]], must: Callable[[str], bool]) -> None:
    for name, task in tasks.items():
        error = task.exception() if task.done() else None
        if error is not None and (must(name) or not isinstance(error, PASSING)):
            raise error


async def _cancel(tasks: Iterable[asyncio.Task[LoadedSource]]) -> None:
    """Cancel the tasks and close the sources that they loaded."""
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    async with AsyncExitStack() as closing:
        for one in ended:
            if isinstance(one, LoadedSource):
                closing.push_async_callback(one.transport.aclose)
