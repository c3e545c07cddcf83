"""Sessions of the console, which the servers of a project share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codemode.errors import JournalUnavailable
from codemode.serving.console import session
from codemode.serving.console.session import LIFETIME_S, MOST_PER_KEY, Sessions
from codemode.shared.files import FileValue

if TYPE_CHECKING:
    from pathlib import Path


def sessions_in(folder: Path) -> Sessions:
    return Sessions(FileValue(folder / "sessions.json"))


def test_a_session_of_one_server_is_known_to_the_other(tmp_path: Path) -> None:
    one, other = sessions_in(tmp_path), sessions_in(tmp_path)
    id_ = one.open("a key", "a")
    here, there = one.find(id_), other.find(id_)
    assert here is not None
    assert here == there
    assert here.key == "a key"
    assert one.of_anybody() == other.of_anybody()
    assert one.of_anybody().csrf_token != here.csrf_token


def test_a_session_that_one_server_closes_has_ended_in_the_other(tmp_path: Path) -> None:
    one, other = sessions_in(tmp_path), sessions_in(tmp_path)
    id_ = one.open("a key", "a")
    assert other.find(id_) is not None
    one.close(id_)
    assert other.find(id_) is None


def test_a_session_ends_after_its_time(tmp_path: Path) -> None:
    now = 0.0
    sessions = Sessions(FileValue(tmp_path / "sessions.json"), clock=lambda: now)
    id_ = sessions.open("a key", "a")
    now = LIFETIME_S
    assert sessions.find(id_) is None
    sessions.close("")
    assert json.loads((tmp_path / "sessions.json").read_text())["sessions"] == {}


def test_the_file_shows_neither_the_key_nor_the_id(tmp_path: Path) -> None:
    id_ = sessions_in(tmp_path).open("a key", "a")
    file = tmp_path / "sessions.json"
    text = file.read_text()
    assert id_.partition(".")[0] not in text
    assert "a key" not in text
    assert b"a key".hex() not in text
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_session_does_not_show_its_key(tmp_path: Path) -> None:
    sessions = sessions_in(tmp_path)
    assert "secret-key" not in repr(sessions.find(sessions.open("secret-key", "a")))


@pytest.mark.parametrize("id_", ["", ".", "../../etc/passwd", "é.é", "a.b.c", "x" * 43 + "." + "0" * 22])
def test_an_invented_id_finds_no_session_and_reads_nothing(tmp_path: Path, id_: str) -> None:
    class Counted(FileValue):
        reads = 0

        def read(self) -> bytes | None:
            self.reads += 1
            return super().read()

    value = Counted(tmp_path / "sessions.json")
    sessions = Sessions(value)
    real = sessions.open("a key", "a")
    assert sessions.find(real) is not None
    before = value.reads
    assert sessions.find(id_) is None
    assert value.reads == before


def test_a_key_has_a_limited_number_of_sessions_and_ends_none_of_others(tmp_path: Path) -> None:
    sessions = sessions_in(tmp_path)
    other = sessions.open("another key", "b")
    first, second, *_ = [sessions.open("a key", "a") for _ in range(MOST_PER_KEY + 1)]
    assert sessions.find(first) is None
    assert sessions.find(second) is not None
    assert sessions.find(other) is not None


def test_all_keys_together_have_a_limited_number_of_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MOST", 2)
    sessions = sessions_in(tmp_path)
    ids = [sessions.open("a key", str(number)) for number in range(3)]
    assert [sessions.find(each) is not None for each in ids] == [False, True, True]


def test_a_damaged_file_ends_all_sessions_and_takes_new_ones(tmp_path: Path) -> None:
    one, other = sessions_in(tmp_path), sessions_in(tmp_path)
    id_ = one.open("a key", "a")
    (tmp_path / "sessions.json").write_text("[]")
    assert other.find(id_) is None
    again = other.open("a key", "a")
    assert one.find(again) is not None


def test_a_store_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalUnavailable, match=r"sessions of the console cannot be stored in .*: File exists"):
        sessions_in(tmp_path / "file").open("a key", "a")
