"""Lines are appended by one process at a time, and an interrupted line is removed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codemode.errors import ConfigurationError
from codemode.serving.line_file import LineFile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lines.jsonl"


def test_lines_are_appended(path: Path) -> None:
    for number in (1, 2):
        with LineFile(path) as lines:
            lines.append(f"{number}")
    assert path.read_text(encoding="utf-8") == "1\n2\n"


@pytest.mark.parametrize(("before", "after"), [("1\n{", "1\n2\n"), ("{", "2\n"), ("1\n", "1\n2\n"), ("", "2\n")])
def test_an_unfinished_line_is_removed(path: Path, before: str, after: str) -> None:
    path.write_text(before, encoding="utf-8")
    with LineFile(path) as lines:
        lines.append("2")
    assert path.read_text(encoding="utf-8") == after


def test_a_second_writer_is_rejected_and_changes_nothing(path: Path) -> None:
    with LineFile(path) as lines:
        path.write_text("1\n2", encoding="utf-8")
        with pytest.raises(ConfigurationError, match=r"lines\.jsonl: another run writes to this file"):
            LineFile(path)
        assert path.read_text(encoding="utf-8") == "1\n2"
        lines.append("")
    with LineFile(path):
        assert path.read_text(encoding="utf-8") == "1\n2\n"


def test_a_lone_surrogate_is_written_and_read_again(path: Path) -> None:
    with LineFile(path) as lines:
        lines.append(json.dumps("cut \ud83d off, ü", ensure_ascii=False))
    assert json.loads(path.read_text(encoding="utf-8")) == "cut \ud83d off, ü"


def test_a_compressed_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"lines\.jsonl\.xz: lines are written uncompressed"):
        LineFile(tmp_path / "lines.jsonl.xz")
