"""Pages of long lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

T = TypeVar("T")

#: Rows of a page.
SIZE = 100


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list with `total` rows. Pages are counted from 1."""

    number: int
    total: int
    size: int = SIZE

    @property
    def first(self) -> int:
        """Index of the first row, from 0."""
        return (self.number - 1) * self.size

    @property
    def last(self) -> int:
        """Number of the last page. An empty list has one page."""
        return max(1, -(-self.total // self.size))

    def rows(self, items: Sequence[T]) -> Sequence[T]:
        """Return the rows of this page from the whole list."""
        return items[self.first : self.first + self.size]


def page_of(request: Request, total: int, size: int = SIZE) -> Page:
    """Return the page that the query parameter `page` names, at most the last one. Raises HTTPException."""
    text = request.query_params.get("page", "1")
    if not text.isascii() or not text.isdigit() or int(text[:9]) < 1:
        detail = f"page: {text[:40]!r} is not a page number; pages are counted from 1"
        raise HTTPException(422, detail)
    asked = Page(int(text[:9]), total, size)
    return Page(min(asked.number, asked.last), total, size)
