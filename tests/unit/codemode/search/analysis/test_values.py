"""Literal values in a query."""

from __future__ import annotations

import pytest

from codemode.search.analysis.values import values
from codemode.search.index.index import Index
from codemode.testing import make_tool


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("rename /home/me/draft v2.docx", [("file", "v2.docx")]),
        ("open ~/notes/today.md, then main.py", [("file", "~/notes/today.md"), ("file", "main.py")]),
        ("read https://example.com/post.html.", [("url", "https://example.com/post.html.")]),
        ("who owns example.co.uk?", [("url", "example.co.uk")]),
        ("write to ada@example.com", [("email", "ada@example.com")]),
        ("where is 203.0.113.9", [("ip", "203.0.113.9")]),
        ("pulls.list", []),
        ("upgrade to 1.2.3", []),
        ("chat.postMessage, e.g. to me", []),
    ],
)
def test_literal_values_are_recognized_by_shape(query: str, expected: list[tuple[str, str]]) -> None:
    assert [(value.kind, query[value.start : value.end]) for value in values(query)] == expected


@pytest.mark.parametrize("repeated", ["a.", "a/", "a@a.", "www.", "1.1.", "-", "a.py/", "http://"])
def test_value_recognition_ends_in_a_long_text(repeated: str) -> None:
    assert len(values(repeated * 1_000_000)) <= 1  # with the square of the length it would take days


def test_the_kind_of_a_value_outranks_its_words() -> None:
    index = Index.build(
        [
            make_tool("disk.read", summary="Reads a file"),
            make_tool("settings.show_config", summary="Shows the configuration"),
            make_tool("people.list_notes", summary="Lists notes"),
        ]
    )
    assert index.search("read config.yaml").hits[0].tool.id == "disk.read"
    assert index.search("read notes.txt").hits[0].tool.id == "disk.read"
