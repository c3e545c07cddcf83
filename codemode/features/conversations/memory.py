"""Stored values in memory, for a service without a journal. They end with the process."""

from __future__ import annotations

import hashlib
import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.executions.types.state_values import StateKey, StateWrite, size_of
from codemode.text.times import has_passed

if TYPE_CHECKING:
    from collections.abc import Callable


class _Kept(NamedTuple):
    value: bytes
    until_s: float


class MemoryState:
    """The values of all callers. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[StateKey, _Kept] = {}

    async def store_state(self, _: str, write: StateWrite) -> int:
        """See `StateTable.store_state`. No call is repeated here."""
        self._forget_expired()
        key = write.key
        others = sum(size_of(one.value) for at, one in self._kept.items() if at.owner == key.owner and at != key)
        excess = others + size_of(write.value) - write.owner_bytes
        if excess > 0:
            return excess
        self._kept[key] = _Kept(write.value, self._clock() + write.keep_s)
        return 0

    async def load_state(self, key: StateKey) -> bytes | None:
        """Return a value as JSON, None if there is none or it has expired."""
        self._forget_expired()
        kept = self._kept.get(key)
        return None if kept is None else kept.value

    async def state_names(self, owner: str, conversation: str) -> tuple[str, ...]:
        """Return the names of a conversation's values, in order."""
        self._forget_expired()
        return tuple(sorted(at.name for at in self._kept if (at.owner, at.conversation) == (owner, conversation)))

    def _forget_expired(self) -> None:
        now = self._clock()
        for key in [key for key, one in self._kept.items() if has_passed(one.until_s, now)]:
            del self._kept[key]


def plain_digest(value: Any) -> str:
    """Return the digest of JSON data, as 64 hexadecimal digits."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
