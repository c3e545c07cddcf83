"""Backups of each kind of journal, restored to each kind."""

from __future__ import annotations

import sqlite3
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from codemode.errors import ConfigurationError, JournalDamaged, JournalUnavailable
from codemode.executions.journal.backups import RestoreCounts, back_up, restore
from codemode.executions.journal.checking import check
from codemode.executions.journal.configured import journal_of
from codemode.executions.journal.migrations import Dialect, Migration, migrations
from codemode.executions.journal.postgres import copying as postgres_copying
from codemode.executions.journal.sql import schema
from codemode.executions.journal.sql.transactions import SPILL_BYTES
from codemode.executions.types.records import Decision, JournalEntry, PendingCall
from codemode.executions.types.state_values import StateKey, StateWrite
from codemode.features.content.table import ContentTable
from codemode.features.conversations.table import StateTable
from codemode.settings import Secrets, Settings
from codemode.transports.content import Content
from tests.integration.codemode.executions.journal.conftest import new, new_database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.executions.journal.base import StoredJournal

ENTRIES = [
    JournalEntry("printed", data={"text": "ü\ud800"}, value=b"\0\xff"),
    JournalEntry("printed", data={"text": "large"}, value=b"x" * (SPILL_BYTES + 1)),
]
PHOTO = Content(b"\x89PNG\0\xff" * 1000, "image/png", "photo.png")
STATE = StateKey("ann", "c1", "totals")


