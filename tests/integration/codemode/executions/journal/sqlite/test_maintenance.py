"""Copies of a journal file, and shrinking it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from codemode.errors import ConfigurationError, JournalUnavailable
from codemode.executions.journal.sqlite.journal import SqliteJournal
from codemode.executions.journal.sqlite.maintenance import back_up, vacuum
from tests.integration.codemode.executions.journal.conftest import KEY, new

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[Path]:
    """Yield the file of an open journal with one execution."""
    journal = SqliteJournal(tmp_path / "journal.sqlite3", KEY, lease_s=60.0)
    await journal.open()
    await journal.create(new())
    yield tmp_path / "journal.sqlite3"
    await journal.aclose()


async def test_a_copy_made_beside_a_server_opens_as_a_journal(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.sqlite3"
    assert back_up(file, target) == target.stat().st_size > 0
    assert target.stat().st_mode & 0o777 == 0o600
    copy = SqliteJournal(target, KEY, lease_s=60.0)
    await copy.open()
    assert (await copy.get("ex_1")).request.id == "ex_1"
    await copy.aclose()


async def test_a_copy_replaces_no_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    with pytest.raises(ConfigurationError, match=r"cannot create .*there: File exists; name a new file"):
        back_up(file, tmp_path / "there")
    assert (tmp_path / "there").read_text() == "mine"


def test_a_damaged_journal_leaves_no_copy(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises(JournalUnavailable, match="cannot be copied: file is not a database"):
        back_up(tmp_path / "journal.sqlite3", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_vacuum_returns_free_pages(tmp_path: Path) -> None:
    file = tmp_path / "journal.sqlite3"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE big (data)")
        database.execute("INSERT INTO big VALUES (zeroblob(1000000))")
        database.execute("DELETE FROM big")
    before, after = vacuum(file)
    assert before > 1_000_000 > after == file.stat().st_size
