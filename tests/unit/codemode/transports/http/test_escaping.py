"""Values that may be sent in each place of a request, and values that may not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.transports.http.escaping import Unsafe, cookie_text, header_text, path_text, query_text


@pytest.mark.parametrize(
    "value",
    [
        "", ".", "..", "a/b", "a\\b", "%2e%2e", "%252e%252e%252f", "..%2f", "%5c", "a\x00b", "a\nb", "%00", "..;x=1",
        "\uff0e\uff0e\uff0fadmin", "\ufe52\ufe52\uff0f", "a" * 2_001, "x;/../admin", "%2f", " .. ",
    ],
)  # fmt: skip
def test_what_would_leave_its_path_segment_is_refused(value: str) -> None:
    with pytest.raises(Unsafe):
        path_text(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x?admin=1", "x%3Fadmin%3D1"),
        ("u1#", "u1%23"),
        ("x@127.0.0.1", "x%40127.0.0.1"),
        ("a b", "a%20b"),
        ("50%", "50%25"),
        ("é", "%C3%A9"),
        ("...", "..."),
        ("v1.2", "v1.2"),
    ],
)
def test_what_stays_in_its_segment_is_escaped(value: str, expected: str) -> None:
    assert path_text(value) == expected


def test_a_place_in_a_tree_may_have_slashes_but_no_traversal() -> None:
    assert path_text("src/main.py", slashes=True) == "src%2Fmain.py"
    for value in ("../x", "a//b", "/etc", "a/%2e%2e/b", "a/./b"):
        with pytest.raises(Unsafe):
            path_text(value, slashes=True)


def test_reserved_characters_stay_where_that_is_allowed_but_those_that_end_a_value() -> None:
    assert query_text("a/b:c?&#+") == "a%2Fb%3Ac%3F%26%23%2B"
    assert query_text("a/b:c?&#+", reserved=True) == "a/b:c?%26%23%2B"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "\ta", "a ", "é", "a\x7f", "", "a" * 8_001])
def test_a_header_is_one_printable_line(value: str) -> None:
    with pytest.raises(Unsafe):
        header_text(value)


@pytest.mark.parametrize("value", ["a;b", "a,b", "a b", 'a"b', "a\\b", "a\r\n", "é"])
def test_a_cookie_cannot_end_early(value: str) -> None:
    with pytest.raises(Unsafe):
        cookie_text(value)


@given(st.text())
def test_no_text_ever_leaves_its_place(value: str) -> None:
    for escape, forbidden in ((path_text, "/?#\\ \r\n"), (header_text, "\r\n\x00"), (cookie_text, ";, \r\n")):
        try:
            text = escape(value)
        except Unsafe:
            continue
        assert not set(forbidden) & set(text)
        assert escape is not path_text or text not in (".", "..")


def test_text_that_utf_8_cannot_hold_is_refused_in_a_path_and_replaced_in_a_query() -> None:
    with pytest.raises(Unsafe):
        path_text("a\ud800")
    assert query_text("a\ud800") == "a%3F"
