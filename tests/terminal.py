"""The command on a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.command_line import SCRIPT, script_environment

if TYPE_CHECKING:
    from pathlib import Path


class Terminal:
    """The command on a terminal."""

    def __init__(self, folder: Path, *words: str, trusts: bool = True, **environment: str) -> None:
        self.shown = ""
        self._read = 0
        self._end, terminal = pty.openpty()
        variables = {
            **script_environment(folder if trusts else None),
            "HOME": str(folder),
            "TERM": "xterm-256color",
            "COLUMNS": "80",
            **environment,
        }
        self._process = subprocess.Popen(
            [SCRIPT, *words],
            cwd=folder,
            env=variables,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            preexec_fn=_with_interrupts,
        )
        os.close(terminal)

    def wait_for(self, text: str) -> None:
        """Wait until the text appears after what was waited for before."""
        while (found := self.shown.find(text, self._read)) < 0:
            self.shown += os.read(self._end, 4096).decode(errors="replace")
        self._read = found + len(text)

    def type(self, text: str) -> None:
        os.write(self._end, text.encode())

    def interrupt(self) -> None:
        """Do what Ctrl-C does."""
        self._process.send_signal(signal.SIGINT)

    def interrupt_until(self, text: str) -> None:
        """Press Ctrl-C until the text appears. One that comes just before `input` waits is noticed at the next key."""
        while self.shown.find(text, self._read) < 0:
            self.interrupt()
            while self.shown.find(text, self._read) < 0 and select.select([self._end], [], [], 2.0)[0]:
                self.shown += os.read(self._end, 4096).decode(errors="replace")
        self.wait_for(text)

    def close(self) -> int:
        """Read to the end, and return the exit code."""
        with suppress(OSError):  # the other end is closed
            while data := os.read(self._end, 4096):
                self.shown += data.decode(errors="replace")
        os.close(self._end)
        return self._process.wait()


def _with_interrupts() -> None:
    """Undo what a shell without job control does to background processes: they ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
