"""Which continuations were used. A file of the state folder says so to other processes, and after a restart."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

from codemode.errors import JournalUnavailable
from codemode.features.continuations.errors import ContinuationInvalid
from codemode.text.times import has_passed

if TYPE_CHECKING:
    from codemode.features.continuations.seal import Opened
    from codemode.shared.values import SharedValue, ValueStore


class Used:
    """The continuations that servers with this store have used, until they expire."""

    def __init__(self, store: ValueStore) -> None:
        self._store = store

    async def take(self, opened: Opened) -> None:
        """Mark a continuation as used. Raises ContinuationInvalid if it is, JournalUnavailable."""

        def taken(data: bytes | None) -> bytes:
            used = _read(data)
            if opened.id.hex() in used:
                message = (
                    f"the continuation of {opened.execution} was already used; use the one that its use returned. If a"
                    " server ended before it returned one, some calls may have been made since: check them"
                )
                raise ContinuationInvalid(message, execution=opened.execution)
            return json.dumps({**used, opened.id.hex(): opened.expires}).encode()

        try:
            await asyncio.to_thread(self._value(opened).change, taken)
        except (OSError, ValueError) as error:
            message = f"cannot record in {self._value(opened).title} that a continuation is used: {error}"
            raise JournalUnavailable(message) from None

    async def give_back(self, opened: Opened) -> None:
        """Mark it as unused: its use changed nothing. If that fails, it stays used."""

        def given_back(data: bytes | None) -> bytes:
            used = _read(data)
            used.pop(opened.id.hex(), None)
            return json.dumps(used).encode()

        try:
            await asyncio.to_thread(self._value(opened).change, given_back)
        except (OSError, ValueError):
            return

    def _value(self, opened: Opened) -> SharedValue:
        """Return one of 256 values, so that each stays small."""
        return self._store.value("continuations", opened.id[:1].hex())


def _read(data: bytes | None) -> dict[str, int]:
    """Return the expiry of each used continuation that has not expired. Raises ValueError for a damaged value."""
    used = json.loads(data) if data is not None else {}
    if not isinstance(used, dict):
        raise ValueError("it is damaged")
    now = time.time()
    return {id_: until for id_, until in used.items() if not has_passed(until, now)}
