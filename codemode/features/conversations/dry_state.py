"""The state of a dry run: values that its program stores are its own, and end with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemode.executions.types.state_values import StateKey, StateWrite
    from codemode.features.conversations.program_state import StateReader


class DryState:
    """Keeps values over those that `below` reads."""

    def __init__(self, below: StateReader) -> None:
        self._below = below
        self._own: dict[StateKey, bytes] = {}

    async def store_state(self, _: str, write: StateWrite) -> int:
        """Keep a value for the rest of the dry run."""
        self._own[write.key] = write.value
        return 0

    async def load_state(self, key: StateKey) -> bytes | None:
        """Return the program's own value, else the stored one."""
        return self._own[key] if key in self._own else await self._below.load_state(key)

    async def state_names(self, owner: str, conversation: str) -> tuple[str, ...]:
        """Return the names of both."""
        return tuple(sorted({*await self._below.state_names(owner, conversation), *(key.name for key in self._own)}))
