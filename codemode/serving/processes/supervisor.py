"""The supervisor of several server processes: it forks them, restarts those that die, and passes signals on.

It has no threads and no event loop, so that a fork copies neither. The signals that concern it are blocked, and read
one after the other.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError
from codemode.serving.processes.server_process import ServerProcess

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

log = logging.getLogger(__name__)

#: Seconds before the first restart of a process. Each further restart waits twice as long.
BACKOFF_S = 0.25

#: Seconds after which a process counts as stable: its earlier failures are forgotten.
STABLE_S = 30.0

#: Failures of one process in a row after which the supervisor ends all.
MOST_FAILURES = 6

_FAILED = 1


@dataclass(slots=True, eq=False)
class _Place:
    """One of the processes. `pid` is 0 while none runs; `due` is when the next one starts."""

    number: int
    pid: int = 0
    begun: float = 0.0
    failures: int = 0
    due: float = 0.0
    has_run: bool = False


def supervise(count: int, listener: socket.socket) -> ServerProcess:
    """Fork `count` server processes that share a bound socket, and return in each of them.

    In the supervisor itself, raise SystemExit once all have ended: with 0 after SIGTERM or SIGINT, else with the exit
    code of a process that could not start, or 1. Raises ConfigurationError where processes cannot be forked.
    """
    if not hasattr(os, "fork"):
        message = "server.processes: this system cannot fork; use 1, and several servers behind a load balancer"
        raise ConfigurationError(message)
    folder = Path(tempfile.mkdtemp(prefix="codemode-"))
    supervisor = Supervisor(count, folder, listener)
    process = supervisor.run()
    if process is not None:
        return process
    shutil.rmtree(folder, ignore_errors=True)
    raise SystemExit(supervisor.exit_code)


class Supervisor:
    """Keeps `count` processes running. They share `folder` and `listener`, and end if the supervisor does."""

    def __init__(
        self, count: int, folder: Path, listener: socket.socket, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.exit_code = 0
        self._places = [_Place(number) for number in range(1, count + 1)]
        self._folder = folder
        self._listener = listener
        self._clock = clock
        self._is_stopping = False
        self._lifeline = os.pipe()  # its write end closes with the supervisor, however that ends
        self._mask: set[int] = set()

    def run(self) -> ServerProcess | None:
        """Supervise until all processes have ended, and return None. In a new process, return what it was given."""
        asked = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM}
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, asked)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # an ignored signal may not be reported
        while True:
            process = self._start_due()
            if process is not None:
                return process
            if not any(place.pid for place in self._places) and self._is_stopping:
                return None
            self._set_alarm()
            self._handle(signal.sigwait(asked))

    def _handle(self, number: int) -> None:
        match number:
            case signal.SIGCHLD:
                self._reap()
            case signal.SIGHUP:
                self._send(signal.SIGHUP)
            case signal.SIGTERM:
                self._stop()
            case signal.SIGINT if self._is_stopping:
                self._send(signal.SIGINT)  # the second one cuts requests off
            case signal.SIGINT:
                self._stop()  # a terminal sends SIGINT to the processes too, and a second one would cut requests off

    def _stop(self) -> None:
        self._is_stopping = True
        self._listener.close()  # the port closes once the processes have closed it too
        self._send(signal.SIGTERM)

    def _send(self, number: signal.Signals) -> None:
        for place in self._places:
            if place.pid:
                os.kill(place.pid, number)

    def _start_due(self) -> ServerProcess | None:
        """Start the processes that are due. In a new process, return what it was given."""
        now = self._clock()
        for place in self._places:
            if not place.pid and place.due <= now and not self._is_stopping:
                place.begun = now
                place.pid = os.fork()
                if place.pid == 0:
                    return self._in_process(place.number)
        return None

    def _in_process(self, number: int) -> ServerProcess:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        ended, kept_open = self._lifeline
        os.close(kept_open)
        return ServerProcess(number, len(self._places), self._folder, supervisor_end=ended)

    def _set_alarm(self) -> None:
        """Ask for SIGALRM when the next process is due."""
        waiting = [place.due for place in self._places if not place.pid]
        wait_s = max(min(waiting) - self._clock(), 0.001) if waiting and not self._is_stopping else 0.0
        signal.setitimer(signal.ITIMER_REAL, wait_s)

    def _reap(self) -> None:
        for place in self._places:
            if not place.pid:
                continue
            pid, status = os.waitpid(place.pid, os.WNOHANG)
            if pid:
                place.pid = 0
                ServerProcess.forget(self._folder, pid)
                self._ended(place, os.waitstatus_to_exitcode(status))

    def _ended(self, place: _Place, code: int) -> None:
        """Decide what follows the end of a process: a restart, or the end of all."""
        if self._is_stopping:
            return
        lived_s = self._clock() - place.begun
        place.failures = 1 if lived_s >= STABLE_S else place.failures + 1
        facts = {"server_process": place.number, "ended_by": _described(code)}
        is_misconfigured = code > 0 and lived_s < STABLE_S and not place.has_run
        place.has_run = True
        if is_misconfigured:
            self.exit_code = code  # the process has reported why
            self._stop()
        elif place.failures >= MOST_FAILURES:
            self.exit_code = _FAILED
            log.error("a server process ended %d times in a row: the server stops", place.failures, extra=facts)
            self._stop()
        else:
            wait_s = BACKOFF_S * 2 ** (place.failures - 1)
            place.due = self._clock() + wait_s
            log.error("a server process ended, and is started again in %g s", wait_s, extra=facts)


def _described(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
