"""Notifications of a PostgreSQL database (`LISTEN`), over one connection of their own.

PostgreSQL keeps no notification for a listener that is away. So each subscriber is told when listening begins, and
begins again after a lost connection: it then looks at everything once. A connection pooler in transaction mode passes
no notifications on. Subscribers therefore also look from time to time.
"""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import asyncpg

from codemode.executions.journal.postgres.errors import reason

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    #: Receives a payload, or None if notifications may have been missed.
    Heard = Callable[[str | None], None]

log = logging.getLogger(__name__)

#: Time limit of connecting and of one statement, in seconds.
PATIENCE_S = 10.0

#: Seconds between two checks that the connection still works: a cut network tells nobody.
PROBE_S = 5.0

#: First and longest delay between two connection attempts, in seconds.
_FIRST_DELAY_S = 0.1
_LONGEST_DELAY_S = 5.0

_UNAVAILABLE = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)


class Listener:
    """Listens to channels of the database at `url`, and connects again by itself.

        async with Listener(url) as listener:
            listener.subscribe("codemode_keys", heard)

    Entering returns at once, also while the database is away. `is_listening` tells whether all subscriptions are in
    force. Callbacks run on the event loop and must return soon; their exceptions are logged.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._subscribers: dict[str, list[Heard]] = {}
        self._in_force: set[str] = set()
        self._is_connected = False
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def start(self) -> None:
        """Begin to connect and listen, in the background."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen_for_ever())

    async def aclose(self) -> None:
        """Disconnect. Nothing is heard any more."""
        if self._task is not None:
            task, self._task = self._task, None
            task.cancel()
            await asyncio.wait((task,))
            self._is_connected = False
            self._in_force.clear()

    @property
    def is_listening(self) -> bool:
        """Whether notifications of every subscribed channel arrive now."""
        return self._is_connected and self._in_force >= self._subscribers.keys()

    def subscribe(self, channel: str, heard: Heard) -> None:
        """Call `heard` with the payload of each notification on a channel.

        `heard(None)` says that listening begins now: at first, and after each lost connection. What was notified before
        may have been missed.
        """
        self._subscribers.setdefault(channel, []).append(heard)
        if channel in self._in_force:
            asyncio.get_running_loop().call_soon(_call, heard, channel, None)
        else:
            self._changed.set()

    async def _listen_for_ever(self) -> None:
        delay_s = _FIRST_DELAY_S
        while True:
            try:
                await self._listen()
            except _UNAVAILABLE as error:
                if self._is_connected or delay_s == _FIRST_DELAY_S:
                    log.warning("notifications of the journal's database do not arrive: %s", reason(error))
            if self._is_connected:
                delay_s = _FIRST_DELAY_S
            self._is_connected = False
            self._in_force.clear()
            await asyncio.sleep(delay_s * random.uniform(0.5, 1.0))  # noqa: S311 -- spreads the servers' attempts
            delay_s = min(2 * delay_s, _LONGEST_DELAY_S)

    async def _listen(self) -> None:
        """Listen until the connection is lost."""
        connection = await asyncpg.connect(self.url, timeout=PATIENCE_S, command_timeout=PATIENCE_S)
        try:
            connection.add_termination_listener(lambda _: self._changed.set())
            while not connection.is_closed():
                self._changed.clear()
                await self._listen_to_new_channels(connection)
                self._is_connected = True
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), PROBE_S)
                    continue
                await connection.execute("SELECT 1")
        finally:
            connection.terminate()

    async def _listen_to_new_channels(self, connection: asyncpg.Connection) -> None:
        for channel in self._subscribers.keys() - self._in_force:
            await connection.add_listener(channel, self._received)
            self._in_force.add(channel)
            self._tell(channel, None)

    def _received(self, _: object, __: int, channel: str, payload: object) -> None:
        self._tell(channel, str(payload))

    def _tell(self, channel: str, payload: str | None) -> None:
        for heard in tuple(self._subscribers[channel]):
            _call(heard, channel, payload)


def _call(heard: Heard, channel: str, payload: str | None) -> None:
    try:
        heard(payload)
    except Exception:
        log.exception("a notification on %s could not be handled", channel)
