"""The index: documents, postings, and the steps from a query to its hits."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby, zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.analysis import text as analysis
from codemode.search.analysis.spelling import Spelling
from codemode.search.analysis.vocabulary import Reader, Vocabulary
from codemode.search.documents.documents import Field
from codemode.search.documents.postings import build_postings, rarity_of
from codemode.search.documents.profile import build_profile, changes_of
from codemode.search.documents.segment import join, read_segment
from codemode.search.documents.weights import Weights
from codemode.search.index.facets import Facets
from codemode.search.interpretation.compounds import pairs_of_names
from codemode.search.interpretation.expansion import Interpreter, length_share
from codemode.search.interpretation.languages import in_english
from codemode.search.interpretation.sources import Sources
from codemode.search.interpretation.term_weights import read
from codemode.search.lookups import Catalogued, find_look_ups
from codemode.search.query import Hit, Hits, Query
from codemode.search.ranking.candidates import best, known_within, summed, with_others
from codemode.search.ranking.clauses import clauses, promoted
from codemode.search.ranking.confidence import confidence, evidence, least_confidence, things_of, unknown_of
from codemode.search.ranking.exact import ExactNames
from codemode.search.ranking.learned import ANSWERS, raised
from codemode.search.ranking.ranking import ParsedQuery, Ranker, weigh
from codemode.search.semantic.similarity import NOTABLY_SIMILAR, meant, with_nearest
from codemode.text.nearest import several_nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from codemode.catalog.tool import Tool
    from codemode.search.documents.postings import Postings
    from codemode.search.documents.profile import Profile
    from codemode.search.documents.segment import Segment
    from codemode.search.interpretation.expansion import Group
    from codemode.search.semantic.similarity import EmbeddingIndex

_CANDIDATES = 200  # most hits of one search, over all pages
_OF_CLAUSE = 10  # re-ranked candidates of a clause
_CERTAIN = 0.35  # least confidence in the best hit of a clause
_LEAST = 1e-6  # avoids division by zero
_NEAREST = 3  # ids suggested when a search has no hit


#: The note of every search in an empty catalog.
NO_TOOLS = (
    "there are no tools here: the operator has to add a source (`codemode sources add NAME LOCATION`), or to allow this"
    " role some tools (`policy`)"
)


class Index:
    """An immutable search index. `Index.build(catalog, previous=index)` reads only the sources that changed."""

    def __init__(
        self,
        tools: Sequence[Tool],
        documents: Segment,
        vocabulary: Vocabulary,
        postings: Postings,
        *,
        weights: Weights,
        profile: Profile | None = None,
        titles: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        self.tools = tools
        self.documents = documents
        self.vocabulary = vocabulary
        self.postings = postings
        self.weights = weights
        self.embeddings: EmbeddingIndex | None = None
        self._by_words: Index | None = None
        self.profile = profile or build_profile(tools, documents, postings, vocabulary)
        self.exact = ExactNames(tools)
        self._facets = Facets(tools)
        compounds = pairs_of_names(documents, vocabulary)
        is_named = np.zeros(len(vocabulary), bool)
        is_named[documents.terms[documents.fields == Field.NAME]] = True
        spelling = Spelling(vocabulary.surfaces, vocabulary.term_of_surface)
        self._interpreter = Interpreter(vocabulary, postings, spelling, compounds, is_named, weights)
        self._sources = Sources(tools, documents, vocabulary, titles)
        self._rerank_count = min(max(weights.ranked, math.isqrt(len(tools))), _CANDIDATES)
        self._rarest = float(rarity_of(np.zeros(1, np.int64), postings.size, weights)[0])
        changes = changes_of(tools, self.profile.actions)
        self._ranker = Ranker(documents, postings, self.profile, vocabulary, changes, self._sources.source_of)

    @classmethod
    def build(
        cls,
        catalog: Iterable[Tool],
        *,
        previous: Index | None = None,
        weights: Weights | None = None,
        titles: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> Index:
        """Index all tools of a catalog. Segments of sources that are unchanged since `previous` are reused.

        `titles` are the titles and servers of the documents, by source: a query may name a source by them.
        """
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
            tuple(tools),
            documents,
            vocabulary,
            build_postings(documents, chosen, len(vocabulary)),
            weights=chosen,
            titles=titles,
        )

    @staticmethod
    def arranged(catalog: Iterable[Tool]) -> tuple[Tool, ...]:
        """Return the tools of a catalog in the order of document numbers: source by source."""
        return tuple(tool for members in _by_source(catalog).values() for tool in members)

    def parts(self) -> dict[str, tuple[tuple[Tool, ...], Segment]]:
        """Return the tools and the segment of each source."""
        parts = {}
        start = 0
        for source, members in groupby(self.tools, key=lambda tool: tool.source):
            of_source = tuple(members)
            parts[source] = (of_source, self.documents.part(start, start + len(of_source)))
            start += len(of_source)
        return parts

    def with_embeddings(self, embeddings: EmbeddingIndex) -> Index:
        """Return a copy that also ranks by embeddings, once these are ready. It shares all arrays."""
        other = copy(self)
        other.embeddings = embeddings
        other._by_words = self.by_words
        return other

    @property
    def by_words(self) -> Index:
        """The same index without embeddings."""
        return self._by_words or self

    def __len__(self) -> int:
        return len(self.tools)

    def check(self, query: Query) -> None:
        """Check the filters of a query. Raises SearchInvalid for a value that no tool has."""
        self._facets.allowed(query)

    def search(self, query: Query | str) -> Hits:
        """Return the hits of a query. Its searches are ranked separately and merged by rank, one hit each in turn.

        Raises SearchInvalid for a filter with a value that no tool has.
        """
        request = Query((query,)) if isinstance(query, str) else query
        if not self.tools:
            count = len(request.queries)
            return Hits(request, (), 0, ("",) * count, (0.0,) * count, empty=tuple(range(count)), note=NO_TOOLS)
        allowed = self._facets.allowed(request)
        similarities, note = self._similarities(request.queries)
        end = request.offset + (request.limit if request.offset else max(request.limit, len(request.queries)))
        depth = _CANDIDATES if self.embeddings or len(request.queries) > 1 else min(end, _CANDIDATES)
        learned = [self._learned(request, text, allowed) for text in request.queries]
        lists = [
            self._searched(*each, allowed, depth) for each in zip(request.queries, similarities, learned, strict=True)
        ]
        page, total = _page(lists, request.offset, end)
        return Hits(
            request,
            tuple(page),
            total,
            best=tuple(self.tools[result.documents[0]].id if result.documents else "" for result in lists),
            confidence=tuple(result.confidence for result in lists),
            unknown=tuple(result.unknown for result in lists),
            unsure=tuple(place for place, result in enumerate(lists) if result.documents and result.is_unsure),
            empty=tuple(place for place, result in enumerate(lists) if not result.documents),
            nearest=() if total else self._nearest(request.queries, allowed),
            note=note,
        )

    def with_look_ups(self, hits: Hits) -> Hits:
        """Add the look-ups of the leading hits. Each takes its own search, so `search` leaves them out."""
        catalog = Catalogued(self.by_words.search, self._by_id, self._by_key)
        return replace(hits, look_ups={hit.tool.id: tuple(find_look_ups(hit.tool, catalog)) for hit in hits.leads})

    def _similarities(self, queries: Sequence[str]) -> tuple[Sequence[NDArray[np.float32] | None], str]:
        """Return the similarity of each tool to each query, None where unknown, and a note on what is missing."""
        if self.embeddings is None or not any(query.strip() for query in queries):
            return [None] * len(queries), ""
        return self.embeddings.of_queries(queries)

    def _learned(self, query: Query, text: str, allowed: NDArray[np.bool_] | None = None) -> Mapping[int, float]:
        """Return how sure it is, from earlier calls, that documents answer a text. Others are left out."""
        sure = query.learned(text) if query.learned is not None else {}
        places = {self._places[id_]: share for id_, share in sure.items() if id_ in self._places} if sure else {}
        return places if allowed is None else {place: share for place, share in places.items() if allowed[place]}

    def _searched(
        self,
        text: str,
        similarities: NDArray[np.float32] | None,
        learned: Mapping[int, float],
        allowed: NDArray[np.bool_] | None,
        depth: int,
    ) -> _SearchResult:
        """Return at least `depth` documents of one search, best first. Exact names precede ranked documents."""
        exact = [place for place in self.exact.find(text) if allowed is None or allowed[place]]
        if not exact:
            return self._ranked(text, similarities, learned, allowed, depth)
        ranked = self._ranked(text, similarities, learned, allowed, _CANDIDATES)
        scores = dict(zip(ranked.documents, [*ranked.scores.tolist(), *ranked.tail_scores.tolist()], strict=True))
        highest = max(scores.values(), default=0.0) + 1
        documents = list(dict.fromkeys((*exact, *ranked.documents)))
        ordered = np.array([scores.get(document, highest) for document in documents])
        return replace(ranked, documents=documents, scores=ordered, total=len(documents), exact=len(exact))

    def _ranked(
        self,
        text: str,
        similarities: NDArray[np.float32] | None,
        learned: Mapping[int, float],
        allowed: NDArray[np.bool_] | None,
        depth: int,
    ) -> _SearchResult:
        """Re-rank the documents with the highest sums, the most similar ones, and the best one of each clause.

        The others follow by sum.
        """
        text = self.in_english(text)
        parsed = self._parsed(text)
        if allowed is not None:
            parsed = parsed._replace(groups=known_within(self.postings, parsed.groups, allowed))
        all_sums = self._sums(parsed, allowed)
        documents, sums = best(all_sums, max(self._rerank_count, depth))
        reranked = min(self._rerank_count, len(documents))
        total = min(int(np.count_nonzero(all_sums > 0)), _CANDIDATES)
        if similarities is not None:
            documents, sums, reranked = with_nearest(documents, sums, reranked, similarities, allowed)
            total = len(documents)
        if learned:
            documents, sums, reranked = with_others(documents, sums, reranked, learned)
            total = max(total, min(len(documents), _CANDIDATES))
        if not reranked:
            return _SearchResult(self, parsed, similarities, [], sums, sums)
        things = things_of(parsed.groups, text)
        scores, order, of_best = self._look(parsed, things, documents[:reranked], sums[:reranked])
        if similarities is not None:
            similar = meant(similarities[documents[:reranked]], len(self), confidence(of_best))
            scores = scores + np.float32(self.weights.meaning) * similar
            order = (-scores).argsort(kind="stable")
        if learned:
            share = raised(documents[:reranked], learned, confidence(of_best))
            scores = scores + np.float32(self.weights.learned) * share
            order = (-scores).argsort(kind="stable")
        heads = self._heads(text, parsed, documents[:reranked])
        if heads:
            order = promoted(order, list(heads))
            scores[list(heads)] = np.minimum(np.maximum(scores[list(heads)], list(heads.values())), scores.max())
        documents[:reranked] = documents.take(order)
        sure = learned.get(int(documents[0]), 0.0)
        return _SearchResult(
            self,
            parsed,
            similarities,
            documents.tolist(),
            scores.take(order),
            sums[reranked:],
            total,
            0,
            of_best,
            unknown_of(things, text) if sure < ANSWERS else (),
            sure,
        )

    def _heads(self, text: str, whole: ParsedQuery, candidates: NDArray[np.intp]) -> dict[int, float]:
        """Return the positions of the candidates that answer a clause best, with their scores for the clause."""
        heads: dict[int, float] = {}
        ranked = np.zeros(len(self), bool)
        ranked[candidates] = True
        for clause in clauses(text):
            parsed = self._parsed(clause, len(whole.groups))
            parsed = parsed._replace(sources=parsed.sources or whole.sources)
            places, sums = best(self._sums(parsed, ranked).take(candidates), _OF_CLAUSE)
            if len(places):
                scores, order, of_best = self._look(
                    parsed, things_of(parsed.groups, clause), candidates.take(places), sums
                )
                if confidence(of_best) >= _CERTAIN:
                    heads.setdefault(places.item(order[0]), scores.item(order[0]))
        return heads

    def _look(
        self, parsed: ParsedQuery, things: Sequence[Group], documents: NDArray[np.intp], sums: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.intp], Mapping[str, float]]:
        """Return the scores of documents, their order, and the confidence features of the best one."""
        assessment = self._ranker.assess(parsed, documents, sums)
        scores = weigh(assessment.features, self.weights.ranking, length_share(len(parsed.groups), self.weights.long))
        order = (-scores).argsort(kind="stable")
        return scores, order, evidence(parsed.groups, assessment, sums, scores, order, self._rarest, things)

    def in_english(self, text: str) -> str:
        """Return a query as it is searched for: in English, if its language is one of the table's."""
        return in_english(text, self._interpreter)

    def candidate_features(
        self, query: Query
    ) -> tuple[tuple[str, ...], Mapping[str, NDArray[np.floating]], NDArray[np.float32]]:
        """Return the ids and features of the candidates of one search, and how far earlier calls raise each."""
        (text,) = query.queries
        parsed, learned = self._parsed(self.in_english(text)), self._learned(query, text)
        documents, sums = best(self._sums(parsed), self._rerank_count)
        documents, sums, _ = with_others(documents, sums, len(documents), learned)
        if not len(documents):
            return (), {}, np.zeros(0, np.float32)
        assessment = self._ranker.assess(parsed, documents, sums)
        shares = raised(documents, learned, confidence(self.evidence(text)) if learned else 0.0)
        return tuple(self.tools[document].id for document in documents.tolist()), assessment.features, shares

    def evidence(self, text: str) -> Mapping[str, float]:
        """Return the confidence features of the best hit by words, for fitting; nothing without a hit."""
        return self._ranked(text, None, {}, None, 0).evidence

    def _parsed(self, text: str, whole: int = 0) -> ParsedQuery:
        words, intent, left_out = read(text, self.weights)
        sources, places = self._sources.named(text, words)
        if len(sources) == 1:
            share = self.weights.source
            words = [
                (form, weight * share if place in places else weight, place, is_name)
                for form, weight, place, is_name in words
            ]
        groups = tuple(self._interpreter.groups(words, whole))
        terms: tuple[str, ...] = ()
        if len(groups) > self.weights.long:
            corrected = {group.surface: analysis.term(group.corrected) for group in groups if group.corrected}
            terms = tuple(corrected.get(form.surface, form.term) for form, *_ in words)
        return ParsedQuery(groups, intent, left_out, sources, terms)

    def _sums(self, parsed: ParsedQuery, allowed: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """Return the sum of each document, 0 for those that are not allowed.

        Those of sources that the query does not name count less if it names one.
        """
        sums = summed(self.postings, parsed.groups, allowed)
        if parsed.sources:
            sums[~np.isin(self._sources.source_of, tuple(parsed.sources))] *= self.weights.elsewhere
        return sums

    def _by_id(self, name: str) -> Tool | None:
        places = self.exact.find(name)
        return self.tools[places[0]] if places else None

    @cached_property
    def _places(self) -> dict[str, int]:
        return {tool.id: place for place, tool in enumerate(self.tools)}

    def _by_key(self, source: str, key: str) -> Tool | None:
        return self._keyed.get((source, key))

    @cached_property
    def _keyed(self) -> dict[tuple[str, str], Tool]:
        return {(tool.source, tool.key): tool for tool in self.tools if tool.key}

    def _nearest(self, queries: Sequence[str], allowed: NDArray[np.bool_] | None) -> tuple[str, ...]:
        """Return the ids that are spelled most like the first search."""
        ids = [tool.id for place, tool in enumerate(self.tools) if allowed is None or allowed[place]]
        return tuple(several_nearest(queries[0] if queries else "", ids, _NEAREST))


def _by_source(catalog: Iterable[Tool]) -> dict[str, tuple[Tool, ...]]:
    sources: dict[str, list[Tool]] = {}
    for tool in catalog:
        sources.setdefault(tool.source, []).append(tool)
    return {source: tuple(tools) for source, tools in sources.items()}


@dataclass(frozen=True, slots=True)
class _SearchResult:
    """The result of one search: its first documents, of `total`.

    `scores` are those of the re-ranked documents, and `sums` the BM25F sums of the documents behind them. The first
    `exact` documents were found by exact name. `evidence` has the confidence features of the best hit by words,
    and `unknown` the things of the query that no tool has. `learned` is how sure earlier calls are of the first one.
    """

    index: Index
    parsed: ParsedQuery
    similarities: NDArray[np.float32] | None
    documents: list[int]
    scores: NDArray[np.floating]
    sums: NDArray[np.float32]
    total: int = 0
    exact: int = 0
    evidence: Mapping[str, float] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    learned: float = 0.0

    @property
    def is_unsure(self) -> bool:
        """Whether no hit may fit."""
        return self.confidence < least_confidence(self.evidence.get("unknown", 0.0))

    @property
    def confidence(self) -> float:
        """The confidence that the best hit fits: 1 for an exact name, 0 without a hit."""
        if self.exact:
            return 1.0
        return max(confidence(self.evidence), self.learned)

    def hit(self, search: int, rank: int) -> Hit:
        """Return the hit at a rank. `search` is the position of this search in the query."""
        tool = self.index.tools[self.documents[rank]]
        place = rank - len(self.scores)
        score = self.scores.item(rank) if place < 0 else self.tail_scores.item(place)
        return Hit(tool, score, search, rank, rank < self.exact, self)

    @property
    def tail_scores(self) -> NDArray[np.floating]:
        """The scores of the documents that were not re-ranked: their sums, scaled below the lowest score."""
        shared: NDArray[np.floating] = self.scores.min(initial=np.inf) * self.sums / self.sums.max(initial=_LEAST)
        return shared

    def matched(self, rank: int) -> tuple[str, ...]:
        """Return the query words that a tool matches, each with the matching fields."""
        document = self.documents[rank]
        words = self.index._ranker.matched(self.parsed.groups, document)
        is_near = self.similarities is not None and self.similarities[document] >= NOTABLY_SIMILAR
        return (*words, "meaning") if is_near else words


def _page(lists: Sequence[_SearchResult], start: int, end: int) -> tuple[list[Hit], int]:
    """Merge the results of searches rank by rank. Return the hits from `start` up to `end`, and the total.

    A document that several searches found keeps its best rank.
    """
    if len(lists) == 1:
        (result,) = lists
        return [result.hit(0, rank) for rank in range(start, min(end, len(result.documents)))], result.total
    merged: dict[int, tuple[int, int]] = {}
    for rank, row in enumerate(zip_longest(*(result.documents for result in lists))):
        for search, document in enumerate(row):
            if document is not None:
                merged.setdefault(document, (search, rank))
    return [lists[search].hit(search, rank) for search, rank in list(merged.values())[start:end]], len(merged)
