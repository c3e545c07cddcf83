"""What is asked of an index, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from codemode.errors import SearchInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.tool import Effect, Tool

DEFAULT_LIMIT = 10


@dataclass(frozen=True, slots=True)
class LookUp:
    """A `tool` that returns what another tool needs for its `parameter`; "" if the tools are related in another way."""

    parameter: str
    tool: Tool


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


class Found(Protocol):
    """What one search found, by the ranks of its hits."""

    def matched(self, rank: int) -> tuple[str, ...]:
        """The words of the query that a tool answers, each with the fields that do."""
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
    `look_ups` are, by tool id, the tools that return what a hit requires, such as an id (`Index.with_look_ups`).
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
    look_ups: Mapping[str, tuple[LookUp, ...]] = field(default_factory=dict)

    @property
    def leads(self) -> list[Hit]:
        """The first hit of each query; on the first page, without hits that another query found as well."""
        first: dict[int, Hit] = {}
        for hit in self.hits:
            first.setdefault(hit.query, hit)
        return [
            first[query] for query in sorted(first) if self.query.offset or first[query].tool.id == self.best[query]
        ]
