"""`Sandbox`: run untrusted programs, each in a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from sandbox.host.arguments import (
    SEED_BYTES,
    Program,
    check_limits,
    check_program,
    check_settings,
    counted_whole,
)
from sandbox.host.compiled import CompiledPrograms, Key
from sandbox.host.endings import by_source
from sandbox.host.fork_server import PROGRAM, ForkServer
from sandbox.host.layers import is_in_force, missing_on, probe, refuse_missing, refuse_platform
from sandbox.host.pool import Pool
from sandbox.host.session import Session
from sandbox.host.unsandboxed_workers import UnsandboxedWorkers
from sandbox.limits import MIB, Limits
from sandbox.protocol.host_messages import encode_program

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from sandbox.host.arguments import Preflight
    from sandbox.host.calls import CallHandler
    from sandbox.host.recording import Recording
    from sandbox.outcome import Outcome
    from sandbox.protocol.strict_json import JsonValue

#: The default of `require`.
REQUIRED = ("seccomp", "rlimits", "fork_server")

#: Default size of the cache of compiled programs: about 500 programs of 40 lines.
COMPILED_BYTES = 8 * MIB

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

#: The process wall exists on Linux only.
PLATFORM = sys.platform


class Sandbox:
    """Run programs, each in a single-use process that is forked, locked down and warm before the program arrives.

    `workers` is the number of idle workers; more are forked on demand. At most `running` programs run at one time, and
    others wait. `require` names the layers that must be in force (any of seccomp, rlimits, fork_server, user,
    capabilities, namespaces, landlock). `insecure=True` runs programs without them, and on other platforms than Linux;
    use it only for programs that you would run without a sandbox. `compiled_bytes` is the size of the cache of compiled
    programs; 0 disables it.

        async with Sandbox() as sandbox:
            outcome = await sandbox.run("1 + 1")
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        workers: int = 2,
        running: int = 64,
        require: Collection[str] = REQUIRED,
        insecure: bool = False,
        program: str = PROGRAM,
        folders: tuple[str, ...] = (),
        compiled_bytes: int = COMPILED_BYTES,
    ) -> None:
        check_settings(limits=limits, workers=workers, running=running, require=require, compiled_bytes=compiled_bytes)
        self._limits = limits or Limits()
        self._size = workers
        self._turns = asyncio.Semaphore(running)
        self._compiled = CompiledPrograms(compiled_bytes)
        self._compiling: asyncio.Task[None] | None = None
        self._require = tuple(require)
        self._is_insecure = insecure
        self._program = program
        self._folders = folders
        self._server: ForkServer | UnsandboxedWorkers | None = None
        self._pool: Pool | None = None
        self._starting = asyncio.Lock()
        self._isolation: Mapping[str, str] = MappingProxyType({})
        self._layers: tuple[str, ...] = ()

    @property
    def isolation(self) -> Mapping[str, str]:
        """The result of the probe for each layer: `"in force"`, or what was possible."""
        return self._isolation

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Start the fork server, probe the layers, and fork idle workers. `run` does this if it has not been done.

        Raises SandboxUnavailable if a required layer is missing, or WorkerError if no process can be started.
        """
        await self._ready_pool()

    async def aclose(self) -> None:
        """End every process of this sandbox. Running programs end as crashed."""
        async with self._starting:
            server, self._server = self._server, None
            if self._compiling is not None:
                self._compiling.cancel()
                await asyncio.wait((self._compiling,))
            if self._pool is not None:
                self._pool.close()
                self._pool = None
            if server is not None:
                server.on_death = None
                await server.aclose()

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
        """Run one program and return its outcome. No action of the program raises here.

        `names` are the root names that the program may call, signatures of functions with positional arguments
        (`load(name)`), and values (`last=load`: the program begins with `last = load("last")` if it reads `last`).
        `call` answers each call. `preflight` receives the call
        sites before anything runs, and may raise ProgramRefused. `inputs` are bound as variables. `seed` (32 bytes) and
        `now` determine randomness and time; by default they are fresh. With the same values and a `recording`, a
        program can be run again: it is sent its record first, and then continues. `uncounted_s` returns the seconds,
        so far, that do not count towards `wall_s`: those that calls waited for what is not the program's doing.

        Raises SandboxUnavailable or WorkerError if no worker can be started; InvalidJson, TypeError or ValueError for
        an invalid argument.
        """
        check_limits(limits)
        check_program(code, names=names, inputs=inputs, call=call, seed=seed)
        limits = limits or self._limits
        unfit = by_source(code, limits)
        if unfit is not None:
            return unfit.outcome(isolation=self._layers)
        key = self._compiled.key(code, names, limits)
        source = self._compiled.find(key)
        program = Program(
            source=source or encode_program(code, names),
            limits=limits,
            seed=seed if seed is not None else os.urandom(SEED_BYTES),
            now=time.time_ns() // 1_000 if now is None else (now.astimezone(UTC) - _EPOCH) // _MICROSECOND,
            inputs=inputs,
            call=call,
            preflight=preflight,
            recording=recording,
            uncounted_s=uncounted_s,
        )
        start = program.encode()
        async with self._turns:
            pool = self._pool or await self._ready_pool()
            began = time.monotonic()
            worker = pool.acquire(limits)
            try:
                worker.send(start)  # first: the worker begins while the host sets up the rest
                return await Session(program, worker, self._layers, began=began).run()
            finally:
                pool.release(worker)
                if source is None:
                    self._compile_apart(key, limits)

    def _compile_apart(self, key: Key, limits: Limits) -> None:
        """Compile a repeated program in a worker of its own: one at a time, and after its run, so that none waits."""
        is_free = self._compiling is None or self._compiling.done()
        if self._server is not None and is_free and self._compiled.is_wanted(key):
            self._compiling = asyncio.create_task(self._compiled.compile(key, self._server, limits))

    async def _ready_pool(self) -> Pool:
        async with self._starting:
            if self._pool is None:
                server = await self._start_server()
                self._server = server
                self._pool = Pool(server, self._limits, size=self._size)
                server.on_death = self._forget_server
                self._pool.fill()
            return self._pool

    async def _start_server(self) -> ForkServer | UnsandboxedWorkers:
        if PLATFORM != "linux":
            return await self._start_without_wall()
        server = ForkServer(program=self._program, folders=self._folders)
        await server.start()
        try:
            found = await probe(server, self._limits)
            self._isolation = MappingProxyType(found)
            self._layers = tuple(layer for layer, result in found.items() if is_in_force(result))
            if not self._is_insecure:
                refuse_missing(found, self._require)
        except BaseException:  # cancellation, too: nothing else refers to this process
            await server.aclose()
            raise
        return server

    async def _start_without_wall(self) -> UnsandboxedWorkers:
        if not self._is_insecure:
            refuse_platform(PLATFORM)
        self._isolation = MappingProxyType(missing_on(PLATFORM))
        workers = UnsandboxedWorkers(program=self._program, folders=self._folders)
        await workers.start()
        return workers

    def _forget_server(self) -> None:
        """Forget a fork server that died with its workers; the next program starts another."""
        assert self._pool is not None  # noqa: S101 - this is called while the pool is in use
        self._pool.close()
        self._server = self._pool = None
