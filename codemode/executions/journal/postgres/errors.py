"""Errors of a PostgreSQL database, and its URL, for messages."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import asyncpg

from codemode.errors import ConfigurationError, JournalUnavailable
from codemode.executions.journal.postgres.outages import first
from codemode.transports.http.certificates import distrusted

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Hint for an unknown certificate authority of the database.
_AUTHORITY = "set `…?sslmode=verify-full&sslrootcert=FILE` in `journal.url` to its authority's certificate"

#: Part of the RuntimeError that uvloop raises for a write to a connection that has just closed.
_CLOSED = "the handler is closed"

_NOT_ENCODED = (
    "journal.url is not a valid URL: in the user and the password, write `/`, `?`, `#`, `@`, `[` and `]`"
    " percent-encoded, as `python -c 'import urllib.parse; print(urllib.parse.quote(input(), safe=\"\"))'` does"
)


@contextmanager
def translated(store: str) -> Iterator[None]:
    """Raise errors of the driver and the network as JournalUnavailable."""
    try:
        yield
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, RuntimeError) as last:
        error = first(last)
        if isinstance(error, RuntimeError):
            if _CLOSED not in str(error):
                raise
            error = ConnectionResetError("the connection was lost")
        message = f"the journal {store} cannot be used: {reason(error)}; nothing was recorded"
        raise JournalUnavailable(message) from error


def shown(url: str) -> str:
    """Return a database URL without its secret parts.

    Raises ConfigurationError if a character of the user or password is not percent-encoded (RFC 3986, 2.1), so that
    parts of the password would be taken for others.
    """
    try:
        parts = urlsplit(url)
        parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        if "@" in parts.path or "@" in parts.fragment:
            raise ValueError
    except ValueError:
        raise ConfigurationError(_NOT_ENCODED) from None
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def reason(error: Exception) -> str:
    """Return why the database cannot be used, in one line."""
    match error:
        case TimeoutError():
            return "it did not answer in time"
        case asyncpg.ClientConfigurationError():
            pass  # about the URL
        case asyncpg.InterfaceError() | asyncpg.InternalClientError() | asyncpg.ConnectionDoesNotExistError():
            return "the connection was lost"
        case ConnectionResetError() | BrokenPipeError():
            return "the connection was lost"
        case ConnectionRefusedError() | FileNotFoundError():
            return "nothing listens at its address"
    return distrusted(error, _AUTHORITY) or " ".join(str(error).split()) or type(error).__name__
