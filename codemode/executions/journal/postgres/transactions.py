"""Execution of a journal transaction on a PostgreSQL connection. See `sql.transactions` for the form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.executions.journal.sql.statements import Now, Statement, Statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg

    from codemode.executions.journal.sql.statements import Result, Transaction

_NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"


async def carry_out(connection: asyncpg.Connection, transaction: Transaction[Result]) -> Result:
    """Execute the statements of a transaction. Raises asyncpg.PostgresError, and what the transaction raises."""
    answer: Sequence[Any] = ()
    step = next(transaction)
    try:
        while True:
            match step:
                case Statement(sql, parameters):
                    answer = await connection.fetch(sql, *parameters)
                case Statements(sql, many):
                    await connection.executemany(sql, many)
                    answer = ()
                case Now():
                    answer = await connection.fetch(_NOW)
            step = transaction.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
