"""The audit file is read from its end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codemode.observing.audit_reader import read_back

if TYPE_CHECKING:
    from pathlib import Path


def _written(path: Path, count: int) -> None:
    lines = [json.dumps({"n": number, "text": "x" * (number % 300)}) for number in range(count)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _all(_: dict[str, Any]) -> bool:
    return True


def test_pages_cover_the_file_once_newest_first(tmp_path: Path) -> None:
    _written(tmp_path / "audit", 2_000)  # several chunks
    seen, before = [], 0
    while True:
        page = read_back(tmp_path / "audit", _all, limit=77, before=before)
        seen += [line["n"] for line in page.lines]
        before = page.before
        if not before:
            break
    assert seen == list(range(1_999, -1, -1))


def test_lines_that_do_not_fit_or_are_damaged_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "audit"
    path.write_bytes(b'{"n": 1}\n\xff\xfe\n[1]\n{"n": 2}\n{"n": 3')
    assert [line["n"] for line in read_back(path, _all, limit=9).lines] == [2, 1]
    assert [line["n"] for line in read_back(path, lambda line: line["n"] == 1, limit=9).lines] == [1]


def test_a_missing_or_empty_file_has_no_lines(tmp_path: Path) -> None:
    assert read_back(tmp_path / "none", _all, limit=9) == ((), 0, False)
    (tmp_path / "empty").touch()
    assert read_back(tmp_path / "empty", _all, limit=9) == ((), 0, False)


def test_an_offset_beyond_the_end_is_the_end(tmp_path: Path) -> None:
    _written(tmp_path / "audit", 3)
    assert [line["n"] for line in read_back(tmp_path / "audit", _all, limit=9, before=10**9).lines] == [2, 1, 0]
