"""A gold run fails if a task ends otherwise than its suite says."""

from __future__ import annotations

from dataclasses import replace

from codemode.bench.measures import groups_of
from codemode.bench.outcome import bars_of, surprises
from codemode.bench.suite import Episode, Task
from tests.unit.codemode.bench.samples import FAILED, gold, result


def begin() -> Episode:
    raise NotImplementedError


TASKS = [Task("a", ["go"], begin), Task("b", ["go"], begin, gold_fails="b asks for a text")]


def test_a_run_that_ends_as_the_suite_says_has_no_surprise() -> None:
    assert surprises(TASKS, [gold("a"), gold("b", solved=False)]) == []


def test_a_task_that_newly_fails_is_named_with_its_reason() -> None:
    assert surprises(TASKS, [gold("a", solved=False)]) == ["a: not paid"]


def test_a_task_that_is_solved_against_the_word_of_the_suite_is_named() -> None:
    assert surprises(TASKS, [gold("b")]) == ["b: solved, although `gold_fails` says: b asks for a text"]


def test_a_program_that_fails_is_named_although_the_judge_accepts() -> None:
    assert surprises(TASKS, [replace(gold("a"), turns=[FAILED])]) == [
        "a: solved, although a gold program failed: ZeroDivisionError"
    ]


def test_a_suite_may_declare_that_a_program_of_a_solved_task_fails() -> None:
    assert surprises(TASKS, [replace(gold("b"), turns=[FAILED])]) == []


def test_the_tokens_of_several_modes_are_bars_on_one_scale() -> None:
    native = replace(result(mode="native"), turns=[replace(result().turns[0], input_tokens=3_000, output_tokens=0)])
    code = replace(result(mode="code"), turns=[replace(result().turns[0], input_tokens=1_000, output_tokens=0)])
    assert [line.split() for line in bars_of(groups_of([native, code]))] == [
        [],
        ["tokens", "of", "a", "task"],
        ["code", "#" * 10, "1,000"],
        ["native", "#" * 30, "3,000"],
        [],
    ]


def test_one_mode_and_solutions_have_no_bars() -> None:
    assert bars_of(groups_of([result()])) == bars_of(groups_of([gold("a")])) == bars_of([]) == []
