"""Integrity of an open journal file: whether it is still in place and undamaged."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

Depth = Literal["quick_check", "integrity_check"]

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def identity(file: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file, None if there is no file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


async def damages(file: Path, depth: Depth, most: int) -> tuple[str, ...]:
    """Return at most `most` problems that SQLite finds in a file. Runs in a thread, on its own connection.

    Cancelling stops the check. Raises sqlite3.Error if the file cannot be read at all.
    """
    connection = _reading(file)
    check = asyncio.ensure_future(asyncio.to_thread(_damages, connection, depth, most))
    try:
        return await asyncio.shield(check)
    except asyncio.CancelledError:
        connection.interrupt()
        raise
    finally:
        check.add_done_callback(lambda _: connection.close())


def _reading(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)


def _damages(connection: sqlite3.Connection, depth: Depth, most: int) -> tuple[str, ...]:
    try:
        with closing(connection.execute(f"PRAGMA {depth}({most})")) as result_rows:
            lines = tuple(" ".join(str(row[0]).split()) for row in result_rows)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
            return (str(error),)
        raise
    return () if lines == ("ok",) else lines
