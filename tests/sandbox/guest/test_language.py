"""The same programs under CPython and in a guest print the same."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.sandbox.guest.host_double import run_guest

PROGRAMS = sorted((Path(__file__).parents[2] / "language").glob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_it_prints_under_cpython(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = path.read_text()
    printed = io.StringIO()
    with monkeypatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setitem(sys.modules, "__main__", module := ModuleType("__main__"))  # `@dataclass` looks there
        exec(compile(code, "<program>", "exec", dont_inherit=True), vars(module))  # noqa: S102 - a program of ours

    ended = run_guest(code)

    assert ended.status == "completed", ended.message
    assert ended.output == printed.getvalue()
    assert sys.getrecursionlimit() > 0