def settings(folder: Path, url: str | None = None, *, key: str = "the key of all", name: str = "shop") -> Settings:
    """Return the settings of a server with its own state folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "key").write_text(key, encoding="utf-8")
    journal: dict[str, Any] = {"enabled": True, "key": {"file": str(folder / "key")}}
    return Settings.model_validate(
        {"name": name, "state_folder": str(folder / "state"), "journal": journal | ({"url": url} if url else {})}
    )


@asynccontextmanager
async def opened(of: Settings) -> AsyncIterator[StoredJournal]:
    journal = journal_of(of, Secrets())
    assert journal is not None
    await journal.open()
    try:
        yield journal
    finally:
        await journal.aclose()


async def fill(journal: StoredJournal) -> None:
    """Record an ended, a paused and a running execution, content and state."""
    ended = await journal.create(new("ex_ended", request_key="order-1", request_digest="d"))
    await journal.append(ended, ENTRIES)
    await StateTable(journal).store_state(ended, "2", StateWrite(STATE, b"[1]", 1e6, 10_000))
    await journal.finish(ended, "completed", {"value": "ü"})
    asks = PendingCall("call_1", "ex_paused", "1", "a.b", {"n": 1}, "d1", "policy")
    await journal.pause(await journal.create(new("ex_paused")), [asks], {"id": "ex_paused", "calls": []})
    running = await journal.create(new("ex_running"))
    await journal.append(running, ENTRIES)
    await ContentTable(journal).keep("ann", PHOTO, keep_s=1e6, limit_bytes=1 << 30)


async def test_a_backup_is_restored_with_everything_and_what_ran_waits_for_a_person(
    tmp_path: Path, source: Settings, target: Settings
) -> None:
    async with opened(source) as journal:
        await fill(journal)
        size = await back_up(source, Secrets(), tmp_path / "copy")  # beside the server
    assert size == (tmp_path / "copy").stat().st_size
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o600
    assert await restore(target, Secrets(), tmp_path / "copy") == RestoreCounts(
        executions=3, paused=1, waiting=1, damaged=0
    )
    async with opened(target) as journal:
        assert (await check(journal)).is_whole
        entries = await journal.read("ex_ended")
        assert [(one.kind, one.path, one.data, one.value) for one in entries] == [
            (one.kind, one.path, one.data, one.value) for one in ENTRIES
        ]
        stored = {one: await journal.get(one) for one in ("ex_ended", "ex_paused", "ex_running")}
        assert stored["ex_ended"].outcome == {"value": "ü"}
        assert {id_: one.status for id_, one in stored.items()} == {
            "ex_ended": "completed",
            "ex_paused": "paused",
            "ex_running": "paused",
        }
        assert "calls after that are not recorded" in stored["ex_running"].outcome["notes"][0]
        assert await journal.orphans() == ()
        assert await ContentTable(journal).find("ann", PHOTO.id) == PHOTO
        assert await StateTable(journal).load_state(STATE) == b"[1]"
        await journal.decide([Decision("call_1", "d1", "approved", "bob")])
        await journal.claim("ex_paused")
        added = await journal.create(new("ex_new"))
        await journal.append(added, ENTRIES)
        assert (await check(journal)).executions == 4


@pytest.fixture(params=["sqlite", "postgres"])
async def source(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    return settings(tmp_path / "source", await url_for(request))


@pytest.fixture(params=["sqlite", "postgres"])
async def target(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    return settings(tmp_path / "target", await url_for(request))


async def url_for(request: pytest.FixtureRequest) -> str | None:
    return None if request.param == "sqlite" else await new_database(request.getfixturevalue("postgres"))


@pytest.fixture
async def backup(tmp_path: Path) -> Path:
    """Return a backup of a filled journal."""
    of = settings(tmp_path / "earlier")
    async with opened(of) as journal:
        await fill(journal)
    await back_up(of, Secrets(), tmp_path / "backup")
    return tmp_path / "backup"


async def test_a_journal_with_executions_is_not_replaced(target: Settings, backup: Path) -> None:
    async with opened(target) as journal:
        await journal.create(new("ex_mine"))
    with pytest.raises(ConfigurationError, match=r"there is already a journal .* replaces nothing|is not empty"):
        await restore(target, Secrets(), backup)
    async with opened(target) as journal:
        assert [one.request.id for one in await journal.list()] == ["ex_mine"]


async def test_a_journal_is_not_restored_beside_the_log_of_another(tmp_path: Path, backup: Path) -> None:
    target = settings(tmp_path / "target")
    async with opened(target) as journal:
        await journal.create(new("ex_mine"))
        file = tmp_path / "target" / "state" / "journal.sqlite3"
        log = file.with_name(f"{file.name}-wal").read_bytes()
    file.unlink()
    file.with_name(f"{file.name}-wal").write_bytes(log)
    with pytest.raises(ConfigurationError, match=r"there is already a journal .*sqlite3-wal, and"):
        await restore(target, Secrets(), backup)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER forget AFTER UPDATE ON executions BEGIN DELETE FROM outbox; END",
        "CREATE VIEW more AS SELECT * FROM executions",
    ],
)
async def test_a_backup_with_triggers_or_views_is_rejected(tmp_path: Path, backup: Path, statement: str) -> None:
    with closing(sqlite3.connect(backup)) as file:
        file.execute(statement)
    with pytest.raises(ConfigurationError, match=r"is not a backup .* has the (trigger forget|view more)"):
        await restore(settings(tmp_path / "target"), Secrets(), backup)


async def test_a_backup_needs_its_key_its_project_and_its_whole_content(tmp_path: Path, backup: Path) -> None:
    with pytest.raises(ConfigurationError, match="was created with another key"):
        await restore(settings(tmp_path / "a", key="another key than that"), Secrets(), backup)
    with pytest.raises(ConfigurationError, match=r"has executions of shop, .*set `name: shop`"):
        await restore(settings(tmp_path / "b", name="bakery"), Secrets(), backup)
    keyless = Settings.model_validate({"name": "shop", "state_folder": str(tmp_path / "c")})
    with pytest.raises(ConfigurationError, match=r"there is no key .*copy the `journal.key` that was kept"):
        await restore(keyless, Secrets(), backup)
    (tmp_path / "text").write_text("no database")
    with pytest.raises(ConfigurationError, match=r"there is no backup .*none: name a file made by"):
        await restore(settings(tmp_path / "d"), Secrets(), tmp_path / "none")
    with pytest.raises(JournalUnavailable, match="cannot be copied: file is not a database"):
        await restore(settings(tmp_path / "d"), Secrets(), tmp_path / "text")
    with closing(sqlite3.connect(backup)) as database, database:
        database.execute("UPDATE entries SET content = '{}' WHERE place & 4294967295 = 1")
    with pytest.raises(JournalDamaged, match=r"is damaged: .*\(2 in all\); restore an earlier one"):
        await restore(settings(tmp_path / "e"), Secrets(), backup)
    kept = await restore(settings(tmp_path / "f"), Secrets(), backup, keep_damaged=True)
    assert kept == RestoreCounts(executions=3, paused=0, waiting=1, damaged=2)
    for folder in "abde":
        assert not list((tmp_path / folder).rglob("*.sqlite3*")), "a refused backup leaves nothing"


async def test_a_database_before_its_migration_is_backed_up_and_restored(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = settings(tmp_path / "source", await new_database(postgres))
    async with opened(of) as journal:
        await fill(journal)

    def more(dialect: Dialect) -> tuple[Migration, ...]:
        return (*migrations(dialect), Migration(99, "0099_later", 7, ("ALTER TABLE executions ADD COLUMN later TEXT",)))

    for module in (schema, postgres_copying):
        monkeypatch.setattr(module, "migrations", more)
    await back_up(of, Secrets(), tmp_path / "copy")
    assert (await restore(settings(tmp_path / "target"), Secrets(), tmp_path / "copy")).executions == 3


async def test_what_only_a_database_has_is_left_out(tmp_path: Path, postgres: str) -> None:
    url = await new_database(postgres)
    of = settings(tmp_path / "source", url)
    async with opened(of) as journal:
        await fill(journal)
    connection = await asyncpg.connect(url)
    await connection.execute(
        "ALTER TABLE executions ADD COLUMN heard BIGINT NOT NULL DEFAULT 0; CREATE TABLE own (a TEXT)"
    )
    await connection.close()
    await back_up(of, Secrets(), tmp_path / "copy")
    assert (await restore(settings(tmp_path / "target"), Secrets(), tmp_path / "copy")).executions == 3


async def test_a_database_of_a_newer_codemode_is_copied_by_that_alone(tmp_path: Path, postgres: str) -> None:
    url = await new_database(postgres)
    of = settings(tmp_path / "source", url)
    async with opened(of):
        pass
    connection = await asyncpg.connect(url)
    await connection.execute("UPDATE journal_schema SET version = 99")
    await connection.close()
    with pytest.raises(ConfigurationError, match=r"copy would be incomplete: make it with the newer codemode"):
        await back_up(of, Secrets(), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
