"""A gold run fails if a task ends otherwise than its suite says."""

from __future__ import annotations

from dataclasses import replace

from codemode.bench.outcome import surprises
from codemode.bench.suite import Episode, Task
from tests.unit.codemode.bench.samples import FAILED, gold


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
