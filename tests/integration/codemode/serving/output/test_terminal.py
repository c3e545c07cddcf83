"""What a person at a terminal sees."""

from __future__ import annotations

import json

import pytest

from codemode.executions.types.ledger import LedgerEntry
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.gateway.call import CallState
from codemode.serving.output import terminal as show
from sandbox import Failure, Usage

HOSTILE = "a\x1b]0;title\x07b\x9b31m [bold]c[/bold]\x7f"
HARMLESS = "a\\x1b]0;title\\x07b\\x9b31m [bold]c[/bold]\\x7f"


def test_an_outcome_of_others_moves_no_cursor_and_has_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    ended = ExecutionOutcome(
        id="ex_1",
        status="failed",
        result=None,
        has_value=False,
        output=HOSTILE + "\r\nsecond line",
        output_truncated=False,
        failure=Failure(type="ToolError", message=HOSTILE),
        calls=(LedgerEntry("1", "t", {}, CallState.FAILED, 0.0, 0.1, error=HOSTILE),),
        usage=Usage(),
        isolation=(),
        limit=None,
        notes=(HOSTILE,),
    )
    show.console.print(show.outcome(ended), width=200)
    shown = capsys.readouterr().out
    assert shown.count(HARMLESS) >= 3
    assert not {"\x1b", "\x07", "\x9b", "\x7f", "\r"} & set(shown)


def test_a_long_answer_for_the_model_is_cut_to_a_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    show.console.print(show.first_lines("\n".join(["x" * 200] * 30)), width=80)
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "x" * 79 + "…"
    assert last.rstrip() == "… 25 more lines"


@pytest.mark.parametrize("given", [HOSTILE, "pay \u202e1000\u202c to ann", "\u2066a\u2069"])
def test_what_nobody_thought_of_moves_no_cursor_and_reorders_nothing(
    capsys: pytest.CaptureFixture[str], given: str
) -> None:
    """Also in a title of a document, a name of a file, and what goes to another program as JSON."""
    show.console.print(f"s  1 tools  {given}", markup=False, soft_wrap=True)
    show.errors.print(show.plain(given), soft_wrap=True)
    show.print_json({given: [given]})
    printed, told = capsys.readouterr()
    assert not {*map(chr, (0x1B, 7, 0x9B, 0x7F, 0x202E, 0x202C, 0x2066, 0x2069))} & set(printed + told)
    assert json.loads(printed.partition("\n")[2]) == {given: [given]}


def test_a_few_warnings_are_shown_and_the_others_counted(capsys: pytest.CaptureFixture[str]) -> None:
    show.warnings("api", [(f"/paths/{number}", "unreadable\x1b") for number in range(5)])
    shown = capsys.readouterr().err
    assert "api: /paths/2: unreadable\\x1b" in shown
    assert "/paths/3" not in shown
    assert "api: and 2 more warnings" in shown


def test_a_source_without_warnings_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    show.warnings("api", [])
    assert capsys.readouterr() == ("", "")


def test_a_warning_about_a_whole_source_names_no_place(capsys: pytest.CaptureFixture[str]) -> None:
    show.warnings("gone", [("", "cannot be reached")])
    assert capsys.readouterr().err == "gone: cannot be reached\n"


def failed_with(excerpt: str, calls: int = 1) -> ExecutionOutcome:
    return ExecutionOutcome(
        id="ex_1",
        status="failed",
        result=None,
        has_value=False,
        output="",
        output_truncated=False,
        failure=Failure(type="KeyError", message="'b'", line=1, column=3, excerpt=excerpt),
        calls=tuple(LedgerEntry(str(each), "t", {}, CallState.COMMITTED, 0.0, 0.1) for each in range(calls)),
        usage=Usage(),
        isolation=(),
        limit=None,
        notes=(),
    )


@pytest.mark.parametrize("column", [0, 30, 75, 140, 195])
def test_a_caret_stands_under_its_character_however_narrow_the_terminal(
    capsys: pytest.CaptureFixture[str], column: int
) -> None:
    source = "".join(chr(0x100 + each) for each in range(196))
    excerpt = f">    1 | {source}\n{' ' * (9 + column)}^"

    show.console.print(show.outcome(failed_with(excerpt)), width=60)

    lines = capsys.readouterr().out.split("\n")
    at = next(number for number, line in enumerate(lines) if line.strip("│ ") == "^")
    assert lines[at - 1][lines[at].index("^")] == source[column]
    assert lines[at - 1].startswith("│ >    1 | ")


@pytest.mark.parametrize(("calls", "says"), [(0, "0 calls,"), (1, "1 call,"), (2, "2 calls,")])
def test_calls_are_counted_as_people_do(capsys: pytest.CaptureFixture[str], calls: int, says: str) -> None:
    show.console.print(show.outcome(failed_with("", calls)), width=100)

    assert says in capsys.readouterr().out
