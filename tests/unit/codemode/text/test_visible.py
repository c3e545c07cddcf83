"""What cannot be seen is written out."""

from __future__ import annotations

import unicodedata

import pytest

from codemode.text.visible import visible, visible_data, visible_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nof lines", "plain\ttext\nof lines"),
        ("\x1b[2Jgone\x00\r", "\\x1b[2Jgone\\x00\\x0d"),
        ("a\u202eb\u2066c\u200fd", "a\\u202eb\\u2066c\\u200fd"),
        ("\u200bz\u2028", "\\u200bz\\u2028"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("क्\u200dष \u200c 👩\u200d💻 Grüße 删除", "क्\u200dष \u200c 👩\u200d💻 Grüße 删除"),
    ],
)
def test_a_character_that_cannot_be_seen_is_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def test_every_control_and_bidirectional_character_is_escaped() -> None:
    bidirectional = ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI")
    for code in range(0x110000):
        char = chr(code)
        is_unseen = unicodedata.category(char) == "Cc" or unicodedata.bidirectional(char) in bidirectional
        if is_unseen and char not in "\n\t":
            assert visible(char) != char, hex(code)


def test_a_text_for_one_place_stays_on_one_line_and_says_what_it_lacks() -> None:
    assert visible_text("Ana\n[Approve]\u202e\t") == "Ana\\n[Approve]\\u202e\\t"
    assert visible_text("x" * 2_000) == "x" * 2_000
    assert visible_text("x" * 3_234, most=3) == "xxx… (3,231 more characters)"


def test_data_is_made_visible_with_its_keys() -> None:
    given = {"a\u202e": ["\x07", 1, None, {"b": "c\u2066"}]}
    assert visible_data(given) == {"a\\u202e": ["\\x07", 1, None, {"b": "c\\u2066"}]}
