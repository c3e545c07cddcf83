"""Descriptions made fit for one line."""

from __future__ import annotations

import pytest

from codemode.text.prose import first_sentence, plain, shorten


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>Retrieves a <code>Charge</code>.</p> <p>More.</p>", "Retrieves a Charge"),
        ("Get a user.\n\nLong text.", "Get a user"),
        ("Lists items, e.g. Books. And more.", "Lists items, e.g. Books"),
        ("**Deprecated**: use [this](https://x.y/z) instead", "Deprecated: use this instead"),
        ("## Overview\nCreates it", "Overview Creates it"),
        ("a &lt; b", "a < b"),
        ("", ""),
    ],
)
def test_the_first_sentence_is_plain_text(text: str, expected: str) -> None:
    assert first_sentence(text) == expected


def test_a_long_text_is_cut_at_a_word() -> None:
    assert shorten("one two three four", 10) == "one two…"
    assert len(first_sentence("word " * 100)) <= 121


def test_markup_that_is_none_stays() -> None:
    assert plain("a < b and c > d") == "a < b and c > d"


@pytest.mark.parametrize(
    "text", ["[" * 300_000, "[](" * 50_000, "![a](" + " " * 300_000, "\n" * 300_000, "<a" * 100_000]
)
def test_no_description_holds_the_host_up(text: str) -> None:
    """Each of these took minutes."""
    assert len(plain(text)) <= len(text)


@pytest.mark.parametrize(
    "text",
    ["Find hotels in a city. :param city: The city.", "Find hotels in a city.\n\n:param city: the city\n:return: them",
     "Find hotels in a city\n    :returns: the hotels", "Find hotels in a city. See :param."],
)  # fmt: skip
def test_the_first_sentence_ends_before_the_fields_of_a_docstring(text: str) -> None:
    assert first_sentence(text) == "Find hotels in a city"
