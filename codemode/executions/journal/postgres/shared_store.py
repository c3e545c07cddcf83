"""The store of shared values on a PostgreSQL journal, for synchronous callers.

A thread with an event loop of its own holds the connections. Values that `latest` was called for are held in memory,
and read again once the database announces a change. A poll every second is the safety net.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import asyncpg

from codemode.errors import CodeModeError, JournalDamaged, JournalUnavailable
from codemode.executions.journal.postgres.errors import reason, shown
from codemode.executions.journal.postgres.migrating import GOODBYE_S, KEEPALIVES, PATIENCE_S
from codemode.executions.journal.postgres.outages import Outages
from codemode.executions.journal.postgres.shared_values import CHANNEL
from codemode.shared.values import Kind, Latest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Iterable
    from concurrent.futures import Future
    from typing import Any

    from codemode.executions.journal.postgres.journal import PostgresJournal
    from codemode.executions.journal.postgres.shared_values import SharedValues
    from codemode.shared.files import FolderStore

log = logging.getLogger(__name__)

#: Seconds between two polls for changes.
POLL_S = 1.0

#: Seconds for which values in memory are used while the database does not answer.
STALE_S = 30.0

Result = TypeVar("Result")
_Place = tuple[Kind, str]


class _Copy(NamedTuple):
    """A value in memory. `damage` is not empty if the row was changed by hand."""

    version: int | None = None
    data: bytes | None = None
    damage: str = ""


class SharedStore:
    """The values of a project in a database.

    `configured` returns its URL and a function that makes a journal on it. It is called on the first use.
    `earlier` are the files that this server had before. A value that the database lacks begins as the file there. Once
    the database has a value, the file is renamed: one that is taken over twice could bring back a revoked key.
    """

    repeats_s = 60.0

    def __init__(
        self,
        configured: Callable[[], tuple[str, Callable[..., PostgresJournal]]],
        earlier: FolderStore,
        *,
        stale_s: float = STALE_S,
    ) -> None:
        #: The database without its password, for messages.
        self.title = "the journal"
        self.copies: dict[_Place, _Copy] = {}
        #: When the database last confirmed the copies, by the monotonic clock.
        self.confirmed = 0.0
        self.listeners: dict[str, list[Callable[[str], None]]] = {}
        self._configured = configured
        self._earlier = earlier
        self._stale_s = stale_s
        self._starting = threading.Lock()
        self._worker: _Worker | None = None

    def value(self, kind: Kind, name: str = "") -> DatabaseValue:
        """See `ValueStore.value`."""
        return DatabaseValue(self, kind, name)

    def on_change(self, kind: Kind, function: Callable[[str], None]) -> None:
        """See `ValueStore.on_change`."""
        self.listeners.setdefault(kind, []).append(function)

    def open(self) -> None:
        """See `ValueStore.open`."""
        self._run(lambda worker: worker.watch())

    def close(self) -> None:
        """See `ValueStore.close`. Values in memory stay valid for their bounded time."""
        with self._starting:
            worker, self._worker = self._worker, None
        if worker is not None and worker.is_here:
            worker.close()

    def read(self, place: _Place) -> bytes | None:
        """Return a value from the database."""
        stored = self._run(lambda worker: worker.carry(lambda shared: shared.read(*place)))
        data = self._taken_over(place) if stored is None else stored.data
        if data is not None:
            self._set_aside(place)
        return data

    def change(self, place: _Place, function: Callable[[bytes | None], bytes | None]) -> None:
        """Change a value in the database, and its copy."""
        earlier = self._earlier_value(place)

        def changed(known: bytes | None) -> bytes | None:
            before = earlier if known is None else known
            after = function(before)
            return before if after is None else after

        self._change(place, changed)
        if earlier is not None:
            self._set_aside(place)
        if place in self.copies:
            self._run(lambda worker: worker.refresh())

    def try_lock(self, place: _Place) -> Callable[[], None] | None:
        """Lock a value over a connection of its own. None if another server holds the lock."""
        return self._run(lambda worker: worker.try_lock(place))

    def latest(self, place: _Place) -> Latest:
        """Return the copy of a value."""
        if place not in self.copies:
            with suppress(JournalDamaged):  # the copy keeps the damage
                self.read(place)  # which takes over an earlier value
            self._run(lambda worker: worker.refresh(place))
            self.open()
        age_s = time.monotonic() - self.confirmed
        if age_s > self._stale_s:
            message = f"{self.title} has not answered for {age_s:.0f} s, and its {place[0]} are not used until it does"
            raise JournalUnavailable(message)
        copy = self.copies[place]
        if copy.damage:
            raise JournalDamaged(copy.damage, execution=place[0])
        return Latest(copy.data, copy.version)

    def _taken_over(self, place: _Place) -> bytes | None:
        """Store the earlier value, unless another server was first. Return the value in the database."""
        earlier = self._earlier_value(place)
        if earlier is None:
            return None
        found: list[bytes] = []

        def take_over(known: bytes | None) -> bytes:
            found.append(earlier if known is None else known)
            return found[-1]

        self._change(place, take_over)
        log.warning("the %s of the state folder are now in %s", place[0], self.title)
        return found[-1]

    def _set_aside(self, place: _Place) -> None:
        """Rename the file of a value that the database has."""
        file = self._earlier.value(*place)
        try:
            moved = file.set_aside()
        except OSError as error:
            log.warning("%s is not used, because %s has its value: remove it (%s)", file.title, self.title, error)
            return
        if moved is not None:
            log.warning("%s is not used, because %s has its value: renamed to %s", file.title, self.title, moved)

    def _earlier_value(self, place: _Place) -> bytes | None:
        kind, name = place
        with suppress(OSError):
            return self._earlier.value(kind, name).read()
        return None

    def _change(self, place: _Place, function: Callable[[bytes | None], bytes | None]) -> None:
        self._run(lambda worker: worker.carry(lambda shared: shared.change(*place, function)))

    def _run(self, begin: Callable[[_Worker], Coroutine[Any, Any, Result]]) -> Result:
        """Execute a coroutine in the worker's thread, and wait for it."""
        try:
            return self._begin(begin).result()
        except CancelledError:
            message = f"{self.title} cannot be used: its connections were closed meanwhile"
            raise JournalUnavailable(message) from None

    def _begin(self, begin: Callable[[_Worker], Coroutine[Any, Any, Result]]) -> Future[Result]:
        """Begin a coroutine in the worker's thread, which is started if necessary."""
        with self._starting:
            if self._worker is None or not self._worker.is_here:
                url, make_journal = self._configured()
                self.title = shown(url)
                self._worker = _Worker(self, url, make_journal)
            return asyncio.run_coroutine_threadsafe(begin(self._worker), self._worker.loop)


