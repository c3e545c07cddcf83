"""The page that tells an auditor what to read: each file stands there once, and the lines are about as many."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SANDBOX = ROOT / "sandbox"
ROWS = re.findall(r"^\|.*\| (`.*`) \| (\d+) \|$", (ROOT / "docs" / "security" / "reading.md").read_text(), re.MULTILINE)
PATTERNS = [re.findall("`([^`]+)`", files) for files, _ in ROWS]
NAMED = {pattern for patterns in PATTERNS for pattern in patterns if "*" not in pattern}


def files_of(patterns: list[str]) -> list[str]:
    """The files that a row names, and those of its folders that no row names."""
    found = []
    for pattern in patterns:
        paths = [path.relative_to(SANDBOX).as_posix() for path in SANDBOX.glob(pattern) if path.suffix == ".py"]
        found += [path for path in paths if path == pattern or path not in NAMED]
    return found


def test_each_file_stands_in_one_row() -> None:
    listed = sorted(file for patterns in PATTERNS for file in files_of(patterns))
    assert listed == sorted(path.relative_to(SANDBOX).as_posix() for path in SANDBOX.rglob("*.py"))


@pytest.mark.parametrize(("files", "told"), ROWS)
def test_a_row_has_about_as_many_lines_as_it_says(files: str, told: str) -> None:
    lines = sum(len((SANDBOX / file).read_text().splitlines()) for file in files_of(re.findall("`([^`]+)`", files)))
    assert abs(lines - int(told)) <= max(100, lines // 20), lines
