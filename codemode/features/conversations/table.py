"""The stored values of conversations in a journal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from codemode.executions.journal.sql import state

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal
    from codemode.executions.types.records import Lease
    from codemode.executions.types.state_values import StateKey, StateWrite, StoredValue


class StateTable:
    """Reads and writes stored values. All methods raise JournalUnavailable."""

    def __init__(self, journal: Journal) -> None:
        self._tables = journal.tables

    async def store_state(self, lease: Lease, path: str, write: StateWrite) -> int:
        """Store a value for the call at `path` of the lease's execution, once.

        Return 0, or the bytes by which the value would exceed the owner's limit: it is then not stored. Raises
        LeaseLost.
        """
        tables = self._tables
        place = tables.digest(path)  # databases reject some characters of a guest's path
        return await tables.write_briefly(partial(state.store, tables.seals, lease, place, write))

    async def load_state(self, key: StateKey) -> bytes | None:
        """Return a stored value as JSON, None if there is none or it has expired. Raises JournalDamaged."""
        return await self._tables.read(state.load(self._tables.seals, key))

    async def state_names(self, owner: str, conversation: str) -> tuple[str, ...]:
        """Return the names of a conversation's stored values, in order."""
        return await self._tables.read(state.names(self._tables.seals, owner, conversation))

    async def list_values(self, owner: str, conversation: str, limit: int) -> tuple[StoredValue, ...]:
        """Return the newest values without their JSON, of an owner and of a conversation; "" for all of them."""
        return await self._tables.read(state.list_values(self._tables.seals.project, owner, conversation, limit))

    async def remove(self, owner: str, conversation: str) -> int:
        """Remove the values of a conversation. Return their number."""
        return await self._tables.write(state.remove(self._tables.seals.project, owner, conversation))
