"""From how many calls on code mode is cheaper, as the table says it."""

from __future__ import annotations

import pytest

from benchmarks.crossing import CALLS, Job
from benchmarks.crossing_tables import crossing, sizes
from codemode.bench.measures import Price
from codemode.bench.results import Result, TurnRecord

FREE = Price(0, 0, 1)


def played(mode: str, tokens: list[int]) -> list[Result]:
    """Return the chain at 30 tools, with these tokens for 1, 3, 10, 30 and 100 calls; 0 for a job that was not done."""
    return [
        Result(
            "crossing",
            Job("chain", 30, calls).id,
            "obedient",
            mode,
            "off",
            solved=bool(number),
            turns=[TurnRecord(requests=2, input_tokens=number)],
        )
        for calls, number in zip(CALLS, tokens, strict=True)
    ]


@pytest.mark.parametrize(
    ("other", "first"),
    [
        ([9, 9, 9, 9, 9], "1"),
        ([4, 5, 6, 9, 9], "10"),  # equal is not cheaper
        ([9, 4, 9, 9, 9], "10"),  # from there on, always
        ([4, 4, 4, 4, 0], "100"),  # a job that the other mode cannot do
        ([4, 4, 4, 4, 4], "never"),
        ([0, 0, 0, 0, 0], "cannot"),
    ],
)
def test_the_first_number_of_calls_from_which_on_code_mode_is_cheaper(other: list[int], first: str) -> None:
    table = crossing([*played("code", [5, 5, 5, 5, 5]), *played("native", other)], FREE)
    row = next(row for row in table.rows if row[:3] == ["chain", "30", "tokens"])
    assert dict(zip(table.titles, row, strict=True))["native"] == first


def test_a_job_that_was_not_done_has_an_empty_cell() -> None:
    table = sizes([*played("code", [5, 5, 5, 5, 5]), *played("native", [7, 0, 0, 0, 0])])
    rows = [row for row in table.rows if row[:2] == ["chain", "30"]]
    assert [row[3:5] for row in rows[:2]] == [["5 in 2", "7 in 2"], ["5 in 2", ""]]
