"""Which servers of one machine live: each holds a lock on a file of its own, which ends with it however it ends.

So what a killed server has left behind can be taken over at once, where a lease would have to run out first. Locks are
those of `flock(2)`: they hold across containers that share the folder, and children that run another program do not
inherit them.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Presence:
    """This server among those whose files are in `folder`; `name` is its own, and no other's ever."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = f"{os.uname().nodename}-{os.getpid()}-{secrets.token_hex(6)}"
        self._lock: int | None = None

    def announce(self) -> None:
        """Say that this server lives, and forget the dead. Raises OSError where the folder cannot be written."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for other in self._folder.glob("[!.]*"):
            self.is_dead(other.name)
        draft = self._folder / f".{self.name}"
        draft.unlink(missing_ok=True)
        self._lock = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        draft.rename(self._folder / self.name)  # nobody sees it without its lock

    def withdraw(self) -> None:
        """Say that it does not live any more."""
        if self._lock is not None:
            with suppress(OSError):
                (self._folder / self.name).unlink()
            os.close(self._lock)
            self._lock = None

    def is_dead(self, name: str) -> bool:
        """Whether a server has ended. Where that cannot be told it has not: its lease will run out."""
        file = self._folder / name
        try:
            opened = os.open(file, os.O_RDWR)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        else:
            with suppress(OSError):
                file.unlink()
            return True
        finally:
            os.close(opened)
