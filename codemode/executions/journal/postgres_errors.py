"""Errors of a PostgreSQL database, and its URL, for messages."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import asyncpg

from codemode.errors import JournalUnavailable
from codemode.executions.journal.outages import first
from codemode.transports.http.certificates import distrusted

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Hint for an unknown certificate authority of the database.
_AUTHORITY = "set `…?sslmode=verify-full&sslrootcert=FILE` in `journal.url` to its authority's certificate"


@contextmanager
def translated(store: str) -> Iterator[None]:
    """Raise errors of the driver and the network as JournalUnavailable."""
    try:
        yield
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError) as last:
        error = first(last)
        why = "it did not answer in time" if isinstance(error, TimeoutError) else ""
        why = why or distrusted(error, _AUTHORITY) or _one_line(error)
        message = f"the journal {store} cannot be used: {why}; nothing was recorded"
        raise JournalUnavailable(message) from error


def shown(url: str) -> str:
    """Return a database URL without its secret parts."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
