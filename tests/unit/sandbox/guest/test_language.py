"""The same programs under CPython and in a guest print the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.sandbox.guest.host_double import run_guest

PROGRAMS = sorted((Path(__file__).parents[2] / "language").glob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_it_prints_under_cpython(path: Path) -> None:
    code = path.read_text()
    # In a process of its own: the guest has changed the library of this one.
    cpython = [sys.executable, "-X", "utf8", "-c", "exec(compile(__import__('sys').stdin.read(), '<program>', 'exec'))"]
    printed = subprocess.run(cpython, input=code, capture_output=True, encoding="utf-8", check=True).stdout

    ended = run_guest(code)

    assert ended.status == "completed", ended.message
    assert ended.output == printed
    assert sys.getrecursionlimit() > 0
