"""What is asked of an index, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from codemode.errors import SearchInvalid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.catalog.tool import Effect, Tool

DEFAULT_LIMIT = 10


@dataclass(frozen=True, slots=True)
class Query:
    """One or more searches in one go, one per step of a plan; filters hold for all of them.

    `limit` hits are given from the place `offset` of the merged list on, on the first page at least one for each
    search. Raises SearchInvalid for a negative one.
    """

    queries: tuple[str, ...]
    namespace: str | None = None
    source: str | None = None
    effect: Effect | None = None
    tag: str | None = None
    limit: int = DEFAULT_LIMIT
    offset: int = 0

    def __post_init__(self) -> None:
        if self.limit < 0 or self.offset < 0:
            message = f"limit and offset are counts from 0 on; got limit={self.limit}, offset={self.offset}"
            raise SearchInvalid(message)
        readable = tuple(text.encode(errors="replace").decode() for text in self.queries)
        object.__setattr__(self, "queries", readable)  # a command's arguments may hold bytes that are no text


@dataclass(frozen=True, slots=True)
class LookUp:
    """`tool` gives what the parameter `parameter` of another tool needs; "" when it is related in another way."""

    parameter: str
    tool: Tool


class Found(Protocol):
    """What one search found, by the ranks of its hits."""

    def matched(self, rank: int) -> tuple[str, ...]:
        """The words of the query that a tool answers, each with the fields that do."""
        ...

    def look_ups(self, rank: int) -> Sequence[LookUp]:
        """Tools that give what a tool requires."""
        ...


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that fits.

    `query` is the place in `Query.queries` of the search that found it, `rank` its place (from 0) in that search;
    `exact` is whether the search was, or held, an exact name of the tool.
    """

    tool: Tool
    score: float
    query: int
    rank: int
    exact: bool
    found: Found = field(repr=False, compare=False)

    @property
    def matched(self) -> tuple[str, ...]:
        """Why it was found: the words of the query it answers, each with the fields that do; worked out when asked."""
        return self.found.matched(self.rank)

    @property
    def look_ups(self) -> Sequence[LookUp]:
        """Tools that give what this one requires, such as an id; worked out when asked."""
        return self.found.look_ups(self.rank)

    @property
    def namespace(self) -> str:
        """The namespace of the tool."""
        return self.tool.namespace

    @property
    def effect(self) -> Effect:
        """What a call of the tool does to the world."""
        return self.tool.effect


@dataclass(frozen=True, slots=True)
class Hits:
    """The answer to a `Query`: one page of hits, best first, and how many there are in all.

    `best` is, for each search, the id of its first hit ("" without one), which another search may have found as well;
    `confidence` is, for each search, how likely it is that its first hit can be right (0 to 1); `unsure` holds the
    places of those whose hits may all be wrong, `empty` of those that found nothing. `nearest` are the ids that come
    closest when there is no hit at all. `note` says what the answer lacks, such as embeddings that are not ready.
    """

    query: Query
    hits: tuple[Hit, ...]
    total: int
    best: tuple[str, ...] = ()
    confidence: tuple[float, ...] = ()
    unsure: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()
    nearest: tuple[str, ...] = ()
    note: str = ""
