"""The recording of a saved program within a recorded execution.

Its entries are entries of the execution. What it was sent is recorded apart, so that it is replayed like any program.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from codemode.executions.run.inner_run import WITHIN, InnerRun
from codemode.executions.types.records import JournalEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.catalog.saved import SavedProgram
    from codemode.executions.run.inner_run import Stop
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.record import SavedProgramStart
    from sandbox import Call, Delivery

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class OuterSession(Protocol):
    """The session around a saved program. `within` is the path of the saved program's call."""

    def identify(self, call: Call, within: str) -> object:
        """Register a call. Raises ProgramStopped if another call was recorded."""
        ...

    def replayed(self, call: Call, within: str) -> None:
        """Compare a call with the record."""
        ...

    def live(self, within: str) -> None:
        """End the replay. Raises ProgramStopped if the program has made fewer calls than recorded."""
        ...

    async def deliver(self, deliveries: Sequence[Delivery], within: str, over: asyncio.Event | None) -> bool:
        """Journal what is about to be sent to the program."""
        ...


class InnerRecording:
    """The `sandbox.Recording` of the saved program that the call `path` runs. `stop` keeps what stopped it."""

    def __init__(self, session: OuterSession, path: str, recorded: Sequence[Delivery], stop: Stop) -> None:
        self._session = session
        self._path = path
        self._stop = stop
        self._recorded = recorded
        self._over = asyncio.Event()

    @property
    def recorded(self) -> Sequence[Delivery]:
        """The messages that the program was sent before."""
        return self._recorded

    def identify(self, call: Call) -> None:
        """Compare a call with the record. Raises ProgramStopped if another call was recorded."""
        self._session.identify(call, self._path)

    def replayed(self, call: Call) -> None:
        """See `sandbox.Recording`."""
        with self._stop.noted():
            self._session.replayed(replace(call, path=f"{self._path}{WITHIN}{call.path}"), self._path)

    def printed(self, text: str) -> None:
        """Drop output: it is the value of the program that counts."""

    def live(self) -> None:
        """See `sandbox.Recording`."""
        with self._stop.noted():
            self._session.live(self._path)

    async def deliver(self, deliveries: Sequence[Delivery]) -> bool:
        """See `sandbox.Recording`."""
        with self._stop.noted():
            return await self._session.deliver(deliveries, self._path, self._over)

    def over(self) -> None:
        """See `sandbox.Recording`."""
        self._over.set()


def began_entry(began: SavedProgramStart, program: SavedProgram, entry: LedgerEntry) -> JournalEntry:
    """Return the journal entry of the start of a saved program, with the code that runs."""
    data = {
        "tool": program.id,
        "version": program.version,
        "arguments": entry.arguments,
        "effect": began.effect,
        "decision": entry.decision,
        "rule": entry.rule,
        "now": began.now,
    }
    return JournalEntry("began", entry.path, data, json.dumps(began.code).encode())


def inner_run(began: SavedProgramStart, recording: InnerRecording, seed: bytes, path: str) -> InnerRun:
    """Return the run of a saved program. Its seed follows from that of the execution and the path of its call."""
    own = hashlib.blake2b(path.encode(), key=seed, digest_size=len(seed)).digest()
    return InnerRun(began.code, own, _EPOCH + timedelta(microseconds=began.now), recording)
