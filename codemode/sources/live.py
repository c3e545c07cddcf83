"""The sources of a running service: loaded at start, reloaded on request, and replaced when they change."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError
from codemode.shared.callbacks import ignore
from codemode.sources.factory import with_definitions
from codemode.sources.loader import Reader, bound_functions, catalog_of, close_after, require_sources, to_retry
from codemode.sources.reconnection import Retries

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.loading import LoadingListener
    from codemode.settings import Settings
    from codemode.shared.values import ValueStore
    from codemode.sources.factory import LoadedSource
    from codemode.transports.allowances import Allowances
    from codemode.transports.content import ContentStore
    from codemode.transports.mcp.transport import Definitions

log = logging.getLogger(__name__)

#: Sections of the settings that a reload applies. Others need a restart.
RELOADED = ("sources", "policy", "flow", "budgets", "menu")


class LiveSources:
    """Load the sources of a service, and publish them whenever they change.

    `publish` receives the new settings and sources, and returns their catalog. `check` raises ConfigurationError if the
    settings name tools that the catalog lacks. `under_way` returns an event for each running execution, which is set
    when it ends. Replaced sources are closed after those executions. `functions` are further sources by namespace.
    `progress` receives the steps of reading.
    """

    def __init__(
        self,
        settings: Settings,
        functions: Mapping[str, object],
        contents: ContentStore,
        store: ValueStore,
        allowances: Allowances,
        *,
        strict: bool,
        publish: Callable[[Settings, Mapping[str, LoadedSource]], Awaitable[Catalog]],
        check: Callable[[Settings, Catalog], None],
        under_way: Callable[[], Collection[asyncio.Event]],
        progress: LoadingListener = ignore,
    ) -> None:
        self.loaded: Mapping[str, LoadedSource] = {}
        self._settings = settings
        self._functions = functions
        self._contents = contents
        self._store = store
        self._allowances = allowances
        self._progress = progress
        self._strict = strict
        self._publish_to = publish
        self._check = check
        self._under_way = under_way
        self._reader = self._reader_of(settings)
        self._retries = Retries(lambda name: self._reader.read(name), self._arrived)
        self._adopting = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None  # while changes of documents are heard
        store.on_change("documents", self._documents_changed)
        self._background: set[asyncio.Task[None]] = set()
        self._changed: dict[str, Definitions] = {}  # of MCP servers, until they are published

    async def load(self, patience_s: float | None, *, connects: bool = True) -> None:
        """Read all sources, unless they are loaded. Raises SourceError or ConfigurationError.

        Without `connects`, MCP servers whose definitions are known are not started.
        """
        async with self._adopting:
            if self.loaded:
                return
            require_sources(self._settings, self._functions)
            bound = bound_functions(self._functions, self._settings, self._contents)
            self._loop = asyncio.get_running_loop()
            self._reader.connects = connects
            result = await self._reader.read_all(must=lambda _: self._strict, patience_s=patience_s, recent=True)
            catalog = await self._publish({**result.sources, **bound})
            self._retries.start(to_retry(result.sources), result.late)
            self._check(self._settings, catalog)

    async def reload(self, changes: Settings | None) -> None:
        """Read all sources again, with the sources, policy, flow rules and menus of `changes`.

        If a source that was available cannot be read, nothing changes. Raises SourceError or ConfigurationError.
        """
        async with self._adopting:
            settings = self._settings
            if changes is not None:
                updates = {name: getattr(changes, name) for name in RELOADED}
                settings = settings.model_copy(update=updates)
            bound = bound_functions(self._functions, settings, self._contents)
            reader = self._reader_of(settings)
            loaded = {**(await reader.read_all(must=self._is_required)).sources, **bound}
            try:
                self._check(settings, catalog_of(loaded))
            except ConfigurationError:
                await close_after((), loaded)
                raise
            await self._retries.aclose()
            retired, running = self.loaded, set(self._under_way())
            self._settings, self._reader = settings, reader
            await self._publish(loaded)
            self._retries.start(to_retry(loaded))
            self._start(close_after(running, retired))

    async def publish_again(self) -> None:
        """Publish the sources as they are, after a change of what is published with them."""
        async with self._adopting:
            await self._publish(self.loaded)

    async def stop(self) -> None:
        """Stop retrying, and hear of no more changes."""
        self._loop = None
        await self._retries.aclose()

    async def aclose(self) -> None:
        """Wait for pending changes, and close all sources."""
        await asyncio.gather(*self._background, return_exceptions=True)
        loaded, self.loaded = self.loaded, {}
        await asyncio.gather(*(source.transport.aclose() for source in loaded.values()))

    def _reader_of(self, settings: Settings) -> Reader:
        return Reader(
            settings,
            contents=self._contents,
            store=self._store,
            allowances=self._allowances,
            on_change=self._definitions_changed,
            progress=self._progress,
        )

    def _is_required(self, name: str) -> bool:
        return self._strict or (name in self.loaded and self.loaded[name].failure is None)

    async def _publish(self, sources: Mapping[str, LoadedSource]) -> Catalog:
        self.loaded = sources
        return await self._publish_to(self._settings, sources)

    async def _arrived(self, source: LoadedSource) -> None:
        """Publish a source that a retry has loaded."""
        async with self._adopting:
            retired, running = {source.name: self.loaded[source.name]}, set(self._under_way())
            catalog = await self._publish({**self.loaded, source.name: source})
            self._start(close_after(running, retired))
            try:
                self._check(self._settings, catalog)
            except ConfigurationError as error:
                log.warning("%s", error)

    def _documents_changed(self, name: str) -> None:
        """Read a source again whose documents another server has found changed. Called in another thread."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # it was closed meanwhile
                loop.call_soon_threadsafe(lambda: self._start(self._take(name)))

    async def _take(self, name: str) -> None:
        if name not in self.loaded or name not in self._settings.sources:
            return
        source = await self._reader.of_others(name)
        if source is not None:
            await self._arrived(source)
            log.info("source %s was read from documents of another server: %d tools", name, len(source.tools))

    def _definitions_changed(self, name: str, definitions: Definitions) -> None:
        """Publish the changed tools of an MCP server. Changes that arrive meanwhile are published together."""
        is_waiting = name in self._changed
        self._changed[name] = definitions
        if not is_waiting:
            self._start(self._renew(name))

    async def _renew(self, name: str) -> None:
        async with self._adopting:
            definitions = self._changed.pop(name)
            settings = self._settings.sources.get(name)
            if settings is None or name not in self.loaded:
                return  # it was removed meanwhile
            renewed = await asyncio.to_thread(with_definitions, self.loaded[name], settings, definitions, self._store)
            await self._publish({**self.loaded, name: renewed})

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
