"""`MontySandbox`: run programs in Monty, a Python interpreter in Rust, without the process wall of `Sandbox`."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from pydantic_monty import AsyncMonty

from sandbox.errors import ProgramRefused, SandboxUnavailable
from sandbox.host import endings
from sandbox.host.arguments import (
    SEED_BYTES,
    Program,
    check_limits,
    check_program,
    check_settings,
    counted_whole,
)
from sandbox.limits import Limits
from sandbox.monty.reader import SourceReader
from sandbox.monty.roots import Roots
from sandbox.monty.session import MontySession
from sandbox.outcome import Failure, Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from sandbox.host.arguments import Preflight
    from sandbox.host.calls import CallHandler
    from sandbox.host.recording import Recording
    from sandbox.protocol.strict_json import JsonValue

_LAYER = "interpreter"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class MontySandbox:
    """Run programs, each in a single-use process of the Monty interpreter. Needs the package pydantic-monty.

    A program has no access to files, network or processes, because the interpreter implements none. The kernel does not
    confine the interpreter's process: a fault in Monty gives a program the rights of this process's user. Prefer
    `Sandbox` on Linux.

    `workers` is the number of idle interpreters. At most `running` programs run at one time, and others wait.

        async with MontySandbox() as sandbox:
            outcome = await sandbox.run("1 + 1")
    """

    def __init__(self, *, limits: Limits | None = None, workers: int = 2, running: int = 64) -> None:
        check_settings(limits=limits, workers=workers, running=running, require=(), compiled_bytes=0)
        self._limits = limits or Limits()
        self._workers = workers
        self._running = running
        self._turns = asyncio.Semaphore(running)
        self._starting = asyncio.Lock()
        self._reader = SourceReader()
        self._sessions: set[MontySession] = set()
        self._pool: AsyncMonty | None = None
        self._isolation: Mapping[str, str] = MappingProxyType({})

    @property
    def isolation(self) -> Mapping[str, str]:
        """`"in force"` for the interpreter, with its version. Empty before the start."""
        return self._isolation

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Start idle interpreters. `run` does this if it has not been done.

        Raises SandboxUnavailable if Monty cannot be started.
        """
        await self._ready_pool()

    async def aclose(self) -> None:
        """End the processes of this sandbox. Running programs end as crashed."""
        async with self._starting:
            for session in self._sessions:
                session.close()
            pool, self._pool = self._pool, None
            if pool is not None:
                await pool.__aexit__(None, None, None)
            await self._reader.aclose()

    async def run(
        self,
        code: str,
        *,
        names: Collection[str] = (),
        call: CallHandler | None = None,
        preflight: Preflight | None = None,
        seed: bytes | None = None,
        now: datetime | None = None,
        limits: Limits | None = None,
        inputs: Mapping[str, JsonValue] = MappingProxyType({}),
        recording: Recording | None = None,
        uncounted_s: Callable[[], float] = counted_whole,
    ) -> Outcome:
        """Run one program and return its outcome, as `Sandbox.run` does. No action of the program raises here.

        Raises SandboxUnavailable or WorkerError if no interpreter can be started; TypeError or ValueError for an
        invalid argument.
        """
        check_limits(limits)
        check_program(code, names=names, inputs=inputs, call=call, seed=seed)
        limits = limits or self._limits
        unfit = endings.by_source(code, limits)
        if unfit is not None:
            return unfit.outcome(isolation=(_LAYER,))
        program = Program(
            source=b"",
            limits=limits,
            seed=seed if seed is not None else os.urandom(SEED_BYTES),
            now=time.time_ns() // 1_000 if now is None else (now.astimezone(UTC) - _EPOCH) // _MICROSECOND,
            inputs=inputs,
            call=call,
            preflight=preflight,
            recording=recording,
            uncounted_s=uncounted_s,
        )
        async with self._turns:
            pool = self._pool or await self._ready_pool()
            return await self._run(program, code, Roots(names), pool)

    async def _run(self, program: Program, code: str, roots: Roots, pool: AsyncMonty) -> Outcome:
        began = time.monotonic()
        reading = await self._reader.read(code, roots.names, program.limits, roots.values)
        if isinstance(reading, Failure):
            return Outcome(Status.REFUSED, failure=reading, isolation=(_LAYER,))
        try:
            if reading.refusals:
                raise ProgramRefused(reading.refusals)
            if program.preflight is not None:
                await program.preflight(reading.sites)
        except ProgramRefused as refused:
            outcome = endings.by_refusal(refused).outcome(isolation=(_LAYER,))
            if reading.refusals and outcome.failure is not None:
                outcome = replace(outcome, failure=replace(outcome.failure, type="PolicyViolation"))
            return outcome
        session = MontySession(program, reading, roots, began=began)
        self._sessions.add(session)
        try:
            return await session.run(pool, (_LAYER,))
        finally:
            self._sessions.discard(session)

    async def _ready_pool(self) -> AsyncMonty:
        async with self._starting:
            if self._pool is None:
                pool = AsyncMonty(min_processes=self._workers, max_processes=self._running, max_checkouts_per_worker=1)
                try:
                    await pool.__aenter__()
                except (OSError, RuntimeError) as error:
                    message = f"Monty could not be started: {error}; reinstall pydantic-monty"
                    raise SandboxUnavailable(message) from error
                self._pool = pool
                self._isolation = MappingProxyType({_LAYER: f"in force (pydantic-monty {version('pydantic-monty')})"})
            return self._pool
