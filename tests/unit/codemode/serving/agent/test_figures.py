from __future__ import annotations

import json

import pytest

from codemode.serving.agent.figures import without_source

SALARIES = json.dumps({"items": [{"id": 901, "amountMinor": 312050}, {"id": 902, "amountMinor": 99000}], "total": 18})


@pytest.mark.parametrize(
    "answer",
    [
        "18 salaries are pending.",
        "The first is worth 3,120.50 euro.",
        "The first is worth 3 120.50 euro.",
        "Der erste beträgt 3.120,50 Euro.",
        "The first is worth about 3,121 euro.",
        "The second is worth 990 euro.",
        "Together they are worth 4,110.50 euro.",  # the total of a column
        "The first is worth 2,130.50 euro more than the second.",
        "1. first\n12. second",
        "Here are 2 of them.",
        "See SUMMER15.",
        "```python\nx = 777\n```",
        "You asked for 25 of them.",
        "No figure at all.",
    ],
)
def test_figures_of_a_conversation_have_a_source(answer: str) -> None:
    assert without_source(answer, ["Show me 25.", SALARIES], has_results=True) == ()


@pytest.mark.parametrize(
    ("answer", "figures"),
    [
        ("There are 23 salaries.", ("23",)),
        ("They are worth 60,924.17 euro, or 60,924.17.", ("60,924.17",)),
        ("The first is worth 3,150.50 euro.", ("3,150.50",)),
        ("Between 44 and 57.", ("44", "57")),
    ],
)
def test_invented_figures_have_none(answer: str, figures: tuple[str, ...]) -> None:
    assert without_source(answer, ["Show me 25.", SALARIES], has_results=True) == figures


def test_small_numbers_need_a_source_before_the_first_result() -> None:
    assert without_source("There are 3.", ["How many?"], has_results=False) == ("3",)
    assert without_source("There are 3.", ["How many?", "true"], has_results=True) == ()


def test_a_percentage_is_explained_by_its_share() -> None:
    assert without_source("15.5 % are active.", ["0.1552"], has_results=True) == ()


def test_counts_of_listed_rows_are_explained() -> None:
    rows = json.dumps([{"name": "x"}] * 40)
    assert without_source("37 of 40 are active.", [rows], has_results=True) == ()
    assert without_source("41 are active.", [rows], has_results=True) == ("41",)


def test_long_and_deep_results_are_read() -> None:
    assert without_source("17 of them.", ["[" * 100_000, "1 " * 100_000], has_results=True) == ("17",)
