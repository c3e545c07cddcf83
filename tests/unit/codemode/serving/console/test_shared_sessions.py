"""Sessions of the console that several processes share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.serving.console import shared_sessions
from codemode.serving.console.session import LIFETIME_S
from codemode.serving.console.shared_sessions import SharedSessions

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SECRET = bytes(32)


def test_a_session_of_one_process_is_known_to_the_other(tmp_path: Path) -> None:
    one, other = SharedSessions(tmp_path, SECRET), SharedSessions(tmp_path, SECRET)
    id_ = one.open("a key")
    here, there = one.find(id_), other.find(id_)
    assert here is not None
    assert there is not None
    assert (there.key, there.csrf_token) == ("a key", here.csrf_token)
    assert one.of_anybody.csrf_token == other.of_anybody.csrf_token != here.csrf_token


def test_a_session_that_one_process_closes_has_ended_in_the_other(tmp_path: Path) -> None:
    one, other = SharedSessions(tmp_path, SECRET), SharedSessions(tmp_path, SECRET)
    id_ = one.open("a key")
    assert other.find(id_) is not None
    one.close(id_)
    assert other.find(id_) is None


def test_a_session_ends_after_its_time(tmp_path: Path) -> None:
    now = 0.0
    sessions = SharedSessions(tmp_path, SECRET, clock=lambda: now)
    id_ = sessions.open("a key")
    now = LIFETIME_S
    assert sessions.find(id_) is None
    assert not list(tmp_path.iterdir())


def test_the_folder_shows_neither_the_key_nor_the_id(tmp_path: Path) -> None:
    id_ = SharedSessions(tmp_path, SECRET).open("a key")
    (file,) = tmp_path.iterdir()
    text = file.name + file.read_text()
    assert id_ not in text
    assert "a key" not in text
    assert b"a key".hex() not in text
    assert file.stat().st_mode & 0o777 == 0o600


def test_an_id_that_names_no_session_finds_none(tmp_path: Path) -> None:
    assert SharedSessions(tmp_path, SECRET).find("../../etc/passwd") is None


def test_the_oldest_session_ends_when_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_sessions, "MOST_PER_KEY", 2)
    sessions = SharedSessions(tmp_path, SECRET)
    ids = [sessions.open("a key") for _ in range(3)]
    other = sessions.open("another key")
    assert len(list(tmp_path.iterdir())) == 3
    assert [sessions.find(each) is not None for each in (*ids, other)] == [False, True, True, True]
