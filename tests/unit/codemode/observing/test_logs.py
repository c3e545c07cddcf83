"""Log lines during an outage of the journal: one a second, with the number of the others."""

from __future__ import annotations

import logging
import sys

import pytest

from codemode.errors import JournalUnavailable
from codemode.observing.logs import OutageLines

AWAY = JournalUnavailable("the journal is away")


def record(at_s: float, *args: object, **more: object) -> logging.LogRecord:
    made = logging.LogRecord("codemode", logging.ERROR, "", 1, "%s", args, None, **more)  # type: ignore[arg-type]
    made.created = at_s
    return made


def test_one_line_a_second_is_written_with_the_number_of_those_left_out() -> None:
    lines = OutageLines()
    passed = [lines.filter(record(n / 1000, AWAY)) for n in range(999)]
    assert passed == [True] + [False] * 998
    late = record(1.0, AWAY)
    assert lines.filter(late)
    assert late.__dict__["left_out"] == 998
    again = record(2.5, AWAY)
    assert lines.filter(again)
    assert "left_out" not in again.__dict__


def test_lines_about_anything_else_are_all_written() -> None:
    lines = OutageLines()
    assert all(lines.filter(record(0.0, ValueError("no"))) for _ in range(100))
    assert all(lines.filter(record(0.0)) for _ in range(100))


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_a_traceback_of_an_outage_counts_too(is_wrapped: bool) -> None:
    lines = OutageLines()
    assert lines.filter(record(0.0, "ex_1", AWAY))
    try:
        if is_wrapped:
            raise RuntimeError("a call failed") from AWAY
        raise AWAY
    except (RuntimeError, JournalUnavailable):
        broken = record(0.5, "ex_2")
        broken.exc_info = sys.exc_info()
    assert not lines.filter(broken)
