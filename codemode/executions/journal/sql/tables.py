"""What a journal gives to the table of a feature: its transactions, seals and digests.

The schema of each table and its retention stay with the journal, because a store is migrated and pruned as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.executions.journal.seals import Seals
    from codemode.executions.journal.sql.statements import Result, Transaction


class Carry(Protocol):
    """Carries out a transaction of the journal."""

    async def __call__(self, transaction: Transaction[Result], /) -> Result:
        """Return the result. Raises JournalUnavailable."""
        ...


class CarryBriefly(Protocol):
    """Carries out a transaction that takes less time than a handover to a thread."""

    async def __call__(self, begin: Callable[[], Transaction[Result]], /) -> Result:
        """Return the result. `begin` may be called twice. Raises JournalUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class Tables:
    """The store of one journal, from the perspective of a table.

    `expire_us` is how long a decision is waited for, and good for, in µs. `digest` is the journal's keyed digest.
    """

    read: Carry
    write: Carry
    write_briefly: CarryBriefly
    seals: Seals
    expire_us: int
    digest: Callable[[Any], str]
