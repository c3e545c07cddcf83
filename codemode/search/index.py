"""The index: documents, postings and the steps of a search, from a query to its hits."""

from __future__ import annotations

from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz import fuzz, process

from codemode.search.candidates import Scorer
from codemode.search.exact import ExactNames
from codemode.search.facets import Facets
from codemode.search.groups import Interpreter
from codemode.search.postings import build_postings
from codemode.search.query import Hit, Hits, Query
from codemode.search.segment import join, read_segment
from codemode.search.spelling import Spelling
from codemode.search.vocabulary import Reader, Vocabulary
from codemode.search.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from codemode.catalog.tool import Tool
    from codemode.search.postings import Postings
    from codemode.search.segment import Segment

_CANDIDATES = 200  # hits of one search that can be paged through
_NEAREST = 3  # names given when nothing was found
_NEAR = 30.0  # of 100, by rapidfuzz's ratio: names less alike than this are no help


class Index:
    """Finds tools. Immutable: `Index.build(catalog, previous=index)` reads only the sources that changed."""

    def __init__(
        self,
        tools: Sequence[Tool],
        documents: Segment,
        vocabulary: Vocabulary,
        postings: Postings,
        *,
        weights: Weights,
    ) -> None:
        self.tools = tools
        self.documents = documents
        self.vocabulary = vocabulary
        self.postings = postings
        self.weights = weights
        self._exact = ExactNames.of(tools)
        self._facets = Facets(tools)
        surfaces = vocabulary.surfaces
        terms = np.fromiter((term for _, term in surfaces), np.int32, len(surfaces))
        self._spelling = Spelling([surface for surface, _ in surfaces], terms)
        self._interpreter = Interpreter(vocabulary, postings, self._spelling, weights)
        self._scorer = Scorer(postings)

    @classmethod
    def build(cls, catalog: Iterable[Tool], *, previous: Index | None = None, weights: Weights | None = None) -> Index:
        """Index all tools of a catalog, reading anew only those sources that differ from `previous`."""
        vocabulary = previous.vocabulary if previous else Vocabulary()
        reader = Reader(vocabulary)
        kept = previous.parts() if previous else {}
        tools: list[Tool] = []
        segments: list[Segment] = []
        for source, members in _by_source(catalog).items():
            old_tools, old = kept.get(source, ((), None))
            segments.append(old if old is not None and old_tools == members else read_segment(members, reader))
            tools += members
        documents = join(segments)
        chosen = weights or (previous.weights if previous else Weights())
        return cls(
            tuple(tools), documents, vocabulary, build_postings(documents, chosen, len(vocabulary)), weights=chosen
        )

    def parts(self) -> dict[str, tuple[tuple[Tool, ...], Segment]]:
        """The tools and the segment of each source."""
        found = {}
        start = 0
        for source, members in groupby(self.tools, key=lambda tool: tool.source):
            of_source = tuple(members)
            found[source] = (of_source, self.documents.part(start, start + len(of_source)))
            start += len(of_source)
        return found

    def __len__(self) -> int:
        return len(self.tools)

    def search(self, query: Query | str) -> Hits:
        """The hits of a query: each search ranked, then merged in turn, so that none is starved."""
        asked = Query((query,)) if isinstance(query, str) else query
        allowed = self._facets.allowed(asked)
        lists = [self._ranked(place, text, allowed) for place, text in enumerate(asked.queries)]
        merged = _merge(lists)
        return Hits(
            asked,
            tuple(merged[asked.offset : asked.offset + asked.limit]),
            len(merged),
            empty=tuple(place for place, hits in enumerate(lists) if not hits),
            nearest=() if merged else self._nearest(asked, allowed),
        )

    def _ranked(self, place: int, text: str, allowed: NDArray[np.bool_] | None) -> list[Hit]:
        groups = self._interpreter.groups(text)
        documents, scores = self._scorer.best(groups, _CANDIDATES, allowed)
        exact = [found for found in self._exact.find(text) if allowed is None or allowed[found]]
        ranked = dict.fromkeys(exact, float(scores.max(initial=0)) + 1)
        for document, score in zip(documents.tolist(), scores.tolist(), strict=True):
            ranked.setdefault(document, score)
        return [
            Hit(self.tools[document], score, query=place, rank=rank, exact=rank < len(exact))
            for rank, (document, score) in enumerate(ranked.items())
        ]

    def _nearest(self, query: Query, allowed: NDArray[np.bool_] | None) -> tuple[str, ...]:
        """Ids close to the first search; namespaces close to the one asked for, when there is no such namespace."""
        if query.namespace and allowed is not None and not allowed.any():
            names = sorted({tool.namespace for tool in self.tools})
            return _closest(query.namespace, names, cutoff=0)
        ids = [tool.id for place, tool in enumerate(self.tools) if allowed is None or allowed[place]]
        return _closest(query.queries[0] if query.queries else "", ids, cutoff=_NEAR)


def _closest(name: str, names: Sequence[str], *, cutoff: float) -> tuple[str, ...]:
    found = process.extract(name, names, scorer=fuzz.ratio, processor=str.casefold, limit=_NEAREST, score_cutoff=cutoff)
    return tuple(match[0] for match in found)


def _by_source(catalog: Iterable[Tool]) -> dict[str, tuple[Tool, ...]]:
    sources: dict[str, list[Tool]] = {}
    for tool in catalog:
        sources.setdefault(tool.source, []).append(tool)
    return {source: tuple(tools) for source, tools in sources.items()}


def _merge(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Rank by rank in turn; a tool that several searches found stands at its best place."""
    merged: dict[str, Hit] = {}
    for row in zip_longest(*lists):
        for hit in row:
            if hit is not None:
                merged.setdefault(hit.tool.id, hit)
    return list(merged.values())
