from __future__ import annotations

from codemode.serving.cli.tables import table_lines

ROWS = [("ex_0123456789", "a program that is long\nand has two lines"), ("ex_1", "1")]


def test_without_a_width_nothing_is_cut() -> None:
    assert table_lines(("id", "program"), ROWS, may_be_cut=("program",), width=None) == [
        "id             program",
        "ex_0123456789  a program that is long and has two lines",
        "ex_1           1",
    ]


def test_only_what_nobody_copies_is_cut() -> None:
    lines = table_lines(("id", "program"), ROWS, may_be_cut=("program",), width=30)
    assert lines[1:] == ["ex_0123456789  a program that…", "ex_1           1"]
    lines = table_lines(("id", "program"), ROWS, may_be_cut=("program",), width=10)
    assert lines[1] == "ex_0123456789  a progr…"


def test_the_widest_column_gives_room_first() -> None:
    rows = [("x" * 40, "y" * 10, "z" * 20)]
    (_, line) = table_lines(("a", "b", "c"), rows, may_be_cut=("a", "c"), width=50)
    assert line == f"{'x' * 17}…  {'y' * 10}  {'z' * 17}…"


def test_wide_characters_count_twice() -> None:
    (_, line) = table_lines(("a", "b"), [("漢字漢字漢字", "x")], may_be_cut=("a",), width=11)
    assert line == "漢字漢 …  x"
