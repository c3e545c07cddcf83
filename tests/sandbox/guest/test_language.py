"""The same programs under CPython and in a guest print the same."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

import pytest

from tests.sandbox.guest.host_double import run_guest

PROGRAMS = sorted((Path(__file__).parents[2] / "language").glob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_it_prints_under_cpython(path: Path) -> None:
    code = path.read_text()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<program>", "exec", dont_inherit=True), {"__name__": "__main__"})  # noqa: S102 - a program of ours

    ended = run_guest(code)

    assert ended.status == "completed", ended.message
    assert ended.output == printed.getvalue()
    assert sys.getrecursionlimit() > 0
