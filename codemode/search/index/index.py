"""The index: documents, postings and the steps of a search, from a query to its hits."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz import fuzz, process

from codemode.search.analysis.acronyms import Acronyms
from codemode.search.analysis.clauses import clause_heads, fill
from codemode.search.analysis.compounds import pairs_of_names
from codemode.search.analysis.expansion import Interpreter
from codemode.search.analysis.spelling import Spelling
from codemode.search.analysis.term_weights import read
from codemode.search.analysis.vocabulary import Reader, Vocabulary
from codemode.search.index.documents import Field
from codemode.search.index.facets import Facets
from codemode.search.index.postings import build_postings, rarity_of
from codemode.search.index.profile import build_profile
from codemode.search.index.segment import join, read_segment
from codemode.search.lookups import find_look_ups
from codemode.search.query import DEFAULT_LIMIT, Hit, Hits, Query
from codemode.search.ranking.candidates import Scorer, best
from codemode.search.ranking.confidence import UNSURE, confidence, evidence
from codemode.search.ranking.exact import ExactNames
from codemode.search.ranking.ranking import ParsedQuery, Ranker, weigh
from codemode.search.ranking.weights import Weights
from codemode.search.semantic.similarity import NOTABLY_SIMILAR, with_nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from codemode.catalog.tool import Tool
    from codemode.search.index.postings import Postings
    from codemode.search.index.profile import Profile
    from codemode.search.index.segment import Segment
    from codemode.search.query import LookUp
    from codemode.search.semantic.similarity import Similarity

_CANDIDATES = 200  # hits of one search that can be paged through
_LEAST = 1e-6  # keeps a share of nothing from dividing by zero
_NEAREST = 3  # names given when nothing was found
_NEAR = 30.0  # of 100, by rapidfuzz's ratio: names less alike than this are no help


#: What is to be done where there is nothing to be found: by whoever runs this.
NO_TOOLS = (
    "there are no tools here at all: the operator names a source (`codemode sources add NAME LOCATION`), or lets this"
    " role use some (`policy`)"
)


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
        profile: Profile | None = None,
        exact: ExactNames | None = None,
        spelling: Spelling | None = None,
    ) -> None:
        self.tools = tools
        self.documents = documents
        self.vocabulary = vocabulary
        self.postings = postings
        self.weights = weights
        self.similarity: Similarity | None = None
        self._by_words: Index | None = None
        self.profile = profile or build_profile(tools, documents, postings, vocabulary)
        self.exact = exact or ExactNames.of(tools)
        self._facets = Facets(tools)
        self.spelling = spelling or Spelling(vocabulary.surfaces, vocabulary.term_of_surface)
        compounds = pairs_of_names(documents, vocabulary)
        acronyms = Acronyms(documents, vocabulary)
        is_named = np.zeros(len(vocabulary), bool)
        is_named[documents.terms[documents.fields == Field.NAME]] = True
        self._interpreter = Interpreter(vocabulary, postings, self.spelling, compounds, acronyms, is_named, weights)
        self._scorer = Scorer(postings)
        self._ranked_closely = min(max(weights.ranked, math.isqrt(len(tools))), _CANDIDATES)
        self._rarest = float(rarity_of(np.zeros(1, np.int64), postings.size, weights)[0])
        self._ranker = Ranker(documents, postings, self.profile, vocabulary)

    @classmethod
    def build(cls, catalog: Iterable[Tool], *, previous: Index | None = None, weights: Weights | None = None) -> Index:
        """Index all tools of a catalog, reading anew only those sources that differ from `previous`."""
        vocabulary = previous.vocabulary.copy() if previous is not None else Vocabulary()
        reader = Reader(vocabulary)
        kept = previous.parts() if previous is not None else {}
        tools: list[Tool] = []
        segments: list[Segment] = []
        for source, members in _by_source(catalog).items():
            old_tools, old = kept.get(source, ((), None))
            segments.append(old if old is not None and old_tools == members else read_segment(members, reader))
            tools += members
        documents = join(segments)
        chosen = weights or (previous.weights if previous is not None else Weights())
        return cls(
            tuple(tools), documents, vocabulary, build_postings(documents, chosen, len(vocabulary)), weights=chosen
        )

    @staticmethod
    def arranged(catalog: Iterable[Tool]) -> tuple[Tool, ...]:
        """The tools of a catalog in the order in which an index numbers them: source by source."""
        return tuple(tool for members in _by_source(catalog).values() for tool in members)

    def parts(self) -> dict[str, tuple[tuple[Tool, ...], Segment]]:
        """The tools and the segment of each source."""
        found = {}
        start = 0
        for source, members in groupby(self.tools, key=lambda tool: tool.source):
            of_source = tuple(members)
            found[source] = (of_source, self.documents.part(start, start + len(of_source)))
            start += len(of_source)
        return found

    def with_similarity(self, similarity: Similarity) -> Index:
        """The same index, that also ranks by embeddings of `tools` whenever these are ready."""
        other = copy(self)
        other.similarity = similarity
        other._by_words = self.by_words
        return other

    @property
    def by_words(self) -> Index:
        """The same index without embeddings."""
        return self._by_words or self

    def __len__(self) -> int:
        return len(self.tools)

    def check(self, query: Query) -> None:
        """Raises SearchInvalid for a filter with a value that no tool has."""
        self._facets.allowed(query)

    def search(self, query: Query | str) -> Hits:
        """The hits of a query: each search ranked, then merged in turn, so that none is starved."""
        asked = Query((query,)) if isinstance(query, str) else query
        if not self.tools:
            count = len(asked.queries)
            return Hits(asked, (), 0, ("",) * count, (0.0,) * count, empty=tuple(range(count)), note=NO_TOOLS)
        allowed = self._facets.allowed(asked)
        similar, note = self._similar(asked.queries)
        end = asked.offset + (asked.limit if asked.offset else max(asked.limit, len(asked.queries)))
        depth = _CANDIDATES if self.similarity or len(asked.queries) > 1 else min(end, _CANDIDATES)
        lists = [self._found(*each, allowed, depth) for each in zip(asked.queries, similar, strict=True)]
        page, total = _page(lists, asked.offset, end)
        return Hits(
            asked,
            tuple(page),
            total,
            best=tuple(self.tools[found.documents[0]].id if found.documents else "" for found in lists),
            confidence=tuple(found.confidence for found in lists),
            unsure=tuple(place for place, found in enumerate(lists) if found.documents and found.confidence < UNSURE),
            empty=tuple(place for place, found in enumerate(lists) if not found.documents),
            nearest=() if total else self._nearest(asked.queries, allowed),
            note=note,
        )

    def _similar(self, queries: Sequence[str]) -> tuple[Sequence[NDArray[np.float32] | None], str]:
        """How near each tool is in meaning to each query, where that is known; and what is missing."""
        if self.similarity is None or not any(query.strip() for query in queries):
            return [None] * len(queries), ""
        return self.similarity.standings(queries)

    def _found(
        self, text: str, similar: NDArray[np.float32] | None, allowed: NDArray[np.bool_] | None, depth: int
    ) -> _Found:
        """The first `depth` documents of one search, or more, best first: exact names, then the ranked, clauses filling
        the last places."""
        exact = [place for place in self.exact.find(text) if allowed is None or allowed[place]]
        if not exact:
            return self._ranked(text, similar, allowed, depth)
        ranked = self._ranked(text, similar, allowed, _CANDIDATES)
        scores = dict(zip(ranked.documents, [*ranked.scores.tolist(), *ranked.behind.tolist()], strict=True))
        highest = max(scores.values(), default=0.0) + 1
        documents = list(dict.fromkeys((*exact, *ranked.documents)))
        ordered = np.array([scores.get(document, highest) for document in documents])
        return replace(
            ranked, documents=documents, scores=ordered, total=len(documents), exact=len(exact), confidence=1.0
        )

    def _ranked(
        self, text: str, similar: NDArray[np.float32] | None, allowed: NDArray[np.bool_] | None, depth: int
    ) -> _Found:
        """The documents with the highest sums or nearest similarity looked at closely, then the rest by their sums."""
        parsed = self._parsed(text)
        every = self._scorer.sums(parsed.groups)
        if allowed is not None:
            every *= allowed
        documents, sums = best(every, max(self._ranked_closely, depth))
        close = min(self._ranked_closely, len(documents))
        total = min(int(np.count_nonzero(every > 0)), _CANDIDATES)
        if similar is not None:
            documents, sums, close = with_nearest(documents, sums, close, similar, allowed)
            total = len(documents)
        if not close:
            return _Found(self, parsed, similar, [], sums, sums)
        assessment = self._ranker.assess(parsed, documents[:close], sums[:close])
        scores = weigh(assessment.features, self.weights.ranking)
        order = (-scores).argsort(kind="stable")
        sure = confidence(evidence(parsed.groups, assessment, sums, scores, order, self._rarest))
        if similar is not None:
            scores = scores + np.float32(self.weights.meaning) * similar[documents[:close]]
            order = (-scores).argsort(kind="stable")
        order = fill(order, clause_heads(parsed, text, assessment, scores), DEFAULT_LIMIT)
        documents[:close] = documents.take(order)
        return _Found(self, parsed, similar, documents.tolist(), scores.take(order), sums[close:], total, 0, sure)

    def looked_at(self, text: str) -> tuple[tuple[str, ...], Mapping[str, NDArray[np.floating]]]:
        """The ids and features of the candidates of one search, for tuning."""
        parsed = self._parsed(text)
        documents, sums = best(self._scorer.sums(parsed.groups), self._ranked_closely)
        if not len(documents):
            return (), {}
        assessment = self._ranker.assess(parsed, documents, sums)
        return tuple(self.tools[document].id for document in documents.tolist()), assessment.features

    def evidence(self, text: str) -> Mapping[str, float] | None:
        """What speaks for the best hit of a search, for fitting; None without a hit."""
        parsed = self._parsed(text)
        documents, sums = best(self._scorer.sums(parsed.groups), self._ranked_closely)
        if not len(documents):
            return None
        assessment = self._ranker.assess(parsed, documents, sums)
        scores = weigh(assessment.features, self.weights.ranking)
        return evidence(parsed.groups, assessment, sums, scores, (-scores).argsort(kind="stable"), self._rarest)

    def _parsed(self, text: str) -> ParsedQuery:
        reading = read(text, self.weights)
        return ParsedQuery(
            tuple(self._interpreter.groups(reading.words)), reading.leading, reading.actions, reading.left_out
        )

    def _by_id(self, name: str) -> Tool | None:
        places = self.exact.find(name)
        return self.tools[places[0]] if places else None

    def _nearest(self, queries: Sequence[str], allowed: NDArray[np.bool_] | None) -> tuple[str, ...]:
        """Ids close to the first search."""
        ids = [tool.id for place, tool in enumerate(self.tools) if allowed is None or allowed[place]]
        name = queries[0] if queries else ""
        found = process.extract(
            name, ids, scorer=fuzz.ratio, processor=str.casefold, limit=_NEAREST, score_cutoff=_NEAR
        )
        return tuple(match[0] for match in found)


def _by_source(catalog: Iterable[Tool]) -> dict[str, tuple[Tool, ...]]:
    sources: dict[str, list[Tool]] = {}
    for tool in catalog:
        sources.setdefault(tool.source, []).append(tool)
    return {source: tuple(tools) for source, tools in sources.items()}


@dataclass(frozen=True, slots=True)
class _Found:
    """The first documents of the `total` that one search found, and the scores of those that were looked at closely;
    the others have but `sums`. The first `exact` were asked for by name."""

    index: Index
    parsed: ParsedQuery
    similar: NDArray[np.float32] | None
    documents: list[int]
    scores: NDArray[np.floating]
    sums: NDArray[np.float32]
    total: int = 0
    exact: int = 0
    confidence: float = 0.0

    def hit(self, search: int, rank: int) -> Hit:
        """The hit at a rank; `search` is the place of this search among several."""
        tool = self.index.tools[self.documents[rank]]
        place = rank - len(self.scores)
        score = self.scores.item(rank) if place < 0 else self.behind.item(place)
        return Hit(tool, score, search, rank, rank < self.exact, self)

    @property
    def behind(self) -> NDArray[np.floating]:
        """The scores of those that were not looked at closely: they share what the last of the others has."""
        shared: NDArray[np.floating] = self.scores.min(initial=np.inf) * self.sums / self.sums.max(initial=_LEAST)
        return shared

    def matched(self, rank: int) -> tuple[str, ...]:
        """The words of the query that a tool answers, each with the fields that do."""
        document = self.documents[rank]
        words = self.index._ranker.matched(self.parsed.groups, document)
        is_near = self.similar is not None and self.similar[document] >= NOTABLY_SIMILAR
        return (*words, "meaning") if is_near else words

    def look_ups(self, rank: int) -> Sequence[LookUp]:
        """Tools that give what a tool requires."""
        tool = self.index.tools[self.documents[rank]]
        return find_look_ups(tool, self.index.by_words.search, self.index._by_id)


def _page(lists: Sequence[_Found], start: int, end: int) -> tuple[list[Hit], int]:
    """The hits from one place up to another, and how many there are in all: rank by rank in turn; a document that
    several searches found stands at its best."""
    if len(lists) == 1:
        (found,) = lists
        return [found.hit(0, rank) for rank in range(start, min(end, len(found.documents)))], found.total
    merged: dict[int, tuple[int, int]] = {}
    for rank, row in enumerate(zip_longest(*(found.documents for found in lists))):
        for search, document in enumerate(row):
            if document is not None:
                merged.setdefault(document, (search, rank))
    return [lists[search].hit(search, rank) for search, rank in list(merged.values())[start:end]], len(merged)
