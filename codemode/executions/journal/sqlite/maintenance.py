"""Maintenance of a journal file: a copy of it, and returning its free pages to the system."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, JournalUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Seconds to wait for the locks of servers.
_PATIENCE_S = 10.0


@contextmanager
def new_file(target: Path) -> Iterator[None]:
    """Create an empty file with mode 0600, and remove it again if the block fails.

    Raises ConfigurationError if there is one, or if it cannot be created.
    """
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        message = f"cannot create {target}: {error.strerror}; name a new file"
        raise ConfigurationError(message) from None
    try:
        yield
    except BaseException:
        target.unlink()
        raise


def back_up(file: Path, target: Path) -> int:
    """Copy a journal, also beside running servers, to a new file with mode 0600. Return its size in bytes.

    Raises ConfigurationError if the target cannot be created, JournalUnavailable if the journal cannot be copied.
    """
    with new_file(target):
        try:
            with (
                closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE_S)) as store,
                closing(sqlite3.connect(target)) as copy,
            ):
                store.backup(copy)
        except sqlite3.Error as error:
            message = f"the journal {file} cannot be copied: {error}"
            raise JournalUnavailable(message) from None
    return target.stat().st_size


def vacuum(file: Path) -> tuple[int, int]:
    """Rebuild a journal without its free pages. Return its size before and after, in bytes.

    Raises JournalUnavailable if that fails, for example since a server writes for longer than ten seconds.
    """
    before = file.stat().st_size
    try:
        with closing(sqlite3.connect(file, timeout=_PATIENCE_S, isolation_level=None)) as journal:
            journal.execute("PRAGMA auto_vacuum = INCREMENTAL")
            journal.execute("VACUUM")
            journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        message = f"the journal {file} cannot be rebuilt: {error}; stop the servers, and try again"
        raise JournalUnavailable(message) from None
    return before, file.stat().st_size
