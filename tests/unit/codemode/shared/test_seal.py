"""Logins sealed at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.errors import ConfigurationError
from codemode.shared.files import FolderStore
from codemode.shared.seal import SealedStore

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = "o" * 32, "n" * 32


def _store(folder: Path, *keys: str) -> SealedStore:
    return SealedStore(FolderStore(folder), lambda: keys)


def test_a_sealed_login_is_read_with_its_key_alone(tmp_path: Path) -> None:
    _store(tmp_path, OLD).value("tokens", "bank").change(lambda _: b"token")
    assert _store(tmp_path, OLD).value("tokens", "bank").read() == b"token"
    assert _store(tmp_path, NEW).value("tokens", "bank").read() is None
    assert b"token" not in (FolderStore(tmp_path).value("tokens", "bank").read() or b"token")


def test_an_old_key_opens_and_the_next_change_seals_with_the_new_one(tmp_path: Path) -> None:
    _store(tmp_path, OLD).value("tokens", "bank").change(lambda _: b"token")
    rotated = _store(tmp_path, NEW, OLD).value("tokens", "bank")
    assert rotated.latest().data == b"token"
    rotated.change(lambda data: data)
    assert _store(tmp_path, NEW).value("tokens", "bank").read() == b"token"


def test_a_login_from_before_there_was_a_key_is_read(tmp_path: Path) -> None:
    FolderStore(tmp_path).value("tokens", "bank").change(lambda _: b"{}")
    assert _store(tmp_path, NEW).value("tokens", "bank").read() == b"{}"


def test_a_login_in_the_place_of_another_does_not_open(tmp_path: Path) -> None:
    _store(tmp_path, NEW).value("tokens", "bank.mine.a").change(lambda _: b"token")
    sealed = FolderStore(tmp_path).value("tokens", "bank.mine.a").read()
    FolderStore(tmp_path).value("tokens", "bank.mine.b").change(lambda _: sealed)
    assert _store(tmp_path, NEW).value("tokens", "bank.mine.b").read() is None


def test_other_values_are_not_sealed(tmp_path: Path) -> None:
    _store(tmp_path, NEW).value("shapes").change(lambda _: b"{}")
    assert FolderStore(tmp_path).value("shapes").read() == b"{}"


def test_a_short_key_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"logins\.key: a key has 5 characters; use at least 32"):
        _store(tmp_path, "short").value("tokens", "bank").change(lambda _: b"token")
