"""The journal file: permissions, several processes, and failed writes."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codemode.errors import ConfigurationError, JournalUnavailable
from codemode.executions.journal.migrations import migrations
from codemode.executions.journal.sql.transactions import SPILL_BYTES
from codemode.executions.journal.sqlite import journal as sqlite
from codemode.executions.journal.sqlite.journal import AT_ONCE_BYTES, SqliteJournal
from codemode.executions.types.records import JournalEntry, Retention
from tests.disk import disk_of
from tests.integration.codemode.executions.journal.conftest import KEY, new

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

ROOT = Path(__file__).parents[5]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.sqlite3"


@pytest.fixture
async def journal(file: Path) -> AsyncIterator[SqliteJournal]:
    journal = SqliteJournal(file, KEY, lease_s=3600.0)
    await journal.open()
    yield journal
    await journal.aclose()


@contextmanager
def server(file: Path, execution: str, count: int) -> Iterator[subprocess.Popen[str]]:
    """Start another process on the same file, and wait until it has the lease."""
    module = "tests.integration.codemode.executions.journal.one_server"
    command = [sys.executable, "-m", module, str(file), execution, str(count)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "HELD\n"
        yield process
        process.kill()


async def test_all_files_are_for_their_owner_alone(file: Path, journal: SqliteJournal) -> None:
    await journal.append(await journal.create(new()), [JournalEntry("started")])
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in file.parent.rglob("*") if one.is_file()}
    assert len(modes) == 4
    assert set(modes.values()) == {0o600}
    assert {stat.S_IMODE(one.stat().st_mode) for one in (file.parent, Path(f"{file}-servers"))} == {0o700}


def test_a_file_that_others_could_read_is_theirs_no_more(file: Path) -> None:
    file.parent.mkdir()
    file.touch(mode=0o644)
    assert open_and_create(file, 1) == "ex_1"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [one.name for one in file.parent.iterdir() if one.is_file()] == ["journal.sqlite3"]
    assert list(Path(f"{file}-servers").iterdir()) == []


ALL = Retention(age_s=0, count=1)


async def filled(journal: SqliteJournal, file: Path) -> int:
    """Fill the file with 12 MB of ended executions and return its size in bytes."""
    for n in range(12):
        lease = await journal.create(new(f"ex_{n}"))
        await journal.append(lease, [JournalEntry("ended", value=b"x" * 1_000_000)])
        await journal.finish(lease, "completed", {})
    return settled_size(file)


def settled_size(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return file.stat().st_size


async def test_space_of_what_is_removed_is_given_back(file: Path, journal: SqliteJournal) -> None:
    before = await filled(journal, file)
    assert (await journal.prune(ALL)).removed == 12
    assert settled_size(file) < before / 2


async def test_a_file_of_an_earlier_version_uses_its_space_again(file: Path) -> None:
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE earlier (a)")
    journal = SqliteJournal(file, KEY, lease_s=3600.0)
    await journal.open()
    before = await filled(journal, file)
    assert (await journal.prune(ALL)).removed == 12
    assert await filled(journal, file) < before * 1.1
    await journal.aclose()


async def test_a_file_that_is_deleted_while_it_is_open_is_noticed(file: Path, journal: SqliteJournal) -> None:
    lease = await journal.create(new())
    kept = file.with_name("kept")
    shutil.move(file, kept)
    for _ in range(2):
        with pytest.raises(JournalUnavailable, match="it was deleted or replaced while this server had it open: stop"):
            await journal.renew(["ex_1"])
        shutil.copy(kept, file)  # a replaced file is not ours either
    with pytest.raises(JournalUnavailable, match="nothing was recorded"):
        await journal.append(lease, [JournalEntry("started")])
    with pytest.raises(JournalUnavailable):
        await journal.append(lease, [JournalEntry("ended", value=b"x" * 2 * AT_ONCE_BYTES)])


async def test_damage_is_noticed_before_its_pages_are_needed(file: Path, journal: SqliteJournal) -> None:
    await filled(journal, file)
    assert await journal.damages() == ()
    never = Retention(age_s=1e9, count=1000)
    await journal.prune(never)
    damage(file)
    with pytest.raises(JournalUnavailable, match=r"it is damaged .*codemode journal check.*restore a backup"):
        await journal.prune(never)
    with pytest.raises(JournalUnavailable, match="it is damaged"):
        await journal.create(new("ex_new"))
    assert await journal.damages()


def damage(file: Path) -> None:
    """Overwrite the root page of the entries' tree."""
    with closing(sqlite3.connect(file)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entries'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with file.open("r+b") as opened:
        opened.seek((page - 1) * size)
        opened.write(b"\xff" * size)


async def test_several_processes_write_to_one_file(file: Path, journal: SqliteJournal) -> None:
    lease = await journal.create(new("ex_here"))
    with server(file, "ex_1", 300) as one, server(file, "ex_2", 300) as other:
        for number in range(300):
            await journal.append(lease, [JournalEntry("started", f"{number}", value=b"y" * number)])
        for process in (one, other):
            assert process.stdout is not None
            assert await asyncio.to_thread(process.stdout.readline) == "DONE\n"
        assert await journal.orphans() == ()
    for execution in ("ex_here", "ex_1", "ex_2"):
        entries = await journal.read(execution)
        assert [(entry.sequence, entry.path) for entry in entries] == [(n + 1, f"{n}") for n in range(300)]


async def test_what_a_killed_server_held_is_free_at_once_and_whole(file: Path, journal: SqliteJournal) -> None:
    with server(file, "ex_1", 1_000_000) as process:
        read = 0
        for _ in range(6000):
            read = len(await journal.read("ex_1", values=False))
            if read >= 50:
                break
            await asyncio.sleep(0.01)
        assert read >= 50
        process.kill()
        process.wait()
    assert await journal.orphans() == ("ex_1",)
    assert servers(file) == {journal.server}
    lease = await journal.claim("ex_1")
    entries = await journal.read("ex_1")
    assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
    assert all(entry.value == b"x" * (number % 7000) for number, entry in enumerate(entries))
    assert await journal.append(lease, [JournalEntry("resumed")]) == len(entries) + 1


async def test_a_server_that_starts_forgets_those_that_were_killed_and_no_others(
    file: Path, journal: SqliteJournal
) -> None:
    with server(file, "ex_1", 1) as living, server(file, "ex_2", 1) as killed:
        killed.kill()
        killed.wait()
        assert len(list(servers(file))) == 3
        another = SqliteJournal(file, KEY, lease_s=1.0)
        await another.open()
        found = servers(file)
        await another.aclose()
        assert {journal.server, another.server} < found
        assert [str(living.pid) in name for name in found - {journal.server, another.server}] == [True]


def servers(file: Path) -> set[str]:
    return {one.name for one in Path(f"{file}-servers").iterdir()}


async def test_while_another_process_writes_an_append_waits_and_the_event_loop_does_not(
    file: Path, journal: SqliteJournal
) -> None:
    lease = await journal.create(new())
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        appends = [asyncio.create_task(journal.append(lease, [JournalEntry("started", f"{n}")])) for n in range(3)]
        for _ in range(100):
            await asyncio.sleep(0.001)
        appends.append(asyncio.create_task(journal.append(lease, [JournalEntry("started", "3")])))
        assert not any(task.done() for task in appends)
        other.execute("ROLLBACK")
        assert await asyncio.gather(*appends) == [1, 2, 3, 4]


async def test_starts_and_ends_are_written_on_the_event_loop_but_not_against_a_lock(
    file: Path, journal: SqliteJournal
) -> None:
    is_free = threading.Event()
    journal._thread.submit(is_free.wait)  # whatever needs the thread would wait for ever
    lease = await journal.create(new("ex_1"))
    await journal.finish(lease, "completed", {"value": 7})
    large = await journal.create(new("ex_2"))
    ends = asyncio.create_task(journal.finish(large, "completed", {"output": "x" * 100_000}))
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        starts = asyncio.create_task(journal.create(new("ex_3")))
        await asyncio.sleep(0)
        assert not starts.done()
        assert not ends.done()
        is_free.set()
        other.execute("ROLLBACK")
    assert (await starts).execution == "ex_3"
    await ends
    assert [(await journal.get(name)).status for name in ("ex_1", "ex_2", "ex_3")] == [
        "completed",
        "completed",
        "running",
    ]


async def test_a_lock_that_is_not_released_is_told_and_nothing_is_recorded(
    file: Path, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE_S", 0.05)
    lease = await journal.create(new())
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalUnavailable, match="another process has held its lock") as refused:
            await journal.append(lease, [JournalEntry("started", "1")])
    assert str(file) not in refused.value.for_model()
    assert await journal.append(lease, [JournalEntry("started", "2")]) == 1


async def test_much_at_once_is_written_in_a_thread_and_in_its_place(journal: SqliteJournal) -> None:
    lease = await journal.create(new())
    sizes = (10, AT_ONCE_BYTES + 1, 20)
    appends = []
    for size in sizes:
        appends.append(asyncio.create_task(journal.append(lease, [JournalEntry("ended", value=b"x" * size)])))
        await asyncio.sleep(0)
    assert await asyncio.gather(*appends) == [1, 2, 3]
    assert [len(entry.value or b"") for entry in await journal.read("ex_1")] == list(sizes)


def written(file: Path) -> int:
    """Return the size of the write-ahead log in bytes."""
    return Path(f"{file}-wal").stat().st_size


async def test_where_the_disk_takes_no_more_nothing_is_recorded_and_later_all_goes_on(
    file: Path, journal: SqliteJournal
) -> None:
    lease = await journal.create(new())
    await journal.append(lease, [JournalEntry("started", "1")])
    with disk_of(written(file) + 8192):
        for size in (100_000, AT_ONCE_BYTES + 1):  # on the event loop, and in a thread
            with pytest.raises(JournalUnavailable, match=r"cannot be used: .*; nothing was recorded"):
                await journal.append(lease, [JournalEntry("ended", "1", value=b"x" * size)])
        with pytest.raises(JournalUnavailable):
            await journal.create(new("ex_2", code="x" * 100_000))
    assert [entry.kind for entry in await journal.read("ex_1")] == ["started"]
    assert await journal.append(lease, [JournalEntry("ended", "1", value=b"x" * 100_000)]) == 2


async def test_a_file_that_was_cut_is_damaged_as_a_whole(file: Path) -> None:
    """Lost data must not look like data that never existed."""
    journal = SqliteJournal(file, KEY, lease_s=60.0)
    await journal.open()
    await journal.append(await journal.create(new()), [JournalEntry("started", "1")])
    await journal.aclose()
    with file.open("r+b") as content:
        content.truncate(content.seek(-SPILL_BYTES, 2))
    journal = SqliteJournal(file, KEY, lease_s=60.0)
    with pytest.raises(JournalUnavailable, match="it is damaged"):
        await journal.open()
    await journal.aclose()


@pytest.mark.parametrize(
    ("content", "why"), [(b"no database at all" * 100, "it is not a SQLite database"), (None, "File exists")]
)
async def test_a_place_that_cannot_hold_a_journal_is_named(tmp_path: Path, content: bytes | None, why: str) -> None:
    place = tmp_path / "file"
    place.write_bytes(content or b"")
    file = place if content else place / "journal.sqlite3"
    with pytest.raises(JournalUnavailable, match=f"the journal {file} cannot be used: {why}"):
        await SqliteJournal(file, KEY, lease_s=1.0).open()


async def test_what_could_not_be_opened_can_be_opened_later(file: Path) -> None:
    blocked = file.parent
    blocked.write_text("")
    journal = SqliteJournal(file, KEY, lease_s=1.0)
    for _ in range(2):
        with pytest.raises(JournalUnavailable):
            await journal.open()
    blocked.unlink()
    await journal.open()
    assert (await journal.create(new())).execution == "ex_1"
    await journal.aclose()


async def test_a_database_of_a_newer_program_is_refused_and_left_alone(file: Path, journal: SqliteJournal) -> None:
    with closing(sqlite3.connect(file)) as other:
        other.execute("PRAGMA user_version = 99")
        known = migrations("sqlite")[-1].version
        message = (
            rf"has version {known}, readable by versions >= 99, and this codemode has version {known}: a newer codemode"
            " has migrated it; upgrade codemode"
        )
        with pytest.raises(ConfigurationError, match=message):
            await SqliteJournal(file, KEY, lease_s=1.0).open()
        assert other.execute("PRAGMA user_version").fetchone() == (99,)


def open_and_create(file: Path, number: int) -> str:
    """Open a journal and create an execution, in a process of its own."""

    async def work() -> str:
        journal = SqliteJournal(file, KEY, lease_s=1.0)
        await journal.open()
        try:
            return (await journal.create(new(f"ex_{number}"))).execution
        finally:
            await journal.aclose()

    return asyncio.run(work())


def test_processes_that_make_it_at_once_do_not_disturb_each_other(file: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as processes:
        made = [processes.submit(open_and_create, file, number) for number in range(12)]
        assert [one.result() for one in made] == [f"ex_{number}" for number in range(12)]
    with closing(sqlite3.connect(file)) as other:
        assert other.execute("SELECT count(*) FROM executions").fetchone() == (12,)
        assert other.execute("SELECT version FROM journal_schema").fetchall() == [(migrations("sqlite")[-1].version,)]
