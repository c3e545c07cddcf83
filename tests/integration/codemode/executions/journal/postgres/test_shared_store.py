"""Values that servers share: one contract for files and for PostgreSQL, then what PostgreSQL adds."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from codemode.errors import JournalDamaged, JournalUnavailable
from codemode.executions.journal.postgres import outages, shared_store
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.executions.journal.postgres.shared_store import SharedStore
from codemode.shared.files import FolderStore
from tests.integration.codemode.executions.journal.conftest import KEY, new_database
from tests.postgres import programs, restartable_cluster
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from codemode.shared.values import Kind, ValueStore

    Make = Callable[[], ValueStore]


def store_on(url: str, folder: Path, project: str = "p", **options: Any) -> SharedStore:
    journal = partial(PostgresJournal, url, KEY, lease_s=60.0, project=project)
    return SharedStore(lambda: (url, journal), FolderStore(folder), **options)


def putting(data: bytes) -> Callable[[bytes | None], bytes]:
    return lambda _: data


@pytest.fixture
def url(postgres: str) -> str:
    return asyncio.run(new_database(postgres))


@pytest.fixture(params=["files", "postgres"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Yield a function that returns the store of another server."""
    with ExitStack() as stack:
        if request.param == "files":
            yield lambda: FolderStore(tmp_path)
        else:
            url = request.getfixturevalue("url")
            yield lambda: stack.enter_context(closing(store_on(url, tmp_path / "none")))


def test_a_value_of_one_server_is_read_by_another(make: Make) -> None:
    ours, theirs = make().value("keys"), make().value("keys")
    assert (ours.read(), theirs.latest().data) == (None, None)
    ours.change(lambda known: b"one" if known is None else None)
    assert (ours.read(), theirs.read()) == (b"one", b"one")
    theirs.change(lambda known: (known or b"") + b", two")
    assert ours.read() == b"one, two"
    assert make().value("ids", "gym").read() is None


def test_changes_at_the_same_moment_are_made_one_after_the_other(make: Make) -> None:
    values = [make().value("ids", "gym") for _ in range(4)]

    def add(number: int) -> None:
        for _ in range(5):
            values[number].change(lambda known: (known or b"") + b"%d" % number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(4)))
    assert sorted(values[0].read() or b"") == sorted(b"0123" * 5)


def test_an_error_of_a_change_changes_nothing(make: Make) -> None:
    value = make().value("keys")
    value.change(lambda _: b"one")

    def fail(_: bytes | None) -> bytes:
        raise KeyError

    with pytest.raises(KeyError):
        value.change(fail)
    value.change(lambda _: None)
    assert value.read() == b"one"


def test_the_latest_value_has_another_version_after_each_change(make: Make) -> None:
    value = make().value("shapes")
    versions = [value.latest().version]
    for data in (b"one", b"another", b"one"):
        value.change(putting(data))
        latest = value.latest()
        assert latest.data == data
        versions.append(latest.version)
    assert len(set(versions)) == len(versions)


