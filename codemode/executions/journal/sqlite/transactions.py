"""Execution of a journal transaction on a SQLite connection. See `sql.transactions` for the form."""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, Any

from codemode.executions.journal.sql.statements import Now, Statement, Statements

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from codemode.executions.journal.sql.statements import Result, Transaction


def carry_out(connection: sqlite3.Connection, transaction: Transaction[Result], mode: str = "IMMEDIATE") -> Result:
    """Execute a whole transaction. Raises sqlite3.Error, and what the transaction raises."""
    connection.execute(f"BEGIN {mode}")
    try:
        result = _stepped_through(connection, transaction)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _stepped_through(connection: sqlite3.Connection, transaction: Transaction[Result]) -> Result:
    answer: Sequence[Any] = ()
    step = next(transaction)
    try:
        while True:
            match step:
                case Statement(sql, parameters):  # `IMMEDIATE` has locked everything
                    answer = connection.execute(_numbered(sql), parameters).fetchall()
                case Statements(sql, many):
                    connection.executemany(_numbered(sql), many)
                    answer = ()
                case Now():
                    answer = ((time.time_ns() // 1000,),)
            step = transaction.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


@cache
def _numbered(sql: str) -> str:
    """Return SQL with `$1` in SQLite's form `?1`."""
    return sql.replace("$", "?")
