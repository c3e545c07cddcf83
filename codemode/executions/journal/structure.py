"""Whether a journal's file is still there and whole, while a server has it open."""

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
    """The device and the inode of a file; None where there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


async def damages(file: Path, depth: Depth, most: int) -> tuple[str, ...]:
    """What SQLite finds wrong with a file, at most so many; in a thread, on a connection of its own.

    Whoever gives up stops it. Raises sqlite3.Error where the file cannot be read at all.
    """
    connection = _reading(file)
    looking = asyncio.ensure_future(asyncio.to_thread(_damages, connection, depth, most))
    try:
        return await asyncio.shield(looking)
    except asyncio.CancelledError:
        connection.interrupt()
        raise
    finally:
        looking.add_done_callback(lambda _: connection.close())


def _reading(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)


def _damages(connection: sqlite3.Connection, depth: Depth, most: int) -> tuple[str, ...]:
    try:
        with closing(connection.execute(f"PRAGMA {depth}({most})")) as found:
            lines = tuple(" ".join(str(row[0]).split()) for row in found)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
            return (str(error),)
        raise
    return () if lines == ("ok",) else lines
