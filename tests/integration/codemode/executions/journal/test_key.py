"""The key of keyed digests."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from codemode.errors import ConfigurationError
from codemode.executions.journal.configured import journal_of
from codemode.executions.journal.key import DigestKey
from codemode.settings import Secrets, Settings

if TYPE_CHECKING:
    from pathlib import Path


def test_the_file_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "state" / "journal.key"
    first = DigestKey.of_file(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert DigestKey.of_file(file).digest("x") == first.digest("x")
    assert [one.name for one in file.parent.iterdir()] == ["journal.key"]


def test_of_several_that_make_it_at_once_all_have_the_same(tmp_path: Path) -> None:
    file = tmp_path / "journal.key"
    with ThreadPoolExecutor(8) as threads:
        keys = threads.map(lambda _: DigestKey.of_file(file), range(16))
    assert len({key.fingerprint for key in keys}) == 1


def test_digests_depend_on_the_key_and_on_the_value_alone() -> None:
    one, other = DigestKey(b"one"), DigestKey(b"other")
    assert one.digest({"a": 1, "b": "é"}) == one.digest({"b": "é", "a": 1})
    assert len({one.digest(1), one.digest("1"), one.digest([1]), one.digest(True), one.digest(1.0)}) == 5
    assert one.digest(1) != other.digest(1)
    assert len(one.digest(None)) == 64


def test_a_file_that_is_no_key_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "journal.key"
    file.write_bytes(b"short")
    with pytest.raises(ConfigurationError, match="has 5 bytes, not 32: restore the original file"):
        DigestKey.of_file(file)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(ConfigurationError, match="cannot be read or created: "):
        DigestKey.of_file(tmp_path / "state" / "journal.key")


@pytest.mark.parametrize("text", ["abc", "eleven char"])
def test_a_configured_key_that_is_too_short_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "secret").write_text(text)
    settings = Settings.model_validate({"state_folder": tmp_path, "journal": {"key": {"file": tmp_path / "secret"}}})
    message = rf"journal\.key: the secret has {len(text)} characters, .* at least 12: make one with `python -c"
    with pytest.raises(ConfigurationError, match=message):
        journal_of(settings, Secrets())
