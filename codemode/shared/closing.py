"""Closing of a store, also while its database does not answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.shared.values import ValueStore

#: Seconds to wait until the last values are saved.
SAVING_S = 3.0


async def save_and_close(store: ValueStore, *saves: Callable[[], None]) -> None:
    """Close a store after `saves`, which get `SAVING_S` seconds: what waits for a database then fails."""

    def save() -> None:
        for one in saves:
            one()

    saving = asyncio.create_task(asyncio.to_thread(save))
    await asyncio.wait((saving,), timeout=SAVING_S)
    await asyncio.to_thread(store.close)
    await saving