class Seen:
    """The names that `on_change` reported."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._news = threading.Condition()

    def add(self, name: str) -> None:
        with self._news:
            self.names.append(name)
            self._news.notify_all()

    def wait(self) -> None:
        with self._news:
            self._news.wait_for(lambda: self.names)


def test_a_change_reaches_the_memory_of_other_servers(url: str, tmp_path: Path) -> None:
    with closing(store_on(url, tmp_path)) as ours, closing(store_on(url, tmp_path)) as theirs:
        seen = Seen()
        theirs.on_change("keys", seen.add)
        known = theirs.value("keys")
        assert known.latest().data is None
        ours.value("keys").change(lambda _: b"new")
        seen.wait()
        assert known.latest().data == b"new"
        assert seen.names == [""]


def test_a_value_that_was_changed_by_hand_is_rejected(url: str, tmp_path: Path) -> None:
    async def edit() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute("UPDATE shared SET value = 'mine', version = version + 1")
        await connection.close()

    with closing(store_on(url, tmp_path)) as store, closing(store_on(url, tmp_path)) as another:
        store.value("keys").change(lambda _: b"ours")
        asyncio.run(edit())
        for operation in (another.value("keys").read, another.value("keys").latest):
            with pytest.raises(JournalDamaged, match="changed after it was written"):
                operation()
        with pytest.raises(JournalDamaged):
            another.value("keys").change(lambda _: b"x")


def test_a_value_that_was_repaired_by_hand_is_used_again(url: str, tmp_path: Path) -> None:
    async def edit(seal: bytes | None) -> bytes:
        connection = await asyncpg.connect(url)
        try:
            right: bytes = await connection.fetchval("SELECT seal FROM shared")
            await connection.execute("UPDATE shared SET seal = $1", seal or bytes(len(right)))
            return right
        finally:
            await connection.close()

    with closing(store_on(url, tmp_path)) as store, closing(store_on(url, tmp_path)) as another:
        store.value("keys").change(lambda _: b"ours")
        right = asyncio.run(edit(None))
        value = another.value("keys")
        with pytest.raises(JournalDamaged):
            value.latest()
        asyncio.run(edit(right))
        while another.copies["keys", ""].damage:
            another.value("keys").read()
        assert value.latest().data == b"ours"


def test_values_are_refreshed_also_if_a_listener_fails(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: str) -> None:
        raise KeyError

    with closing(store_on(url, tmp_path)) as ours, closing(store_on(url, tmp_path)) as theirs:
        seen = Seen()
        theirs.on_change("keys", fail)
        theirs.on_change("keys", seen.add)
        known = theirs.value("keys")
        assert known.latest().data is None
        for content in (b"one", b"two"):
            seen.names.clear()
            ours.value("keys").change(putting(content))
            seen.wait()
            assert known.latest().data == content
    assert "could not be handled" in caplog.text


def test_a_store_that_is_closed_keeps_nobody_waiting_for_its_database(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor(1) as pool:
        store = store_on(f"postgresql://ann@127.0.0.1:{silent.getsockname()[1]}/shop?sslmode=disable", tmp_path)
        reading = pool.submit(store.value("keys").read)
        connection, _ = silent.accept()
        with connection:
            store.close()
            with pytest.raises(JournalUnavailable, match="were closed meanwhile"):
                reading.result()


def test_a_lock_ends_with_the_store(url: str, tmp_path: Path) -> None:
    with closing(store_on(url, tmp_path)) as theirs:
        ours = store_on(url, tmp_path)
        unlock = ours.value("tokens", "api").try_lock()
        assert unlock is not None
        ours.close()
        while (again := theirs.value("tokens", "api").try_lock()) is None:
            pass
        unlock()
        again()
    assert not [thread for thread in threading.enumerate() if thread.name == "codemode-shared"]


async def test_a_lock_whose_answer_is_lost_is_freed(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres: str
) -> None:
    """The connection that may hold the lock is closed."""
    folder = postgres.partition("host=")[2]
    ended = asyncio.Event()

    async def until_locked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, asks = await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.5432")

        async def answer() -> None:
            while data := await answers.read(65536):
                if not is_locking:
                    writer.write(data)

        is_locking = False
        answering = asyncio.create_task(answer())
        while data := await reader.read(65536):
            is_locking = is_locking or b"pg_try_advisory_lock" in data
            asks.write(data)
        answering.cancel()
        asks.close()
        ended.set()

    monkeypatch.setattr(shared_store, "PATIENCE_S", 1.0)
    async with listening(until_locked) as port:
        cut = f"postgresql://postgres@127.0.0.1:{port}/{url.partition('?')[0].rpartition('/')[2]}?sslmode=disable"
        with pytest.raises(JournalUnavailable, match="it did not answer in time"):
            await shared_store._locked(cut, "a lock")
        await asyncio.wait_for(ended.wait(), 30)


def test_a_value_begins_as_that_of_the_first_server_s_folder(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for server, content in (("a", b"of a"), ("b", b"of b")):
        FolderStore(tmp_path / server).value("keys").change(putting(content))
    FolderStore(tmp_path / "a").value("ids", "gym").change(lambda _: b"names")
    with closing(store_on(url, tmp_path / "a")) as first, closing(store_on(url, tmp_path / "b")) as second:
        assert first.value("keys").latest().data == b"of a"
        assert second.value("keys").latest().data == b"of a"
        first.value("ids", "gym").change(lambda known: (known or b"") + b" and more")
        assert second.value("ids", "gym").read() == b"names and more"
    assert "the keys of the state folder are now in postgresql://" in caplog.text


@pytest.mark.parametrize("first", ["latest", "read", "change"])
def test_a_file_is_never_taken_over_twice(
    first: str, url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def remove() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute("DELETE FROM shared")
        await connection.close()

    for server in ("a", "b"):
        FolderStore(tmp_path / server).value("keys").change(lambda _: b"with a revoked key")
    for server in ("a", "b"):
        with closing(store_on(url, tmp_path / server)) as store:
            value = store.value("keys")
            value.change(lambda _: None) if first == "change" else getattr(value, first)()
            assert value.read() == b"with a revoked key"
        assert (tmp_path / server / "keys.json.moved").read_bytes() == b"with a revoked key"
        assert f"renamed to {tmp_path}/{server}/keys.json.moved" in caplog.text
    asyncio.run(remove())
    for server in ("a", "b"):
        with closing(store_on(url, tmp_path / server)) as store:
            assert store.value("keys").latest().data is None
            assert store.value("keys").read() is None


def test_a_file_that_cannot_be_renamed_is_reported(url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    FolderStore(tmp_path).value("keys").change(lambda _: b"keys")
    (tmp_path / "keys.json.moved").mkdir()
    with closing(store_on(url, tmp_path)) as store:
        assert store.value("keys").read() == b"keys"
    assert f"the key file {tmp_path}/keys.json is not used" in caplog.text
    assert "remove it (" in caplog.text


def test_projects_of_one_database_are_apart(url: str, tmp_path: Path) -> None:
    with closing(store_on(url, tmp_path)) as ours, closing(store_on(url, tmp_path, "another")) as theirs:
        ours.value("keys").change(lambda _: b"ours")
        assert theirs.value("keys").read() is None


def test_without_its_database_a_value_is_known_for_a_bounded_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if programs() is None:
        pytest.skip("initdb and pg_ctl are not here: install the distribution's package postgresql")
    monkeypatch.setattr(outages, "OUTAGE_S", 0.1)
    with restartable_cluster() as cluster, closing(store_on(cluster.url, tmp_path, stale_s=2.0)) as store:
        value = store.value("keys")
        value.change(lambda _: b"known")
        assert value.latest().data == b"known"
        cluster.stop()
        assert value.latest().data == b"known"
        store.confirmed -= 2.0
        with pytest.raises(
            JournalUnavailable, match="has not answered for 2 s, and its keys are not used until it does"
        ):
            value.latest()
        with pytest.raises(JournalUnavailable):
            value.read()
        cluster.start()
        seen = Seen()
        store.on_change("keys", seen.add)
        store.value("keys").change(lambda _: b"newer")
        assert value.latest().data == b"newer"


def test_a_closed_store_opens_again(url: str, tmp_path: Path) -> None:
    store = store_on(url, tmp_path)
    value = store.value("keys")
    value.change(lambda _: b"one")
    assert value.latest().data == b"one"
    store.close()
    assert value.latest().data == b"one"  # from memory
    value.change(lambda _: b"two")
    assert value.latest().data == b"two"
    store.close()
    store.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "codemode-shared"]


def test_one_server_at_a_time_holds_the_lock_of_a_value_that_others_still_read(make: Make) -> None:
    ours, theirs = make().value("tokens", "api"), make().value("tokens", "api")
    ours.change(lambda _: b"first")
    unlock = ours.try_lock()
    assert unlock is not None
    assert theirs.try_lock() is None
    ours.change(lambda _: b"second")
    assert theirs.read() == b"second"
    unlock()
    while (again := theirs.try_lock()) is None:
        pass
    again()
    assert theirs.remove()
    assert not theirs.remove()
    assert ours.read() is None


@pytest.mark.parametrize("kind", ["tokens", "feedback"])
def test_the_tokens_of_a_login_and_the_queries_of_a_role_are_encrypted(url: str, tmp_path: Path, kind: Kind) -> None:
    async def stored() -> bytes:
        connection = await asyncpg.connect(url)
        try:
            return bytes(await connection.fetchval("SELECT value FROM shared WHERE kind = $1", kind))
        finally:
            await connection.close()

    FolderStore(tmp_path).value(kind, "api").change(lambda _: b"a secret text")
    with closing(store_on(url, tmp_path)) as store:
        value = store.value(kind, "api")
        assert value.read() == b"a secret text"
        assert b"secret" not in asyncio.run(stored())
        assert value.remove()
        assert value.read() is None  # and not that of the folder


async def test_only_the_first_use_waits_for_a_database_that_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "OUTAGE_S", 0.5)
    attempts: list[str] = []

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        attempts.append("")
        writer.close()

    async with listening(hang_up) as port:
        with closing(store_on(f"postgresql://127.0.0.1:{port}/p?sslmode=disable", tmp_path)) as store:
            with pytest.raises(JournalUnavailable):
                await asyncio.to_thread(store.read, ("keys", ""))
            assert len(attempts) > 1
            attempts.clear()
            with pytest.raises(JournalUnavailable):
                await asyncio.to_thread(store.read, ("keys", ""))
    assert len(attempts) == 1
