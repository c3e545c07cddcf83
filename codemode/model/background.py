"""Programs that continue after the request that started them has been answered."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codemode.executions.types.outcome import ExecutionOutcome
from codemode.shared.callbacks import ignore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from codemode.executions.life.programs import Request
    from codemode.gateway.caller import Caller
    from codemode.model.programs import ModelPrograms

    #: Queues the work of a caller. Yields a function to call once a program has started.
    Turn = Callable[[Caller], AbstractAsyncContextManager[Callable[[], None]]]


@asynccontextmanager
async def no_queue(_: Caller) -> AsyncIterator[Callable[[], None]]:
    """A process with one client needs no queue."""
    yield ignore


@dataclass(frozen=True, slots=True)
class Running:
    """A started execution. `stopped` is done once it has ended or paused. `notes` say how the call was read."""

    execution: str
    stopped: asyncio.Task[ExecutionOutcome]
    notes: tuple[str, ...] = ()

    def outcome(self) -> ExecutionOutcome:
        """Return the outcome of a stopped execution, with the notes. Raises what the execution raised."""
        ended = self.stopped.result()
        return replace(ended, notes=(*ended.notes, *self.notes)) if self.notes else ended


class Background:
    """Runs programs. Each holds a turn of its caller until it stops."""

    def __init__(self, programs: ModelPrograms, turn: Turn = no_queue) -> None:
        self._programs = programs
        self.turn = turn
        self._holding: set[asyncio.Task[ExecutionOutcome]] = set()

    async def run(
        self, request: Request, caller: Caller, *, dry_run: bool = False, within_s: float | None = None
    ) -> ExecutionOutcome:
        """Do what a request asks for. A recorded execution that takes longer than `within_s` seconds goes on.

        Its outcome then has the status `running`. Cancelling this coroutine before cancels the execution. Raises the
        errors of the turn and of `ModelPrograms.perform`.
        """
        started, working = self._begin(request, caller, dry_run=dry_run)
        try:
            await asyncio.wait((working,), timeout=within_s)
            if not working.done():
                await asyncio.wait((working, started), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await _cancelled(working)
            raise
        if working.done():
            return working.result()
        return ExecutionOutcome.of_stored(await self._programs.executions.get(started.result(), caller))

    async def begin(self, request: Request, caller: Caller) -> Running:
        """Start or continue a recorded execution. Raises the errors of the turn and of `ModelPrograms.perform`."""
        started, working = self._begin(request, caller, dry_run=False)
        try:
            await asyncio.wait((working, started), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await _cancelled(working)
            raise
        return Running(started.result() if started.done() else working.result().id, working)

    def _begin(
        self, request: Request, caller: Caller, *, dry_run: bool
    ) -> tuple[asyncio.Future[str], asyncio.Task[ExecutionOutcome]]:
        started: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        working = asyncio.create_task(self._work(replace(request, started=started.set_result), caller, dry_run=dry_run))
        self._holding.add(working)
        working.add_done_callback(self._forget)
        return started, working

    async def _work(self, request: Request, caller: Caller, *, dry_run: bool) -> ExecutionOutcome:
        async with self.turn(caller) as begun:
            return await self._programs.perform(replace(request, begun=begun), caller, dry_run=dry_run)

    def _forget(self, working: asyncio.Task[ExecutionOutcome]) -> None:
        self._holding.discard(working)
        if not working.cancelled():
            working.exception()  # marks it as retrieved: after the answer, the execution's record says what happened


async def _cancelled(working: asyncio.Task[ExecutionOutcome]) -> None:
    """Cancel a program and wait until its end is recorded."""
    working.cancel()
    await asyncio.wait((working,))