class DatabaseValue:
    """One value of a `SharedStore`."""

    def __init__(self, store: SharedStore, kind: Kind, name: str) -> None:
        self._store = store
        self._place = (kind, name)

    @property
    def title(self) -> str:
        """See `SharedValue`."""
        return f"the {self._place[0]} in {self._store.title}"

    def read(self) -> bytes | None:
        """See `SharedValue.read`."""
        return self._store.read(self._place) or None

    def latest(self) -> Latest:
        """See `SharedValue.latest`."""
        return self._store.latest(self._place)

    def change(self, function: Callable[[bytes | None], bytes | None]) -> None:
        """See `SharedValue.change`."""
        self._store.change(self._place, function)

    def remove(self) -> bool:
        """See `LockableValue.remove`. An empty value stays, so that no earlier file takes its place."""
        had: list[bool] = []

        def empty(data: bytes | None) -> bytes:
            had.append(bool(data))
            return b""

        self._store.change(self._place, empty)
        return had[-1]

    def try_lock(self) -> Callable[[], None] | None:
        """See `LockableValue.try_lock`."""
        return self._store.try_lock(self._place)


class _Worker:
    """The thread of a store, its event loop, and what runs there."""

    def __init__(self, store: SharedStore, url: str, make_journal: Callable[..., PostgresJournal]) -> None:
        self._store = store
        self._make_journal = make_journal
        self._journal: PostgresJournal | None = None
        self._outages = Outages()  # of all attempts to open: only the first one waits for the end of an outage
        self._url = url
        self._turn = asyncio.Lock()
        self._wake = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._versions: dict[_Place, int] | None = None
        self._locks: set[asyncpg.Connection] = set()
        self._process = os.getpid()
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="codemode-shared", daemon=True)
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Whether the thread runs: a forked process has none of its parent's threads."""
        return self._process == os.getpid()

    def close(self) -> None:
        """Disconnect, and end the thread. Locks end, and so does everything that runs here."""
        asyncio.run_coroutine_threadsafe(self._aclose(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    async def carry(self, begin: Callable[[SharedValues], Coroutine[Any, Any, Result]]) -> Result:
        """Carry out one operation on the database."""
        async with self._turn:
            journal = await self._opened()
        return await begin(journal.shared)

    async def refresh(self, *new: _Place) -> None:
        """Read what has changed in the database. Copy the values at `new` places too."""
        store = self._store
        async with self._turn:
            began = time.monotonic()
            shared = (await self._opened()).shared
            places = [*store.copies, *new]
            versions = await shared.versions({kind for kind, _ in places} | store.listeners.keys())
            for place in places:
                known = store.copies.get(place)
                if known is None or known.damage or known.version != versions.get(place):
                    store.copies[place] = await _copy(shared, place, versions.get(place))
            store.confirmed = began
            before, self._versions = self._versions, versions
        if before is not None:
            self._tell(place for place, version in versions.items() if before.get(place) != version)

    async def try_lock(self, place: _Place) -> Callable[[], None] | None:
        """Lock a value over a connection of its own. Return a function that unlocks it from any thread."""
        async with self._turn:
            journal = await self._opened()
        connection = await _locked(self._url, journal.shared.lock_name(*place))
        if connection is None:
            return None
        self._locks.add(connection)
        return partial(self._unlock, connection)

    def _unlock(self, connection: asyncpg.Connection) -> None:
        if not self.loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._close_lock(connection), self.loop)

    async def _close_lock(self, connection: asyncpg.Connection) -> None:
        await connection.close(timeout=PATIENCE_S)
        self._locks.discard(connection)

    async def watch(self) -> None:
        """Begin to refresh now, after each announcement, and every `POLL_S` seconds."""
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        is_away = False
        while True:
            self._wake.clear()
            try:
                await self.refresh()
            except CodeModeError as error:
                if not is_away:
                    log.warning("keys and learned data are those of the last %.0f s at most: %s", STALE_S, error)
                is_away = True
            else:
                is_away = False
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), POLL_S)

    def _tell(self, places: Iterable[_Place]) -> None:
        for kind, name in places:
            for listener in self._store.listeners.get(kind, ()):
                try:
                    listener(name)
                except Exception:
                    log.exception("a change of %s %s could not be handled", kind, name)

    async def _opened(self) -> PostgresJournal:
        if self._journal is None:
            journal = self._make_journal(outages=self._outages)
            await journal.open()
            journal.listener.subscribe(CHANNEL, lambda _: self._wake.set())
            self._journal = journal
        return self._journal

    async def _aclose(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await _ended(others)
        for connection in self._locks:
            connection.terminate()
        if self._journal is not None:
            await self._journal.aclose()
            await _ended(others)  # what still waited for the database has failed now


async def _ended(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Wait for cancelled tasks, at most `GOODBYE_S` seconds."""
    if tasks:
        await asyncio.wait(tasks, timeout=GOODBYE_S)


async def _locked(url: str, name: str) -> asyncpg.Connection | None:
    """Return a new connection that holds an advisory lock, None if another one does."""
    try:
        connection = await asyncpg.connect(
            url, timeout=PATIENCE_S, command_timeout=PATIENCE_S, server_settings=KEEPALIVES
        )
        try:
            is_locked = await connection.fetchval("SELECT pg_try_advisory_lock(hashtextextended($1, 0))", name)
        except BaseException:
            connection.terminate()  # it may hold the lock
            raise
        if is_locked:
            return connection
        await connection.close(timeout=PATIENCE_S)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError) as error:
        message = f"{shown(url)} cannot be used: {reason(error)}"
        raise JournalUnavailable(message) from None
    return None


async def _copy(shared: SharedValues, place: _Place, version: int | None) -> _Copy:
    try:
        stored = await shared.read(*place)
    except JournalDamaged as error:
        return _Copy(version, damage=str(error))
    return _Copy() if stored is None else _Copy(*stored)
