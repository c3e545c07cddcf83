"""Two modes are compared on the tasks that both played."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.bench.pairs import mcnemar, overall, pairs_of
from codemode.bench.results import Result, TurnRecord
from codemode.bench.tables import tables_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def played(mode: str, solved: str, suite: str = "shop") -> list[Result]:
    """Return an attempt for each letter: a task of this name, which is solved if the letter is a capital."""
    turn = TurnRecord(requests=2 if mode == "code" else 3, input_tokens=10)
    return [
        Result(suite, letter.lower(), "big", mode, "off", solved=letter.isupper(), turns=[turn]) for letter in solved
    ]


@pytest.mark.parametrize(
    ("one", "other", "p"),
    # The second and third rows are those of R's binom.test(1, 6) and binom.test(0, 5).
    [(0, 0, 1.0), (1, 5, 0.21875), (0, 5, 0.0625), (3, 3, 1.0), (10, 0, 0.001953125)],
)
def test_the_exact_test_is_that_of_the_binomial_distribution(one: int, other: int, p: float) -> None:
    assert mcnemar(one, other) == mcnemar(other, one) == pytest.approx(p)


def test_pairs_have_the_tasks_of_both_modes_alone() -> None:
    (pair,) = pairs_of([*played("native", "ABcx"), *played("code", "AbCD")])
    assert (pair.one.mode, pair.other.mode) == ("code", "native")
    assert [one.task for one in pair.one.results] == ["a", "b", "c"]
    counts = [pair.count(one=one, other=other) for one in (True, False) for other in (True, False)]
    assert counts == [1, 1, 1, 0]
    assert pair.chance == 1.0


def test_a_task_of_another_suite_is_another_task() -> None:
    results = [*played("code", "A"), *played("native", "A", suite="other")]
    assert pairs_of(results) == []
    (group,) = overall([*played("code", "A"), *played("code", "a", suite="other")])
    assert (group.pass_hat(1), group.repeats) == (0.5, 1)


def titles(results: Sequence[Result]) -> list[str]:
    return [table.title for table in tables_of(results)]


def test_a_report_compares_modes_if_there_are_several() -> None:
    assert titles(played("code", "Ab")) == ["Success", "Effort"]
    assert titles([*played("code", "Ab"), *played("menu", "AB")]) == ["Modes", "Pairs", "Success", "Effort"]


def test_a_success_is_corrupt_if_a_rule_of_the_policy_was_broken() -> None:
    results = played("code", "ABc")
    for one in results[1:]:
        one.details["rules_broken"] = 1
    assert [group.corrupt for group in overall(results)] == [1]
