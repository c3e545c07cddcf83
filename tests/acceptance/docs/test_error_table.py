"""The table of error codes is whole: every code that the source has stands in it, and no other."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from codemode.errors import CodeModeError
from codemode.serving.http.errors import STATUS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")


def kinds_of(error: type[CodeModeError]) -> Iterator[type[CodeModeError]]:
    yield error
    for more in error.__subclasses__():
        yield from kinds_of(more)


def test_every_code_stands_in_the_table_once() -> None:
    table = re.findall(r'^\| <a id="(\w+)"></a>`\1` \|', PAGE, re.MULTILINE)
    serving = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "codemode" / "serving").rglob("*.py"))
    answered = set(re.findall(r'\bproblem\(\s*\d+,\s*"(\w+)"', serving))
    answered |= set(re.findall(r'\b\d{3}: "(\w+)"', serving))
    assert len(answered) > 8
    for file in (ROOT / "codemode").rglob("*.py"):  # an error outside of errors.py is known once it is imported
        if re.search(r'^    code = "', file.read_text(encoding="utf-8"), re.MULTILINE):
            import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    assert sorted(table) == sorted({*(error.code for error in kinds_of(CodeModeError)), *answered})


def test_the_table_says_the_status_with_which_an_error_is_answered() -> None:
    rows = re.findall(r"^\| \S+ \S+`(\w+)` \|.*\| (\d*) ?\|$", PAGE, re.M)
    told = {code: int(status) for code, status in rows if status}
    answered = {
        error.code: next(status for kind, status in STATUS.items() if issubclass(error, kind))
        for error in kinds_of(CodeModeError)
        if error.code in told and issubclass(error, tuple(STATUS))
    }
    assert len(answered) > 10
    assert {code: told[code] for code in answered} == answered
