"""Re-ranking: score the best candidates by how well tool and query cover each other.

Each feature is one column over the candidates, and a score is the weighted sum of the features.
docs/benchmarks/search-notebook.md measures what each feature contributes.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from codemode.search.analysis import text, wordlists
from codemode.search.documents.documents import Field
from codemode.search.documents.profile import COVERED
from codemode.search.documents.segment import FIELDS
from codemode.search.ranking.bm25 import WholeTexts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from codemode.search.analysis.vocabulary import Vocabulary
    from codemode.search.documents.postings import Postings
    from codemode.search.documents.profile import Profile
    from codemode.search.documents.segment import Segment
    from codemode.search.interpretation.expansion import Group
    from codemode.search.interpretation.intent import Intent

    Column = NDArray[np.floating]

# Scalars are arrays here: numpy converts other operands on each use, which takes longer than adding sixty numbers.
_ZERO, _ONE = np.array(0), np.array(1)
_NO_ANSWER, _NO_KIND = np.array(-1), np.array(0, np.uint64)
_LEAST_RARITY = np.array(0.01)  # names whose other words have less rarity keep their stop words
_LEAST = np.array(1e-6)  # avoids division by zero
_COUNTED = np.arange(1 << 14)  # slices of this replace shorter calls of arange
_STEEPNESS = np.array(2, np.float32)  # how soon the logarithm of `saturated` flattens
#: Features that a long query matches by chance.
_BY_CHANCE = frozenset((
    "name_covered", "name_in_order", "name_opens", "name_length", "name_verbatim", "query_covered", "head_covered",
    "action_differs", "no_action_agrees",
))  # fmt: skip
_COVERED = [f"{field.name.lower()}_covered" for field in COVERED]
_HEAD = len(COVERED)  # the number of head fields: name, home and summary
_EACH_FIELD = np.arange(FIELDS)
_HEAD_AND_REST = np.minimum(_EACH_FIELD, _HEAD)
_TEXTS = [Field.TEXT, Field.PARAMETER_TEXT]  # longer texts match more of a query by chance
_OPPOSITE = np.array(2)  # how much another action counts if the query undoes one
_LITTLE = 0.5  # significance of a faint word
_NO_GROUP = -2  # for words that match no group; -1 would count as the group before the first
_NEXT_NAME = np.array(1 << 20)  # larger than the number of groups in any query
# How a query contains a surface form: not at all, as a word that is searched for, or as a stop word.
_UNMENTIONED, _MENTIONED, _STOP_WORD = range(3)
_AS_STOP_WORD, _MENTION_KINDS = np.array(_STOP_WORD, np.int8), np.array(3)


class ParsedQuery(NamedTuple):
    """A query after analysis and expansion.

    `left_out` are its stop words, which have no group. `sources` are the numbers of the sources that it names. `terms`
    are the terms of all its words, also repeated ones, if it is long; else there are none.
    """

    groups: tuple[Group, ...]
    intent: Intent
    left_out: frozenset[str] = frozenset()
    sources: frozenset[int] = frozenset()
    terms: tuple[str, ...] = ()


class Assessment(NamedTuple):
    """The features of candidates, and the coverage that they were computed from.

    `features` has one value for each candidate. `in_name`, `in_head` and `in_any` are candidates x groups: how well the
    name, the head (name, home, summary) and any field match a group. `rarity` is that of each group. `query_terms` are
    the terms of all alternatives. `names` are the terms of all names in a row, and `name_ends` the end of each name.
    `significances` has one value for each term of the vocabulary.
    """

    features: Mapping[str, Column]
    in_name: Column
    in_head: Column
    in_any: Column
    rarity: Column
    query_terms: NDArray[np.intp]
    names: NDArray[np.int32]
    name_ends: NDArray[np.intp]
    significances: NDArray[np.float32]


class Ranker:
    """Computes the features of candidates. Each thread keeps three scratch arrays.

    `changes` is how sure it is that each tool changes something, from 0 to 1. `source_of` numbers its source.
    """

    def __init__(
        self,
        documents: Segment,
        postings: Postings,
        profile: Profile,
        vocabulary: Vocabulary,
        changes: NDArray[np.float32],
        source_of: NDArray[np.int32],
    ) -> None:
        self._name_terms = documents.names
        self._names_of = _Ranges(documents.name_starts)
        self._is_function_word = _function_words(vocabulary)
        self._significance_of = _significances(vocabulary)
        self._all = _Contents(_Ranges(documents.starts), documents.terms, documents.fields)
        self._without_function_words = _without_terms(documents, self._is_function_word)
        self._covered_rarity = np.ascontiguousarray(profile.rarity.T, np.float64)
        self._rarity = postings.rarity
        self._text_lengths = np.log1p(documents.lengths[:, _TEXTS].sum(axis=1, dtype=np.float32))
        self._whole_texts = WholeTexts(documents, postings, vocabulary)
        self._changes = changes
        self._source_of = source_of
        self._undoing = wordlists.undoing()
        self._reading, self._creating = wordlists.reading(), np.array(wordlists.kind("create"), np.uint64)
        self._profile = profile
        self._vocabulary = vocabulary
        self._term_of_surface = vocabulary.term_of_surface
        self._local = threading.local()

    def assess(self, parsed: ParsedQuery, candidates: NDArray[np.intp], sums: Column) -> Assessment:
        """Return the features of the candidates."""
        rows, alternatives = self._rows(), _alternatives(parsed.groups, self._rarity)
        rows.enter(alternatives)
        with_function_words = np.logical_or.reduce(self._is_function_word.take(alternatives.terms))
        contents = self._all if with_function_words else self._without_function_words
        cover, explained = _coverage(contents, rows, alternatives, candidates, _HEAD_AND_REST)
        names = self._compare_names(rows, alternatives, parsed, candidates)
        rows.clear(alternatives)
        total = np.maximum(np.add.reduce(alternatives.rarity), _LEAST).astype(np.float32)
        shares = alternatives.rarity / total
        in_head = np.maximum.reduce(cover[:_HEAD])
        in_any = np.maximum(in_head, cover[_HEAD])
        features = {
            "sum": saturated(sums / total),
            **self._covered(explained, names.stop_rarity, candidates),
            "query_covered": by_shares(in_any, shares),
            "head_covered": by_shares(in_head, shares),
            "words_found": by_shares(np.sign(in_any), np.ones_like(shares)) / max(len(shares), 1),
            "namespace_covered": self._namespace_coverage(rows, in_head, candidates, shares),
            **names.features,
            **self._action_features(parsed, candidates, cover[Field.NAME]),
            "text_length": self._text_lengths.take(candidates),
            "source_named": self._are_of(parsed.sources, candidates),
            "whole_text": self._whole_texts.shares(parsed.terms, candidates),
        }
        in_name = cover[Field.NAME]
        return Assessment(
            features,
            in_name,
            in_head,
            in_any,
            alternatives.rarity,
            alternatives.terms,
            names.terms,
            names.ends,
            self._significance_of,
        )

    def matched(self, groups: Sequence[Group], document: int) -> tuple[str, ...]:
        """Return the query words that a document matches, each with the matching fields: `freeze (name, summary)`."""
        rows, alternatives = self._rows(), _alternatives(groups, self._rarity)
        rows.enter(alternatives)
        cover, _ = _coverage(self._all, rows, alternatives, np.array([document], np.intp), _EACH_FIELD)
        rows.clear(alternatives)
        return tuple(
            f"{group.corrected or group.surface} ({', '.join(_LABELS[field] for field in np.flatnonzero(answers))})"
            for group, answers in zip(groups, cover[:, 0].T, strict=True)
            if answers.any()
        )

    def _rows(self) -> _Rows:
        rows: _Rows | None = getattr(self._local, "rows", None)
        if rows is None:
            namespaces = int(self._profile.namespaces.max(initial=0)) + 1
            rows = self._local.rows = _Rows(len(self._rarity), len(self._term_of_surface), namespaces)
        return rows

    def _compare_names(
        self, rows: _Rows, alternatives: _Alternatives, parsed: ParsedQuery, candidates: NDArray[np.intp]
    ) -> _Names:
        """Compare names with the query: word order, first word, literal matches."""
        count = len(candidates)
        places, owners, lengths = self._names_of.of(candidates)
        surfaces = self._name_terms.take(places)
        terms = self._term_of_surface.take(surfaces)
        mentions = self._mentions(rows, parsed, surfaces)
        rarities = _summed(self._rarity.take(terms), owners * _MENTION_KINDS + mentions, count * int(_MENTION_KINDS))
        unmentioned, mentioned, stop_rarity = rarities.reshape(count, -1).T
        (kept,) = (mentions < _AS_STOP_WORD).nonzero()
        if len(kept) < len(terms):
            terms, owners = terms.take(kept), owners.take(kept)
            lengths = np.bincount(owners, minlength=count)
        groups = alternatives.groups.take(rows.answer_of.take(terms))
        ends = lengths.cumsum()
        steps = owners * _NEXT_NAME + groups
        in_order = np.bincount(owners[1:], steps[1:] - steps[:-1] == _ONE, minlength=count)
        opens = lengths >= _ONE
        if len(groups):
            opens &= groups.take(ends - lengths, mode="clip") >= _ZERO
        features = {
            "name_in_order": in_order / np.maximum(lengths - _ONE, _ONE),
            "name_opens": opens,
            "name_length": np.log1p(lengths),
            "name_verbatim": mentioned / np.maximum(unmentioned + mentioned, _LEAST),
        }
        return _Names(features, stop_rarity, terms, ends)

    def _mentions(self, rows: _Rows, parsed: ParsedQuery, surfaces: NDArray[np.int32]) -> NDArray[np.int8]:
        """Return how the query contains each of the surface forms (`_UNMENTIONED` and following)."""
        known, mention_of = self._vocabulary.known, rows.mention_of
        mentioned = known([group.corrected or group.surface for group in parsed.groups])
        left_out = known(parsed.left_out)
        for surface in mentioned:
            mention_of[surface] = _MENTIONED
        for surface in left_out:
            mention_of[surface] = _STOP_WORD
        mentions = rows.mentions.take(surfaces)
        for surface in mentioned + left_out:
            mention_of[surface] = _UNMENTIONED
        return mentions

    def _covered(self, explained: Column, stop_rarity: Column, candidates: NDArray[np.intp]) -> dict[str, Column]:
        """Return the share of each head field that the query covers, by rarity."""
        whole = self._covered_rarity.take(candidates, axis=1)
        rest = whole[Field.NAME] - stop_rarity
        np.copyto(whole[Field.NAME], rest, where=rest > _LEAST_RARITY)
        return dict(zip(_COVERED, explained[:_HEAD] / whole, strict=True))

    def _namespace_coverage(
        self, rows: _Rows, in_head: NDArray[np.float32], candidates: NDArray[np.intp], shares: Column
    ) -> Column:
        """Return the share of the query that the heads of all candidates in the same namespace cover together."""
        namespaces = self._profile.namespaces.take(candidates)
        rows.one_of[namespaces] = _counted(len(candidates))
        first = rows.one_of.take(namespaces)
        together = np.zeros(in_head.size, np.float32)
        cells = _counted(in_head.size).reshape(in_head.shape)
        np.maximum.at(together, cells.take(first, axis=0).ravel(), in_head.ravel())
        return by_shares(together.reshape(in_head.shape), shares).take(first)

    def _are_of(self, sources: frozenset[int], candidates: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which candidates are tools of one of the sources."""
        if not sources:
            return np.zeros(len(candidates), bool)
        return np.isin(self._source_of.take(candidates), tuple(sources))

    def _action_features(
        self, parsed: ParsedQuery, candidates: NDArray[np.intp], in_name: NDArray[np.float32]
    ) -> dict[str, Column]:
        """Compare the action of each tool with the leading action of the query, or with all its actions."""
        intent, changes = parsed.intent, self._changes.take(candidates)
        kinds = self._profile.actions.take(candidates)
        asked = np.array(intent.leading or intent.actions, np.uint64)
        differs = (kinds > _NO_KIND) & ((kinds & asked) == _NO_KIND)
        nothing = np.zeros(len(candidates), bool)
        asks_for_change = intent.leading and not intent.leading & self._reading
        if asks_for_change:
            leading = [at for at, group in enumerate(parsed.groups) if group.place == intent.place]
            made = ((kinds & self._creating) > _NO_KIND) & (in_name[:, leading] > 0).any(axis=1)
            differs &= ~made  # `refunds.create` refunds
        weight = _OPPOSITE if intent.leading == self._undoing else np.array(bool(intent.leading))
        return {
            "action_differs": differs * weight,
            "no_action_agrees": differs if intent.actions and not intent.leading else nothing,
            "changes_unasked": changes * np.float32(intent.reads),
            "reads_instead": 1 - changes if asks_for_change else nothing,
        }


