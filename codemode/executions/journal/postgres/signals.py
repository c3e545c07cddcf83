"""Signals over PostgreSQL notifications. A payload is the id of an execution, never its data.

Triggers send `codemode_freed` and `codemode_followed` in the transaction that changes an execution, and appends send
`codemode_followed` in their statement. An execution that nobody follows elsewhere costs no notification: who follows it
sets `followed_until_us` first.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codemode.executions.journal.postgres.listener import Listener
from codemode.executions.journal.signals import LOOK_AGAIN_S, Signals
from codemode.executions.journal.sql.statements import Statement, now_us
from codemode.text.times import SECOND_US

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    from codemode.executions.journal.sql.statements import Transaction
    from codemode.executions.journal.sql.tables import Carry

#: Channels. Triggers of the migrations use the first two.
FREED = "codemode_freed"
FOLLOWED = "codemode_followed"
CANCEL = "codemode_cancel"

#: Seconds for which an execution sends signals after someone asked, and after which followers ask again.
_ASKED_S = 60.0
_ASK_AGAIN_S = 20.0

#: Poll interval with signals, in seconds: a pooler between server and database may drop notifications.
_SLOW_S = 5.0


class PostgresSignals(Signals):
    """The signals of the database at `url`. `write` carries out a transaction there."""

    def __init__(self, url: str, write: Carry) -> None:
        super().__init__()
        self.listener = Listener(url)
        self._write = write
        self._followers: dict[str, set[asyncio.Event]] = {}
        self._asked: dict[str, float] = {}
        self.listener.subscribe(FREED, self._heard_freed)
        self.listener.subscribe(FOLLOWED, self._heard_change)
        self.listener.subscribe(CANCEL, self._heard_cancel)

    @contextmanager
    def following(self, execution: str, changed: asyncio.Event) -> Iterator[None]:
        """See `Signals.following`."""
        followers = self._followers.setdefault(execution, set())
        followers.add(changed)
        try:
            yield
        finally:
            followers.discard(changed)
            if not followers:
                self._followers.pop(execution, None)
                self._asked.pop(execution, None)

    async def ask(self, execution: str) -> float:
        """See `Signals.ask`."""
        now = time.monotonic()
        if now - self._asked.get(execution, -_ASK_AGAIN_S) >= _ASK_AGAIN_S:
            await self._write(_follow(execution))
            if execution in self._followers:
                self._asked[execution] = now
        return _SLOW_S if self.listener.is_listening else LOOK_AGAIN_S

    async def free(self) -> None:
        """See `Signals.free`."""
        await self._write(_notify(FREED, ""))

    async def request_cancel(self, execution: str) -> bool:
        """See `Signals.request_cancel`."""
        await self._write(_notify(CANCEL, execution))
        return True

    def _heard_freed(self, _: str | None) -> None:
        self.freed.set()

    def _heard_change(self, execution: str | None) -> None:
        followed = self._followers if execution is None else (execution,)
        for one in followed:
            for changed in self._followers.get(one, ()):
                changed.set()

    def _heard_cancel(self, execution: str | None) -> None:
        if execution is not None:  # a missed request ends with the lease
            self.cancel_requested(execution)


def _follow(execution: str) -> Transaction[None]:
    now = yield from now_us()
    yield Statement(
        "UPDATE executions SET followed_until_us = $1 WHERE id = $2", (now + int(_ASKED_S * SECOND_US), execution)
    )


def _notify(channel: str, payload: str) -> Transaction[None]:
    yield Statement("SELECT pg_notify($1, $2)", (channel, payload))
