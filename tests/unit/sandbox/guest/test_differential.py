"""Generated programs do in a guest what they do under CPython."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.guest.both_interpreters import in_a_guest, under_cpython
from tests.unit.sandbox.guest.program_generator import program

#: Seeds of the short run. `make fuzz` takes many more, and what it finds is added here.
SEEDS = range(150)


@pytest.mark.parametrize("start", range(0, len(SEEDS), 25))
def test_a_generated_program_prints_and_fails_as_under_cpython(start: int) -> None:
    for seed in SEEDS[start : start + 25]:
        code = program(seed)
        assert in_a_guest(code) == under_cpython(code), f"seed {seed}\n{code}"
