"""The gym's records in SQLite: one connection, one transaction at a time."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

Row = dict[str, Any]

_FOLDER = Path(__file__).parent
#: Columns that default to the date or time of the write.
_DAY_STAMPS = frozenset(
    """createdOn joinedOn hiredOn openedOn startsOn validFrom connectedOn recordedOn respondedOn performedOn resolvedOn
    occurredOn paidOn startDate""".split()  # noqa: SIM905  # a word list is easier to read
)
_TIME_STAMPS = frozenset(["createdAt", "sentAt", "bookedAt", "signedAt", "checkedInAt"])


class Database:
    """A database file, or `:memory:`, at a fixed current time (`today`, `now`).

    Values are bound by name. `:today` and `:now` are always bound. Lists are stored as JSON text.
    """

    def __init__(self, path: Path | str, *, clock: datetime) -> None:
        self.today = clock.date().isoformat()
        self.now = clock.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.statements = _statements((_FOLDER / "reads.sql").read_text(encoding="utf-8"))
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.row_factory = _row
        # The file is closed with the last reference to this object, even if nobody calls close.
        self.close = weakref.finalize(self, self._connection.close)
        self._columns: dict[str, frozenset[str]] = {}
        self.is_new = not self.rows("select 1 from sqlite_master where name = 'clock'")
        if self.is_new:
            self._connection.executescript((_FOLDER / "schema.sql").read_text(encoding="utf-8"))
        self._connection.execute("pragma foreign_keys = on")
        self._connection.execute("delete from clock")
        self.insert("clock", {"today": self.today, "now": self.now})

    @contextmanager
    def transaction(self) -> Iterator[Database]:
        """Run the block in a transaction. An exception rolls it back; other callers wait."""
        with self._lock:
            self._connection.execute("begin immediate")
            try:
                yield self
            except BaseException:
                self._connection.execute("rollback")
                raise
            self._connection.execute("commit")

    def rows(self, sql: str, values: Row | None = None, **named: object) -> list[Row]:
        """Return all rows of a statement."""
        binds = {"today": self.today, "now": self.now, **(values or {}), **named}
        return self._connection.execute(sql, binds).fetchall()

    def one(self, sql: str, values: Row | None = None, **named: object) -> Row | None:
        """Return the first row of a statement, or None."""
        return next(iter(self.rows(sql, values, **named)), None)

    def by_id(self, table: str, number: object) -> Row | None:
        """Return one record of a table or view, or None."""
        return self.one(f"select * from {table} where id = :id", id=number)  # noqa: S608  # our own table names

    def record(self, table: str, number: object) -> Row:
        """Return one existing record. Raises LookupError."""
        found = self.by_id(table, number)
        if found is None:
            message = f"no {number} in {table}"
            raise LookupError(message)
        return found

    def insert(self, table: str, values: Row) -> int:
        """Insert a record, ignoring values without a column. Return its number."""
        columns = self.columns(table)
        stamps = dict.fromkeys(columns & _DAY_STAMPS, self.today) | dict.fromkeys(columns & _TIME_STAMPS, self.now)
        stored = {name: value for name, value in {**stamps, **values}.items() if name in columns}
        names = ", ".join(stored)
        binds = ", ".join(f":{name}" for name in stored)
        sql = f"insert into {table} ({names}) values ({binds})"  # noqa: S608  # names of our own schema
        return self._connection.execute(sql, _storable(stored)).lastrowid or 0

    def run_script(self, script: str, functions: Mapping[str, Callable[..., Any]]) -> None:
        """Run statements in one transaction. They may call the given Python functions."""
        for name, function in functions.items():
            self._connection.create_function(name, -1, function)
        self._connection.executescript(f"begin;\n{script}\ncommit;")

    def update(self, table: str, number: object, values: Row) -> None:
        """Change columns of one record."""
        sets = ", ".join(f"{name} = :{name}" for name in values)
        self._connection.execute(
            f"update {table} set {sets} where id = :number",  # noqa: S608  # names of our own schema
            {**_storable(values), "number": number},
        )

    def execute(self, sql: str, **named: object) -> int:
        """Run a statement. Return the number of changed rows."""
        return self._connection.execute(sql, {"today": self.today, "now": self.now, **named}).rowcount

    def columns(self, table: str) -> frozenset[str]:
        """Return the column names of a table."""
        if table not in self._columns:
            found = self.rows("select name from pragma_table_info(:table)", table=table)
            self._columns[table] = frozenset(row["name"] for row in found)
        return self._columns[table]


def _statements(text: str) -> dict[str, str]:
    parts = re.split(r"^-- name: ([\w.]+)$", text, flags=re.MULTILINE)[1:]
    return {name: sql.strip().rstrip(";") for name, sql in zip(parts[::2], parts[1::2], strict=True)}


def _storable(values: Row) -> Row:
    return {name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in values.items()}


def _row(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> Row:
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}
