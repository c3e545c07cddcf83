from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from codemode.errors import ConfigurationError, JournalDamaged
from codemode.serving.auth.keys import KeyFile, Keys, digest_of
from codemode.shared.files import FileValue

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.shared.values import Latest


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "keys.json"


def test_a_key_opens_and_only_its_digest_is_kept_for_its_owner_alone(path: Path) -> None:
    key, text = KeyFile(path).create(role="support", label="CI")
    found = KeyFile(path).find(text)
    assert found is not None
    assert (found.id, found.role, found.label) == (key.id, "support", "CI")
    assert text.startswith(f"cm_{key.id}_")
    content = path.read_text(encoding="utf-8")
    assert text not in content
    assert text.removeprefix(f"cm_{key.id}_") not in content
    assert digest_of(text) in content
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert sorted(file.name for file in path.parent.iterdir()) == ["keys.json", "keys.lock"]


def test_what_is_no_key_opens_nothing(path: Path) -> None:
    file = KeyFile(path)
    assert file.find("cm_00000000_x") is None
    key, text = file.create(role="default")
    for wrong in ("", text[:-1], text + "x", text.upper(), key.digest, f"cm_{key.id}_", "\udcff"):
        assert file.find(wrong) is None


def test_keys_take_effect_in_a_server_that_runs(path: Path) -> None:
    server, operator = KeyFile(path), KeyFile(path)
    assert not server.is_in_use()
    key, text = operator.create(role="default")
    assert server.is_in_use()
    assert server.find(text) is not None
    operator.revoke(key.id)
    assert server.find(text) is None
    assert server.is_in_use()


def test_a_rotated_key_has_the_same_id_and_the_old_text_a_time_of_grace(path: Path, clock: Clock) -> None:
    file = KeyFile(path, clock=clock)
    key, old = file.create(role="support")
    again, new = file.rotate(key.id, grace_s=60)
    assert (again.id, again.role) == (key.id, "support")
    for text in (old, new):
        found = file.find(text)
        assert found is not None
        assert found.id == key.id
    clock.now += 60
    assert file.find(old) is None
    assert file.find(new) is not None
    _, newest = file.rotate(key.id, grace_s=0)
    assert file.find(new) is None
    assert file.find(newest) is not None


def test_a_key_expires(path: Path, clock: Clock) -> None:
    file = KeyFile(path, clock=clock)
    _, text = file.create(role="default", lifetime_s=10)
    assert file.find(text) is not None
    clock.now += 10
    assert file.find(text) is None
    assert file.entries()[0].status(clock.now) == "expired"


def test_a_revoked_key_stays_revoked(path: Path) -> None:
    file = KeyFile(path)
    key, text = file.create(role="default")
    file.revoke(key.id)
    with pytest.raises(ConfigurationError, match="is revoked: create a new one"):
        file.rotate(key.id, grace_s=1)
    assert file.find(text) is None


def test_an_unknown_key_is_named(path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no key 'abc'"):
        KeyFile(path).revoke("abc")


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"format": 2, "keys": []}', '{"format": 1, "keys": [{"id": "a"}]}', ""]
)
def test_a_file_that_cannot_be_read_opens_nothing_and_is_not_overwritten(path: Path, content: str) -> None:
    file = KeyFile(path)
    _, text = file.create(role="default")
    path.write_text(content, encoding="utf-8")
    assert file.find(text) is None
    assert file.is_in_use()
    with pytest.raises(ConfigurationError, match=r"cannot read the key file .*keys\.json"):
        file.create(role="default")
    assert path.read_text(encoding="utf-8") == content


def test_a_file_that_is_gone_leaves_nobody_in(path: Path) -> None:
    file = KeyFile(path)
    _, text = file.create(role="default")
    assert file.find(text) is not None
    path.unlink()
    assert file.find(text) is None
    assert file.is_in_use()


def test_keys_that_were_damaged_and_restored_open_again(path: Path) -> None:
    class Edited(FileValue):
        is_damaged = False

        def latest(self) -> Latest:
            if self.is_damaged:
                raise JournalDamaged("it was changed", execution="keys")
            return super().latest()

    value = Edited(path)
    server = Keys(value)
    _, text = server.create(role="support")
    for value.is_damaged in (False, True, False):
        assert (server.find(text) is None) == value.is_damaged


def test_changes_at_the_same_time_are_all_kept(path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: KeyFile(path).create(role="default", label=str(number)), range(24)))
    assert {key.label for key in KeyFile(path).entries()} == {str(number) for number in range(24)}
    assert all(KeyFile(path).find(text) for _, text in made)
    assert len(json.loads(path.read_text(encoding="utf-8"))["keys"]) == 24


def test_a_key_opens_servers_of_its_project_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    staging, prod = (KeyFile(path, project=name) for name in ("staging", "prod"))
    key, text = staging.create(role="default")
    assert staging.find(text) == key
    assert prod.find(text) is None
    assert prod.role_of(key.id) is None
    assert prod.entries() == ()
    assert prod.is_in_use()
    with pytest.raises(ConfigurationError, match="there is no key"):
        prod.revoke(key.id)
    assert staging.find(text) == key


def test_keys_of_an_earlier_version_become_those_of_the_project_that_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    _, text = KeyFile(path).create(role="default")
    staging, prod = (KeyFile(path, project=name) for name in ("staging", "prod"))
    staging.adopt()
    assert staging.find(text) is not None
    prod.adopt()
    assert prod.find(text) is None
