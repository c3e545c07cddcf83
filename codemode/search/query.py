"""Queries and hits: the input and the output of a search."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from codemode.errors import SearchInvalid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.tool import Effect, Tool

    #: Returns how sure it is, from 0 to 1, that tools answer a query, by their ids: from calls after earlier queries.
    Learned = Callable[[str], Mapping[str, float]]

DEFAULT_LIMIT = 10


@dataclass(frozen=True, slots=True)
class LookUp:
    """A tool that provides the value of another tool's `parameter`. `parameter` is "" for a declared relation."""

    parameter: str
    tool: Tool


@dataclass(frozen=True, slots=True)
class Query:
    """One or more searches, one for each step of a plan. Filters apply to all of them.

    A page has `limit` hits, from position `offset` of the merged hits. The first page has at least one hit for each
    search. `learned` raises tools, and adds those that no word finds. Raises SearchInvalid for a negative `limit` or
    `offset`.
    """

    queries: tuple[str, ...]
    namespace: str | None = None
    source: str | None = None
    effect: Effect | None = None
    tag: str | None = None
    limit: int = DEFAULT_LIMIT
    offset: int = 0
    learned: Learned | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.limit < 0 or self.offset < 0:
            message = f"limit and offset must be 0 or more; got limit={self.limit}, offset={self.offset}"
            raise SearchInvalid(message)
        readable = tuple(text.encode(errors="replace").decode() for text in self.queries)
        object.__setattr__(self, "queries", readable)  # command-line arguments may hold invalid UTF-8


class IndexResult(Protocol):
    """The result of one search. Its methods take the rank of a hit."""

    def matched(self, rank: int) -> tuple[str, ...]:
        """Return the query words that a tool matches, each with the matching fields."""
        ...


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that a search found.

    `query` is the position of the search in `Query.queries`, and `rank` the position of the hit in that search, from 0.
    `exact` is whether the search contains an exact name of the tool.
    """

    tool: Tool
    score: float
    query: int
    rank: int
    exact: bool
    found: IndexResult = field(repr=False, compare=False)

    @property
    def matched(self) -> tuple[str, ...]:
        """The query words that the tool matches, each with the matching fields. Computed on access."""
        return self.found.matched(self.rank)

    @property
    def namespace(self) -> str:
        """The namespace of the tool."""
        return self.tool.namespace

    @property
    def effect(self) -> Effect:
        """The effect of the tool: read, write or destructive."""
        return self.tool.effect


@dataclass(frozen=True, slots=True)
class Hits:
    """The answer to a `Query`: one page of hits, best first, and the `total` over all pages.

    `best` has the id of the first hit of each search, "" without one. Several searches may have the same. `confidence`
    estimates for each search, from 0 to 1, that its first hit is right. `unknown` are the words of each search for
    things that no tool has. `unsure` and `empty` are the positions of the searches whose hits may all be wrong, and of
    those without hits. `nearest` are the most similar ids if there is no hit at all. `note` says what the answer lacks,
    such as embeddings that are not ready. `look_ups` maps tool ids to the tools that provide what a hit requires, such
    as an id (`Index.with_look_ups`).
    """

    query: Query
    hits: tuple[Hit, ...]
    total: int
    best: tuple[str, ...] = ()
    confidence: tuple[float, ...] = ()
    unknown: tuple[tuple[str, ...], ...] = ()
    unsure: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()
    nearest: tuple[str, ...] = ()
    note: str = ""
    look_ups: Mapping[str, tuple[LookUp, ...]] = field(default_factory=dict)

    def sure(self, accepts: Callable[[Hit], bool]) -> Hits:
        """Return the hits that a function accepts, of the searches that are sure."""
        hits = tuple(hit for hit in self.hits if hit.query not in self.unsure and accepts(hit))
        return replace(self, hits=hits, total=len(hits))

    @property
    def leads(self) -> list[Hit]:
        """The first hit of each query. On the first page, hits that another query leads with are left out."""
        first: dict[int, Hit] = {}
        for hit in self.hits:
            first.setdefault(hit.query, hit)
        return [
            first[query] for query in sorted(first) if self.query.offset or first[query].tool.id == self.best[query]
        ]
