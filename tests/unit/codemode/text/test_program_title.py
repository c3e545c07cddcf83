"""The title of a program is its first comment or call, else its first line that is no import."""

from __future__ import annotations

import pytest

from codemode.text.program_title import LONGEST, program_title


@pytest.mark.parametrize(
    ("code", "title"),
    [
        ("import asyncio\nfrom a import (\n    b,\n    c,\n)\n\nshop.pay(1)", "shop.pay(1)"),
        ("# Freeze the membership of Paul\ngym.freeze(7)", "Freeze the membership of Paul"),
        ('"""Freeze a membership."""\ngym.freeze(7)', "Freeze a membership."),
        ("importance = 1", "importance = 1"),
        ("limit = 3\n# Pay the salary of March\nshop.pay(limit)", "Pay the salary of March"),
        ("limit = 3\nshop.pay(limit)  # at last", "shop.pay(limit)  # at last"),
        ("shop.pay(1)\n# done", "shop.pay(1)"),
        ('"""\nFreeze a membership.\n"""\ngym.freeze(7)', "Freeze a membership."),
        ("import x", ""),
        ("", ""),
        ("#\n\n  total = 0", "total = 0"),
    ],
)
def test_the_title_is_the_first_comment_or_call(code: str, title: str) -> None:
    assert program_title(code) == title


def test_a_long_line_is_cut() -> None:
    title = program_title("x" * 500)
    assert (len(title), title[-1]) == (LONGEST, "…")
