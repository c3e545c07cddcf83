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


ORDER = json.dumps({"lines": [{"price": 849, "quantity": 2}, {"price": 120.5, "quantity": 3}], "shipping": 12.9})


@pytest.mark.parametrize(
    "answer",
    [
        "The first line is 1,698 dollars.",  # a product
        "The first line is $1,698.00.",
        "Die erste Zeile kostet 1.698,00 €.",
        "The second line is €361.50.",
        "Prices add up to 982.40 with shipping.",  # a sum of three
        "Their difference is 728.50.",
        "The mean price is 484.75.",
        "The second costs 14.2 % of the first.",
        "With your 19 % the first costs 1,010.31.",
        "With 15 % off it costs 721.65.",
    ],
)
def test_figures_that_follow_from_results_and_the_message_have_a_source(answer: str) -> None:
    assert without_source(answer, ["Give me 15 % off, or add 19 %.", ORDER], has_results=True) == ()


def test_a_sum_of_the_numbers_that_an_answer_lists_follows_from_it() -> None:
    refunds = json.dumps({"a": 186.06, "b": {"c": 202.13}, "d": [{"e": 339.85}], "f": "252.06 and 17.5, 99.9"})
    listed = "Refunds: $186.06, $202.13, $339.85 and $252.06, which are $980.10 in all."
    assert without_source(listed, ["Sum them up.", refunds], has_results=True) == ()
    assert without_source("Refunds: $186.06, $202.13 and $252.06: $980.15.", [refunds], has_results=True) == ("980.15",)


SAVINGS = json.dumps({"old": [195.11, 499.28], "new": {"a": 180.93, "b": 471.82}, "others": [17.5, 99.9, 20.25]})


@pytest.mark.parametrize(
    "answer",
    [
        "The lamp is 180.93 instead of 195.11, the desk 471.82 instead of 499.28: you save 41.64.",
        "The lamp is 180.93 (was 195.11, saves 14.18), the desk 471.82 (was 499.28, saves 27.46): 41.64 in all.",
        "2 lamps at 195.11, 1 desk at 499.28 and 3 mats at 20.25: 714.64.",  # quantities stand between the amounts
        "195.11, 499.28, 180.93 and 471.82 are 1,347.14, and 1,329.64 with 17.50 off.",
    ],
)
def test_short_arithmetic_with_amounts_of_the_answer_follows_from_it(answer: str) -> None:
    assert without_source(answer, ["Sum them up.", SAVINGS], has_results=True) == ()


@pytest.mark.parametrize(
    ("answer", "figures"),
    [
        ("The lamp is 180.93 instead of 195.11, the desk 471.82 instead of 499.28: you save 41.46.", ("41.46",)),
        ("2 lamps at 195.11, 1 desk at 499.28 and 3 mats at 20.25: 714.46.", ("714.46",)),
        ("You save 41.64.", ("41.64",)),  # of the six amounts of results, too much follows
    ],
)
def test_other_amounts_do_not_follow(answer: str, figures: tuple[str, ...]) -> None:
    assert without_source(answer, ["Sum them up.", SAVINGS], has_results=True) == figures


def test_a_product_that_the_answer_writes_out_follows_from_it_also_after_a_long_result() -> None:
    texts = [f"[310.23, {', '.join(f'{number}.5' for number in range(1_200))}]", "Buy 150 shares"]
    assert without_source("150 x 310.23 = 46,534.50 dollars", texts, has_results=True) == ()
    assert without_source("In all 46,534.50 dollars, for 150 of 7", texts, has_results=True) == ("46,534.50",)


def test_the_name_of_a_month_is_a_source_of_its_number() -> None:
    asked = ["Book the flight on November 12th 2026"]
    assert without_source("Booked for 11/12/2026.", asked, has_results=True) == ()
    assert without_source("Booked for 12/12/2027.", asked, has_results=True) == ("2027",)
    assert without_source("There are 12 of them.", ["We decided to count them"], has_results=True) == ("12",)


def test_a_date_may_be_written_with_the_number_of_its_month() -> None:
    message = "What is due on December 15th, 2026?"
    assert without_source("On 2026-12-15, nothing.", [message, "[]"], has_results=True) == ()
    assert without_source("On 2027-12-15, nothing.", [message, "[]"], has_results=True) == ("2027",)


@pytest.mark.parametrize("figure", ["1,699", "1,744.20", "913", "2,547.50"])
def test_figures_that_follow_from_nothing_have_none(figure: str) -> None:
    assert without_source(f"It costs {figure}.", ["Buy it.", ORDER], has_results=True) == (figure,)


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


@pytest.mark.parametrize(
    "result",
    [
        f"[{'9' * 400}, 1.5]",
        f'[{{"size": {"9" * 400}, "price": 1.5}}]',
        "[NaN, 1.5, Infinity]",
        "[" * 3_000 + "1.5" + "]" * 3_000,
        '{"inner":' * 3_000 + "1.5" + "}" * 3_000,
    ],
)
def test_results_beyond_what_can_be_added_or_nested_are_read(result: str) -> None:
    assert without_source("1.5 and 83114.77", [result], has_results=True) == ("83114.77",)


def test_the_first_twenty_of_many_invented_figures_are_enough() -> None:
    invented = [f"{number}7.31" for number in range(100, 3_000)]
    assert without_source(" ".join(invented), ["1 2 3"], has_results=True) == tuple(invented[:20])
