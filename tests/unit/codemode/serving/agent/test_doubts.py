from __future__ import annotations

import pytest

from codemode.serving.agent.doubts import Doubts

MISTAKE = (
    'search: queries: required argument is missing; valid: queries. search takes queries: search({"queries": ["x"]})'
)


@pytest.mark.parametrize(
    "answer",
    [
        MISTAKE,
        MISTAKE.upper(),
        f"Error: {MISTAKE}",
        "search: queries: required argument is missing",
        f"I am sorry, there was an error: {MISTAKE} Please try again.",
    ],
)
def test_a_repeated_error_is_doubted_once(answer: str) -> None:
    doubts = Doubts([], checks_figures=False)
    doubts.hear(MISTAKE, ok=False)
    assert "not an answer" in (doubts.about(answer) or "")
    assert doubts.about(answer) is None


@pytest.mark.parametrize("answer", ["x", "I could not search, since I do not know how.", "Nobody was found."])
def test_an_answer_in_own_words_is_accepted(answer: str) -> None:
    doubts = Doubts([], checks_figures=True)
    doubts.hear(MISTAKE, ok=False)
    assert doubts.about(answer) is None


def test_an_error_that_was_corrected_is_forgotten() -> None:
    doubts = Doubts([], checks_figures=True)
    doubts.hear(MISTAKE, ok=False)
    doubts.hear("found", ok=True)
    assert doubts.about(MISTAKE) is None


def test_a_doubt_after_a_result_asks_for_one_thing_only() -> None:
    doubts = Doubts(["How many orders are there?"], checks_figures=True)
    doubts.hear("[70, 80]", ok=True, unshown=["the whole result has 1234"])
    assert doubts.about("They are worth 150, of 1,234.") is None
    assert doubts.about("They are worth 171.") == (
        "No result contains 171, and it does not follow from a few of them. Answer again with how it follows."
    )


def test_figures_are_doubted_once_and_stay_known() -> None:
    doubts = Doubts(["How many orders are there?"], checks_figures=True)
    assert doubts.about("There are 18 orders, of 4 customers.") == ("No result contains 18 or 4. Make a call for it.")
    assert doubts.about("There are 19 orders.") is None
    assert doubts.figures("There are 19 orders.") == ("19",)
