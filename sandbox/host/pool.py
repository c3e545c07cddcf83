"""Idle workers: forked, locked and rehearsed before a program needs them.

On a saturated machine, preparing workers only takes time away from programs. The pool is then filled later, and
workers are forked on demand.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from typing import TYPE_CHECKING

from sandbox.protocol.control import Purpose

if TYPE_CHECKING:
    from sandbox.host.fork_server import ForkServer
    from sandbox.host.unsandboxed_workers import UnsandboxedWorkers
    from sandbox.host.worker import Worker
    from sandbox.limits import Limits

_logger = logging.getLogger(__name__)

#: How long a saturated pool waits before it tries to fill again.
_LOOK_AGAIN_S = 0.01


class Pool:
    """Keep `size` idle workers with these limits. Other limits, or more programs, get workers forked on demand."""

    def __init__(self, server: ForkServer | UnsandboxedWorkers, limits: Limits, *, size: int) -> None:
        self._server = server
        self._limits = limits
        self._size = size
        self._idle: deque[Worker] = deque()
        self._busy = 0
        self._processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._timer: asyncio.TimerHandle | None = None

    def fill(self) -> None:
        """Fork the missing workers, or try again later if all processors are busy."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._server.is_alive:
            return
        if self._busy >= self._processors:
            self._timer = asyncio.get_running_loop().call_later(_LOOK_AGAIN_S, self.fill)
            return
        while len(self._idle) < self._size:
            self._idle.append(self._server.fork(self._limits, Purpose.SERVE_LATER))

    def acquire(self, limits: Limits) -> Worker:
        """Return a worker for one program. Raises WorkerError."""
        worker = self._take_idle(limits) or self._server.fork(limits, Purpose.SERVE)
        self._busy += 1
        return worker

    def release(self, worker: Worker) -> None:
        """Discard the worker and fill the pool, after the caller has returned its outcome."""
        self._busy -= 1
        asyncio.get_running_loop().call_soon(self._replace, worker)

    def _replace(self, worker: Worker) -> None:
        worker.discard()
        if self._timer is None:
            self.fill()

    def close(self) -> None:
        """Discard the idle workers, and fork no more."""
        self._size = 0
        if self._timer is not None:
            self._timer.cancel()
        while self._idle:
            self._idle.popleft().discard()

    def _take_idle(self, limits: Limits) -> Worker | None:
        if (limits.memory_bytes, limits.cpu_s) != (self._limits.memory_bytes, self._limits.cpu_s):
            return None  # the kernel's limits were set when the worker was forked
        for place in reversed(range(len(self._idle))):
            worker = self._idle[place]  # the newest first: its memory is still cached
            if worker.is_usable and not worker.has_started:
                continue  # forking another takes no longer than waiting
            del self._idle[place]
            if worker.is_usable:
                return worker
            _logger.warning("a worker ended, or sent data, before it was given a program: %.2000r", worker.early)
            worker.discard()
        return None
