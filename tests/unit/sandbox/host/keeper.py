"""A recording that keeps what it is told, for tests of the host."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sandbox import Call, CallFailed, Delivery, Outcome, Sandbox

if TYPE_CHECKING:
    from collections.abc import Sequence

SEED, START = b"s" * 32, datetime(2031, 5, 6, 7, 8, 9, 123457, tzinfo=UTC)


class Keeper:
    """Keeps the record of a run in memory. `history` is what happened, in order, as the host saw it."""

    def __init__(self, recorded: Sequence[Delivery] = (), *, jitter: random.Random | None = None) -> None:
        self.recorded = tuple(recorded)
        self.delivered: list[Delivery] = []
        self.history: list[Call | Delivery] = []
        self.seen: list[Call] = []
        self.made: list[Call] = []
        self.output = ""
        self.is_live = False
        self.is_over = asyncio.Event()
        self._jitter = jitter or random.Random(0)  # noqa: S311 -- any order will do

    def replayed(self, call: Call) -> None:
        self.seen.append(call)

    def printed(self, text: str) -> None:
        self.output += text

    def live(self) -> None:
        self.is_live = True

    async def deliver(self, deliveries: Sequence[Delivery]) -> bool:
        await asyncio.sleep(self._jitter.random() / 1000)
        self.delivered += deliveries
        self.history += deliveries
        return True

    def over(self) -> None:
        self.is_over.set()

    async def answer(self, call: Call) -> Any:
        self.made.append(call)
        self.history.append(call)
        await asyncio.sleep(self._jitter.random() / 200)
        if self._jitter.random() < 0.1:
            raise CallFailed("it did not work", kind="upstream_error", status=500)
        return {"n": self._jitter.random(), "arguments": call.arguments}

    @property
    def record(self) -> tuple[Delivery, ...]:
        return (*self.recorded, *self.delivered)

    async def run(self, sandbox: Sandbox, code: str) -> Outcome:
        return await sandbox.run(code, names=("ns",), call=self.answer, seed=SEED, now=START, recording=self)
