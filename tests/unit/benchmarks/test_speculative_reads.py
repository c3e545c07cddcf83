"""The leading reads of a program."""

from __future__ import annotations

import pytest

from benchmarks.speculative_reads import program_of

OPERATIONS = {"a.get": {"method": "GET"}, "a.post": {"method": "POST"}}


@pytest.mark.parametrize(
    ("code", "leading"),
    [
        ("x = a.get(id=1)\ny = a.get(ids=[1, 2])\na.post(id=x)\na.get(id=3)", 2),
        ("a.post(id=1)\na.get(id=1)", 0),
        ("n = 1\na.get(id=n)", 0),
        ("[a.get(id=1) for _ in range(9)]", 0),
        ("async def main():\n    return await a.get(id=1)\nawait main()", 1),
        ("print(a.get(id=1))", 1),
    ],
)
def test_reads_with_literal_arguments_lead_up_to_the_first_other_call(code: str, leading: int) -> None:
    program = program_of(code, OPERATIONS)
    assert program is not None
    assert len(program.left_s) == leading
    assert all(0 <= left < program.writing_s for left in program.left_s)


@pytest.mark.parametrize("code", ["1 +", "print(1)"])
def test_what_calls_nothing_is_not_counted(code: str) -> None:
    assert program_of(code, OPERATIONS) is None
