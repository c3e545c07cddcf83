"""Outages of a PostgreSQL server: which errors mean one, and how long servers wait for its end."""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from typing import TYPE_CHECKING, TypeVar

import asyncpg

from codemode.errors import JournalUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Result = TypeVar("Result")

log = logging.getLogger(__name__)

#: Time limit of an outage, in seconds since it was noticed: enough for a restart or a failover.
OUTAGE_S = 20.0

#: Delay between two attempts, in seconds.
RETRY_S = 0.1

#: Errors of a database that stops, starts or disconnects. The driver raises InternalClientError for a statement on a
#: connection that the database has ended a moment ago.
_AWAY = (
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    OSError,
)

#: Errors among these that waiting does not mend.
_LASTING = (TimeoutError, ssl.SSLCertVerificationError)


class Outages:
    """The outages of one database."""

    def __init__(self) -> None:
        self._away_since: float | None = None

    def is_over(self) -> None:
        """Note that the database has answered."""
        self._away_since = None

    def is_short(self, error: BaseException | None) -> bool:
        """Return whether the database is unavailable, but not for long."""
        cause = error.__cause__ if isinstance(error, JournalUnavailable) else error
        if not isinstance(cause, _AWAY) or isinstance(cause, _LASTING):
            return False
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
        return now - self._away_since < OUTAGE_S

    async def through(self, attempt: Callable[[], Awaitable[Result]]) -> Result:
        """Return the result of the first attempt that reaches the database. Raises its error after a long outage."""
        while True:
            try:
                return await attempt()
            except JournalUnavailable as error:
                if not self.is_short(error):
                    log.error("%s", error)
                    raise
            await asyncio.sleep(RETRY_S)


def first(error: Exception) -> Exception:
    """Return the error that broke a connection, where the rollback on that connection has failed too."""
    before = error.__context__
    is_of_rollback = isinstance(error, asyncpg.InterfaceError | asyncpg.InternalClientError)
    return before if is_of_rollback and isinstance(before, Exception) else error
