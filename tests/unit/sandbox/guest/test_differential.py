"""Generated programs do in a guest what they do under CPython."""

from __future__ import annotations

import contextlib
import io

import pytest

from tests.unit.sandbox.guest.host_double import run_guest
from tests.unit.sandbox.guest.program_generator import program

#: Seeds of the short run. `make fuzz` takes many more, and what it finds is added here.
SEEDS = range(150)


def under_cpython(code: str) -> tuple[str, str]:
    printed = io.StringIO()
    failed = ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(code, "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102 - made by our generator
        except Exception as error:  # noqa: BLE001 - any failure is compared
            failed = type(error).__name__
    return printed.getvalue(), failed


def in_a_guest(code: str) -> tuple[str, str]:
    ended = run_guest(code)
    return ended.output, ended.failure["type"] if ended.failure else ""


@pytest.mark.parametrize("start", range(0, len(SEEDS), 25))
def test_a_generated_program_prints_and_fails_as_under_cpython(start: int) -> None:
    for seed in SEEDS[start : start + 25]:
        code = program(seed)
        assert in_a_guest(code) == under_cpython(code), f"seed {seed}\n{code}"
