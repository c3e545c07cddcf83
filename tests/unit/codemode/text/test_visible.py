"""What cannot be seen is written out."""

from __future__ import annotations

import unicodedata

import pytest

from codemode.text.visible import marked, marked_data, visible, visible_data, visible_text


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("p\u0430ypal", "p\\u0430ypal"),
        ("\u0430cme", "\\u0430cme"),
        ("AC\u039cE Ltd", "AC\\u039cE Ltd"),
        ("Москва-City", "Москва-City"),
        ("exam\u0440le.com", "exam\\u0440le.com"),
        ("пример.рф", "пример.рф"),
        ("\u043f\u03b1", "\u043f\\u03b1"),
        ("p\u0301\u0430y", "p\u0301\\u0430y"),
        ("\u212aelvin", "\\u212aelvin"),
        ("\uff21CME", "\\uff21CME"),
        ("1\u0660\u0660", "1\\u0660\\u0660"),
        ("\u0661\u0660\u0660", "\u0661\u0660\u0660"),
        ("iPhone手机 東京タワー 삼성SDS 5 \u00b5m", "iPhone手机 東京タワー 삼성SDS 5 \u00b5m"),
        ("AC\u200dME \u200c A\ufe0fB", "AC\\u200dME \\u200c A\\ufe0fB"),
        ("A\u00a0B\u2009C\u3000D\u2800", "A\\xa0B\\u2009C\\u3000D\\u2800"),
        ("\u202eevil\u200b", "\\u202eevil\\u200b"),
        ("Grüße, Łódź, naïve, Ελλάδα, 123", "Grüße, Łódź, naïve, Ελλάδα, 123"),
    ],
)
def test_what_looks_like_nothing_or_like_another_letter_is_marked_where_a_person_decides(text: str, shown: str) -> None:
    assert marked(text) == shown
    assert marked(shown) == shown
    assert marked_data({text: [text, 1]}) == {shown: [shown, 1]}


def test_a_text_for_one_place_stays_on_one_line_and_says_what_it_lacks() -> None:
    assert visible_text("Ana\n[Approve]\u202e\t") == "Ana\\n[Approve]\\u202e\\t"
    assert visible_text("x" * 2_000) == "x" * 2_000
    assert visible_text("x" * 3_234, most=3) == "xxx… 3,231 more characters"


def test_data_is_made_visible_with_its_keys() -> None:
    given = {"a\u202e": ["\x07", 1, None, {"b": "c\u2066"}]}
    assert visible_data(given) == {"a\\u202e": ["\\x07", 1, None, {"b": "c\\u2066"}]}
