"""The slots of shared rates, in PostgreSQL: one row for each rate, and one statement for a batch of slots."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from codemode.text.times import SECOND_US
from codemode.transports.allowances import SlotGrant

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    import asyncpg

    from codemode.executions.journal.postgres.outages import Outages
    from codemode.transports.allowances import Rate

#: $3 is the interval between two slots and $4 the burst, in microseconds. $5 is the number of slots wanted, $6 whether
#: their time must have come. A new row grants none: its first slots are granted by the next statement.
_LEASE = """
INSERT INTO allowances AS kept (project, name, next_us, granted, asked_us)
SELECT $1, $2, now_us - $4, 0, now_us
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS clock (now_us)
ON CONFLICT (project, name) DO UPDATE SET (next_us, granted, asked_us) = (
  SELECT start_us + count * $3, count, EXCLUDED.asked_us
  FROM (SELECT greatest(kept.next_us, EXCLUDED.asked_us - $4)) AS begun (start_us), LATERAL (
    SELECT CASE WHEN $6 THEN least($5, greatest(0, (EXCLUDED.asked_us - start_us + $3) / $3)) ELSE $5 END
  ) AS wanted (count)
)
RETURNING next_us, granted, asked_us, xmax = 0 AS is_new
"""


#: Rates for which nobody asked for a day, $2 in microseconds.
_UNUSED = """
DELETE FROM allowances WHERE project = $1 AND asked_us < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $2
"""
_DAY_US = 24 * 3600 * SECOND_US


class PostgresSlots:
    """Counts the slots of a project's rates. `connection` yields a connection, or raises JournalUnavailable."""

    #: Long enough that few calls wait for the database, and short enough that an idle server holds little.
    ahead_s = 0.5

    def __init__(
        self,
        project: str,
        connection: Callable[[], AbstractAsyncContextManager[asyncpg.Connection]],
        outages: Outages,
    ) -> None:
        self._project = project
        self._connection = connection
        self._outages = outages

    async def lease(self, rate: Rate, most: int, *, due_only: bool) -> SlotGrant:
        """See `codemode.transports.allowances.Slots.lease`."""
        interval_us = max(1, round(SECOND_US / rate.per_s))
        given = (self._project, rate.name, interval_us, round(rate.burst_s * SECOND_US), most, due_only)
        row = await self._outages.through(partial(self._row, given))
        first_us = row["next_us"] - row["granted"] * interval_us
        return SlotGrant(row["granted"], (first_us - row["asked_us"]) / SECOND_US)

    async def _row(self, given: tuple[object, ...]) -> asyncpg.Record:
        async with self._connection() as connection:
            row = await connection.fetchrow(_LEASE, *given)
            return await connection.fetchrow(_LEASE, *given) if row["is_new"] else row

    async def remove_unused(self) -> None:
        """Remove rates for which nobody asked for a day. Raises JournalUnavailable."""
        async with self._connection() as connection:
            await connection.execute(_UNUSED, self._project, _DAY_US)
