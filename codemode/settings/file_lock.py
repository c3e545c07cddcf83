"""Advisory locks on files of the state folder, on every platform. Closing a file releases its lock."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_windows: Any = None
try:
    import fcntl
except ImportError:
    import msvcrt

    _windows = msvcrt

#: The locked byte on Windows, which does not let others read what is locked: far behind the content.
_FAR_BYTE = 1 << 40
_LOOK_AGAIN_S = 0.05


def lock(descriptor: int) -> None:
    """Lock an open file, and wait for other processes that hold its lock. Raises OSError."""
    if _windows is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    while True:
        try:
            _lock_byte(descriptor)
        except BlockingIOError:
            time.sleep(_LOOK_AGAIN_S)
        else:
            return


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of `path` in the block, to read and replace the file. The lock is on `path` + `.lock`.

    Raises OSError.
    """
    with open(f"{path}.lock", "a", encoding="ascii") as file:  # noqa: PTH123
        lock(file.fileno())
        yield


def try_lock(descriptor: int) -> None:
    """Lock an open file. Raises BlockingIOError if another process holds its lock, OSError."""
    if _windows is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        _lock_byte(descriptor)


def _lock_byte(descriptor: int) -> None:
    place = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _FAR_BYTE, os.SEEK_SET)
    try:
        _windows.locking(descriptor, _windows.LK_NBLCK, 1)
    except PermissionError as error:
        raise BlockingIOError(error.errno, error.strerror) from None
    finally:
        os.lseek(descriptor, place, os.SEEK_SET)
