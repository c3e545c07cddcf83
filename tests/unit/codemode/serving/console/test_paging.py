"""Pages of long lists."""

from __future__ import annotations

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from codemode.serving.console.paging import Page, page_of


def asked(query: str) -> Request:
    return Request({"type": "http", "query_string": query.encode(), "headers": []})


@pytest.mark.parametrize(
    ("query", "total", "number", "last"),
    [("", 0, 1, 1), ("page=1", 250, 1, 3), ("page=3", 250, 3, 3), ("page=99", 250, 3, 3), ("page=2", 200, 2, 2)],
)
def test_a_page_is_at_most_the_last_one(query: str, total: int, number: int, last: int) -> None:
    page = page_of(asked(query), total)
    assert (page.number, page.last) == (number, last)


def test_a_page_has_its_rows() -> None:
    assert Page(2, 7, size=3).rows("abcdefg") == "def"
    assert Page(3, 7, size=3).rows("abcdefg") == "g"


@pytest.mark.parametrize("text", ["0", "-1", "x", "1.5", "²"])
def test_another_number_is_rejected(text: str) -> None:
    with pytest.raises(HTTPException, match="is not a page number"):
        page_of(asked(f"page={text}"), 10)
