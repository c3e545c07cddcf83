"""The folder of saved programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.catalog.saved import SavedProgram
from codemode.catalog.tool import Effect
from codemode.executions.types.saving_errors import SavingRefused
from codemode.features.saved.file import parse, render
from codemode.features.saved.folder import SavedFolder

if TYPE_CHECKING:
    from pathlib import Path


def program(body: str) -> SavedProgram:
    return parse("one", render(SavedProgram("one", "Return one.", "", Effect.READ), body))


def test_what_is_written_is_read_and_changes_the_stamp(tmp_path: Path) -> None:
    folder = SavedFolder(tmp_path / "programs")
    assert folder.read() == ({}, {})
    before = folder.stamp()
    folder.write(program("1"))
    assert folder.read() == ({"one": program("1")}, {})
    assert folder.stamp() != before
    assert [file.name for file in folder.path.iterdir()] == ["one.py"]


def test_files_that_are_no_programs_are_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "draft.py").write_text("1", encoding="utf-8")
    (tmp_path / "bytes.py").write_bytes(b"\xff")
    programs, problems = SavedFolder(tmp_path).read()
    assert programs == {}
    assert problems["bytes"] == "bytes.py: it is not UTF-8 text"
    assert "draft.py has no header" in problems["draft"]


@pytest.mark.parametrize("name", ["../other", "missing", "", "One"])
def test_nothing_outside_of_the_folder_is_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / "other.py").write_text("1", encoding="utf-8")
    folder = SavedFolder(tmp_path / "programs")
    folder.write(program("1"))
    with pytest.raises(SavingRefused, match="there is no saved program"):
        folder.remove(name, ["one"])
    assert (tmp_path / "other.py").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "programs").write_text("a file", encoding="utf-8")
    with pytest.raises(SavingRefused, match=r"cannot write .*one\.py: File exists"):
        SavedFolder(tmp_path / "programs").write(program("1"))
