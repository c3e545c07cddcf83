"""Liveness of the servers on one machine: each locks a file, and the lock ends with the process.

So the executions of a killed server can be taken over at once, before its lease runs out. `flock(2)` locks work across
containers that share the folder, and a child that executes another program does not inherit them.
"""

from __future__ import annotations

import os
import platform
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from codemode.settings.file_lock import lock, try_lock

if TYPE_CHECKING:
    from pathlib import Path


class Presence:
    """This server among those with a file in `folder`. `name` is unique."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = f"{platform.node()}-{os.getpid()}-{secrets.token_hex(6)}"
        self._lock: int | None = None

    def announce(self) -> None:
        """Mark this server as alive, and remove the files of dead servers.

        Raises OSError if the folder is not writable.
        """
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for other in self._folder.glob("[!.]*"):
            self.is_dead(other.name)
        file = self._folder / self.name
        draft = file if os.name == "nt" else self._folder / f".{self.name}"  # Windows does not rename open files
        draft.unlink(missing_ok=True)
        self._lock = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        lock(self._lock)
        draft.rename(file)  # it appears already locked

    def withdraw(self) -> None:
        """Mark this server as ended."""
        if self._lock is not None:
            with suppress(OSError):
                (self._folder / self.name).unlink()
            os.close(self._lock)
            self._lock = None

    def is_dead(self, name: str) -> bool:
        """Return whether a server has ended. If that cannot be determined, return False: its lease will run out."""
        file = self._folder / name
        try:
            opened = os.open(file, os.O_RDWR)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        try:
            try_lock(opened)
        except OSError:
            return False
        else:
            with suppress(OSError):
                file.unlink()
            return True
        finally:
            os.close(opened)
