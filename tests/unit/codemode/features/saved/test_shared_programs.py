"""Saved programs that servers share, beside the files of a server's folder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from codemode.catalog.saved import SavedProgram
from codemode.catalog.tool import Effect
from codemode.executions.types.saving_errors import SavingRefused
from codemode.features.saved import shared_programs
from codemode.features.saved.file import parse, render
from codemode.features.saved.folder import SavedFolder
from codemode.features.saved.shared_programs import SharedPrograms
from codemode.shared.files import FileValue

if TYPE_CHECKING:
    from pathlib import Path


def program(body: str, version: int = 1) -> SavedProgram:
    bare = SavedProgram("one", "Return a number.", body, Effect.READ, version=version)
    return parse("one", render(bare, body))


@pytest.fixture
def folder(tmp_path: Path) -> SavedFolder:
    return SavedFolder(tmp_path / "programs")


@pytest.fixture
def servers(tmp_path: Path, folder: SavedFolder) -> tuple[SharedPrograms, SharedPrograms]:
    """Two servers. The first one has a folder."""
    value = tmp_path / "programs.json"
    return SharedPrograms(FileValue(value), folder), SharedPrograms(FileValue(value), None)


def test_a_program_that_one_server_saves_is_a_program_of_the_other(
    servers: tuple[SharedPrograms, SharedPrograms],
) -> None:
    one, other = servers
    before = other.stamp()
    assert other.read() == ({}, {})
    one.write(program("1"))
    assert other.stamp() != before
    assert other.read() == ({"one": program("1")}, {})
    other.remove("one", ["one"])
    assert one.read() == ({}, {})


def test_two_servers_do_not_save_the_same_version(servers: tuple[SharedPrograms, SharedPrograms]) -> None:
    one, other = servers
    one.write(program("1"))
    with pytest.raises(SavingRefused, match=r"another server has just saved saved\.one version 1: save it again"):
        other.write(program("2"))
    other.write(program("2", version=2))
    assert one.read()[0] == {"one": program("2", version=2)}


def test_a_file_of_the_folder_is_a_program_of_this_server_until_the_store_has_its_name(
    servers: tuple[SharedPrograms, SharedPrograms], folder: SavedFolder
) -> None:
    one, other = servers
    folder.write(program("1"))
    assert one.read() == ({"one": program("1")}, {})
    assert other.read() == ({}, {})
    with pytest.raises(SavingRefused, match=r"one\.py is a file of this server's configuration: remove the file"):
        one.remove("one", ["one"])
    one.write(program("2", version=2))
    programs, problems = one.read()
    assert programs == {"one": program("2", version=2)}
    assert problems["one"].startswith("one.py is not used: the file ")


def test_what_is_not_there_cannot_be_removed(servers: tuple[SharedPrograms, SharedPrograms]) -> None:
    with pytest.raises(SavingRefused, match="there is no saved program 'absent'"):
        servers[0].remove("absent", [])


def test_programs_have_room_for_so_many_bytes(
    servers: tuple[SharedPrograms, SharedPrograms], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = servers
    one.write(program("1"))
    monkeypatch.setattr(shared_programs, "MOST_BYTES", 150)
    with pytest.raises(SavingRefused, match=r"no room for saved\.two: saved programs may take 150 bytes together"):
        other.write(replace(program("2"), name="two"))
    assert other.read()[0] == {"one": program("1")}
