"""Templates, messages, deliveries and suppressions in SQLite."""

from __future__ import annotations

import json
import sqlite3
import threading
import weakref
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Row = dict[str, Any]

_SCHEMA = """
create table if not exists templates (
    name text primary key, channel text not null, subject text not null, text text not null, updated_at text not null
);
create table if not exists messages (
    id integer primary key, channel text not null, recipients text not null, subject text not null, text text not null,
    template text, status text not null, send_at text not null, created_at text not null
);
create table if not exists deliveries (
    id integer primary key, message_id integer not null references messages, channel text not null,
    recipient text not null, status text not null, reason text not null, at text not null
);
create table if not exists suppressions (recipient text primary key, reason text not null, since text not null);
"""


class Store:
    """A database file, or `:memory:`; one transaction at a time."""

    def __init__(self, path: Path | str) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.row_factory = _row
        # The file is closed with the last reference to this object, even if nobody calls close.
        self.close = weakref.finalize(self, self._connection.close)
        self._connection.executescript(_SCHEMA)

    @contextmanager
    def transaction(self) -> Iterator[Store]:
        """Run the block in a transaction. An exception rolls it back."""
        with self._lock:
            self._connection.execute("begin immediate")
            try:
                yield self
            except BaseException:
                self._connection.execute("rollback")
                raise
            self._connection.execute("commit")

    def rows(self, sql: str, **values: object) -> list[Row]:
        """Return all rows of a statement."""
        return self._connection.execute(sql, values).fetchall()

    def one(self, sql: str, **values: object) -> Row | None:
        """Return the first row of a statement, or None."""
        return next(iter(self.rows(sql, **values)), None)

    def change(self, sql: str, **values: object) -> int:
        """Run a statement. Return the number of changed rows."""
        return self._connection.execute(sql, values).rowcount

    def add(self, sql: str, **values: object) -> int:
        """Insert a row. Return its number."""
        return self._connection.execute(sql, values).lastrowid or 0


def now() -> str:
    """Return the current time, formatted by `stamp`."""
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    """Format a UTC time as text that sorts by time."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def message(row: Row) -> Row:
    """Convert a row of `messages` to the message in an answer."""
    return {**{name: row[name] for name in row if name != "recipients"}, "to": json.loads(row["recipients"])}


def _row(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> Row:
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}