class _Contents(NamedTuple):
    """The terms of all documents in a row, with the field of each, and the range of each document."""

    ranges: _Ranges
    terms: NDArray[np.int32]
    fields: NDArray[np.uint8]


def _without_terms(documents: Segment, left_out: NDArray[np.bool_]) -> _Contents:
    """Return the documents without some terms, and with each term once outside the head. This saves a third."""
    terms, rest = documents.terms, documents.fields >= _HEAD
    again = np.zeros(len(terms) + 1, bool)
    again[1:-1] = rest[1:] & rest[:-1] & (terms[1:] == terms[:-1])
    again[documents.starts] = False
    (kept,) = (~(again[:-1] | left_out.take(terms))).nonzero()
    starts = kept.searchsorted(documents.starts)
    return _Contents(_Ranges(starts), terms.take(kept), documents.fields.take(kept))


def _function_words(vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Return for each term whether it is a stop word without synonyms or action. Queries seldom search for these."""
    is_function_word = np.zeros(len(vocabulary), bool)
    is_function_word[_numbers(vocabulary, wordlists.stop_words(), wordlists.synonyms(), wordlists.actions())] = True
    return is_function_word


def _significances(vocabulary: Vocabulary) -> NDArray[np.float32]:
    """Return the significance of each term in a name: 0 for stop words, 0.5 for faint words, 1 for others."""
    significance = np.ones(len(vocabulary), np.float32)
    significance[_numbers(vocabulary, wordlists.faint_words())] = _LITTLE
    significance[_numbers(vocabulary, wordlists.stop_words())] = 0
    return significance


def _numbers(vocabulary: Vocabulary, words: Iterable[str], *but: Iterable[str]) -> list[int]:
    """Return the term numbers of words in the vocabulary, without the terms in `but`."""
    terms = set(map(text.term, words)).difference(*but)
    return [number for number in map(vocabulary.number, terms) if number is not None]


def _coverage(
    contents: _Contents,
    rows: _Rows,
    alternatives: _Alternatives,
    candidates: NDArray[np.intp],
    planes: NDArray[np.intp],
) -> tuple[NDArray[np.float32], Column]:
    """Return the coverage and the matched rarity of candidates.

    `planes` maps each field to a plane. Coverage is planes x candidates x groups: how well each group matches. Matched
    rarity is planes x candidates: the summed rarity of the matching terms.
    """
    count, groups = len(candidates), len(alternatives.rarity)
    places, holders, _ = contents.ranges.of(candidates)
    answers = rows.answer_of.take(contents.terms.take(places))
    (hit,) = (answers > _NO_ANSWER).nonzero()
    answers = answers.take(hit)
    slots = (planes * count).take(contents.fields.take(places.take(hit))) + holders.take(hit)
    shape = int(planes[-1]) + 1, count, groups
    cover = np.zeros(math.prod(shape), np.float32)
    np.maximum.at(cover, slots * groups + alternatives.groups.take(answers), alternatives.worths.take(answers))
    explained = _summed(alternatives.rarities.take(answers), slots, shape[0] * count)
    return cover.reshape(shape), explained.reshape(shape[:2])


class _Alternatives(NamedTuple):
    """The alternatives of all groups in a row. `rarity` is that of each group.

    `terms` are the alternatives, `worths` their weights, `rarities` their weighted rarities, and `groups` the position
    of their group, with `_NO_GROUP` as an additional last element.
    """

    terms: NDArray[np.intp]
    worths: NDArray[np.float32]
    rarities: NDArray[np.float32]
    groups: NDArray[np.intp]
    rarity: NDArray[np.float32]


class _Names(NamedTuple):
    """The features of names, and the parts of the names.

    `stop_rarity` is the rarity of name words that are stop words of the query. `terms` are the other terms of all names
    in a row, and `ends` the end of each name.
    """

    features: Mapping[str, Column]
    stop_rarity: Column
    terms: NDArray[np.int32]
    ends: NDArray[np.intp]


class _Rows:
    """Scratch arrays of one thread, reset after each query.

    `answer_of` maps each term to its best position in `_Alternatives`, or -1. `mention_of` maps each surface form to
    how the query contains it, and `mentions` is its array view. `one_of` maps each namespace to one of its candidates.
    """

    def __init__(self, terms: int, surfaces: int, namespaces: int) -> None:
        self.answer_of = np.full(terms, _NO_ANSWER)
        self.mention_of = bytearray(surfaces)
        self.mentions = np.frombuffer(self.mention_of, np.int8)
        self.one_of = np.zeros(namespaces, np.intp)

    def enter(self, alternatives: _Alternatives) -> None:
        """Set the alternatives of a query."""
        best_last = (-alternatives.worths).argsort(kind="stable")[::-1]
        self.answer_of[alternatives.terms.take(best_last)] = best_last

    def clear(self, alternatives: _Alternatives) -> None:
        """Reset the alternatives of a query."""
        self.answer_of[alternatives.terms] = _NO_ANSWER


def _alternatives(groups: Sequence[Group], rarity_of: NDArray[np.float32]) -> _Alternatives:
    terms, worths, places = [], [], []
    for place, group in enumerate(groups):
        for term, alike in group.alternatives:
            terms.append(term)
            worths.append(alike * group.weight)
            places.append(place)
    alternatives, worth = np.array(terms, np.intp), np.array(worths, np.float32)
    rarities, answered = rarity_of.take(alternatives) * worth, np.array([*places, _NO_GROUP], np.intp)
    rarity = np.zeros(len(groups), np.float32)
    np.maximum.at(rarity, answered[:-1], rarities)
    return _Alternatives(alternatives, worth, rarities, answered, rarity)


def by_shares(answers: NDArray[np.floating], shares: Column) -> Column:
    """Return the share of the query that each candidate covers. `answers` are candidates x groups.

    The product is computed row by row. For five columns, the SkylakeX kernel of OpenBLAS 0.3.31 reads memory beside the
    matrix: the result is right, but numpy warns of an invalid value if that memory holds a NaN.
    """
    covered: Column = np.vecdot(answers, shares)
    return covered


def saturated(sums: Column) -> Column:
    """Return the sums on a logarithmic scale, so that large sums differ less."""
    saturated: Column = np.log1p(_STEEPNESS * sums)
    return saturated


def weigh(features: Mapping[str, Column], weights: Mapping[str, float], share: float = 1.0) -> NDArray[np.float32]:
    """Return the scores of candidates: the weighted sum of their features.

    `share` is that of the features which a long query matches by chance.
    """
    weights = {name: weight * share if name in _BY_CHANCE else weight for name, weight in weights.items()}
    columns = [features["sum"], *[features[name] for name in weights]]
    rows = np.concatenate(columns, dtype=np.float32, casting="unsafe").reshape(len(columns), -1)
    scores: NDArray[np.float32] = np.array([1.0, *weights.values()], np.float32).dot(rows)
    return scores


def _summed(values: Column, places: NDArray[np.integer], count: int) -> NDArray[np.float64]:
    """Return the sum of the values at each place."""
    return np.bincount(places, values, minlength=count).astype(np.float64, copy=False)


class _Ranges:
    """Ranges of places, one range for each owner, by their starts."""

    def __init__(self, starts: NDArray[np.int64]) -> None:
        self._ends = starts[1:]
        self._sizes = np.diff(starts)

    def of(self, chosen: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.int64]]:
        """Return all places of the chosen owners, the position of the owner of each, and the size of each range."""
        sizes = self._sizes.take(chosen)
        places = (self._ends.take(chosen) - sizes.cumsum()).repeat(sizes)
        places += _counted(len(places))
        return places, _counted(len(chosen)).repeat(sizes), sizes


def _counted(count: int) -> NDArray[np.intp]:
    return _COUNTED[:count] if count <= len(_COUNTED) else np.arange(count)


_LABELS = ("name", "namespace or tag", "summary", "description", "parameter", "parameter text", "examples")
