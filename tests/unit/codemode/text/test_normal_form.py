from __future__ import annotations

import unicodedata
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemode.text.normal_form import normalized

FORMS: list[Literal["NFC", "NFD", "NFKC", "NFKD"]] = ["NFC", "NFD", "NFKC", "NFKD"]


@settings(deadline=None)
@given(st.text(max_size=29), st.sampled_from(FORMS))
def test_it_is_the_form_that_unicode_defines(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> None:
    for each in (text, f"{text} " * 1_000):
        assert normalized(form, each) == unicodedata.normalize(form, each)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("marks", ["\u0301\u0316", "\u0f73", "\u0344\u0316", "\uff9e\u0301"])
def test_marks_without_end_are_divided(form: Literal["NFC", "NFD", "NFKC", "NFKD"], marks: str) -> None:
    """In order they would take minutes."""
    text = normalized(form, "a" + marks * 500_000)
    assert text.count("\u034f") in range(500_000 * len(marks) // 30, 500_000 * len(marks) // 30 + 2)
