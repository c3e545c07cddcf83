from __future__ import annotations

import pytest

from codemode.text.shortened_lines import shortened_lines


def test_a_long_line_leaves_the_short_ones_after_it() -> None:
    text = "\n".join(["status: " + "x" * 10_000, "filled: True", "locked: True", "braked: True"])
    lines = shortened_lines(text, 1_000, "print less").split("\n")
    assert lines[1:] == ["filled: True", "locked: True", "braked: True"]
    assert lines[0].endswith("x… (9,093 more characters: print less)")
    assert len(lines[0]) < 1_000


def test_long_lines_share_the_room_that_short_ones_leave() -> None:
    lines = shortened_lines("\n".join(["x" * 5_000, "y", "z" * 5_000]), 1_003, "print less").split("\n")
    assert [line.count(letter) for line, letter in zip(lines, "xyz", strict=True)] == [454, 1, 454]


def test_of_many_lines_the_first_and_the_last_are_shown() -> None:
    text = "\n".join(f"line {number:04}" for number in range(1_000))
    lines = shortened_lines(text, 500, "print less").split("\n")
    assert (lines[0], lines[-1]) == ("line 0000", "line 0999")
    assert lines[len(lines) // 2] == "… (9,500 more characters: print less)"


def test_a_long_line_among_many_is_cut_too() -> None:
    lines = shortened_lines("\n".join(["x" * 5_000, *("y" * 5 for _ in range(300))]), 500, "print less").split("\n")
    assert lines[0].startswith("xxx")
    assert lines[-1] == "y" * 5


def test_what_is_left_out_counts_whole_lines() -> None:
    lines = ["a" * 200, "b" * 200, "c" * 9_000, *("d" for _ in range(300))]
    assert "… (9,351 more characters: print less)" in shortened_lines("\n".join(lines), 500, "print less")


@pytest.mark.parametrize("text", ["", "short", "a\nb", "x" * 500, "é\n" * 250])
def test_a_text_within_the_limit_stays_as_it_is(text: str) -> None:
    assert shortened_lines(text, 500, "print less") == text


@pytest.mark.parametrize(
    "text", ["x" * 5_000, "\n" * 5_000, "x" * 300 + "\n" * 300, "ab\n" * 2_000, "x\n" + "y" * 9_000]
)
def test_any_text_is_brought_to_about_the_limit(text: str) -> None:
    assert len(shortened_lines(text, 500, "print less")) <= 550
