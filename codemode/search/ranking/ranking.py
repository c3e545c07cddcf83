"""Ranking: the best candidates looked at closely. How well a tool answers the query, and the query a tool.

Each feature is one column over the candidates; a score is their weighted sum. What each is worth:
docs/benchmarks/search-notebook.md.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from codemode.search.analysis import text, wordlists
from codemode.search.index.documents import Field
from codemode.search.index.profile import COVERED
from codemode.search.index.segment import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from codemode.search.analysis.expansion import Group
    from codemode.search.analysis.vocabulary import Vocabulary
    from codemode.search.index.postings import Postings
    from codemode.search.index.profile import Profile
    from codemode.search.index.segment import Segment

    Column = NDArray[np.floating]

# Numbers are arrays here: any other operand is made one each time, which takes longer than to add it to sixty numbers.
_ZERO, _ONE = np.array(0), np.array(1)
_NO_ANSWER, _NO_KIND = np.array(-1), np.array(0, np.uint64)
_LEAST_RARITY = np.array(0.01)  # of what is left of a name; one that would lose all its words keeps them
_LEAST = np.array(1e-6)  # keeps a share of nothing from dividing by zero
_COUNTED = np.arange(1 << 14)  # what is counted from 0 up to fewer is not counted anew
_STEEPNESS = np.array(2, np.float32)  # of the logarithm that the sum goes through: how soon more of it counts for less
_COVERED = [f"{field.name.lower()}_covered" for field in COVERED]
_HEAD = len(COVERED)  # the first fields, which say what a tool is for
_EACH_FIELD = np.arange(FIELDS)
_HEAD_AND_REST = np.minimum(_EACH_FIELD, _HEAD)
_TEXTS = [Field.TEXT, Field.PARAMETER_TEXT]  # the longer, the more of a query they hold by chance
_LITTLE = 0.5  # what a faint word says
_NO_GROUP = -2  # of a word that answers none: not the one before the first either
_NEXT_NAME = np.array(1 << 20)  # more than a query has groups
# How a query says a word: not, as it stands, or as one that says nothing.
_UNSAID, _SAID, _LEFT_OUT = range(3)
_PASSED_OVER, _WAYS = np.array(_LEFT_OUT, np.int8), np.array(3)


class Question(NamedTuple):
    """A query as ranking sees it: its groups, the kinds of action it opens with, and all kinds in it (bits); the words
    that are in no group because they say nothing."""

    groups: tuple[Group, ...]
    leading: int
    actions: int
    left_out: frozenset[str] = frozenset()


class Look(NamedTuple):
    """What was seen: each feature by name, one number for each candidate; the rarity of the groups; and candidates x
    groups, how well the name (`named`), what says what a tool is for (`headed`) and anything (`found`) answers. `asked`
    are the terms that answer; `names` in a row those of all names, and `name_ends` where the name of each ends; `tells`
    is how much each term of the vocabulary says."""

    features: Mapping[str, Column]
    named: Column
    headed: Column
    found: Column
    rarity: Column
    asked: NDArray[np.intp]
    names: NDArray[np.int32]
    name_ends: NDArray[np.intp]
    tells: NDArray[np.float32]


class Ranker:
    """Features of candidates. Keeps three rows of numbers per thread."""

    def __init__(self, documents: Segment, postings: Postings, profile: Profile, vocabulary: Vocabulary) -> None:
        self._names = documents.names
        self._names_of = _Ranges(documents.name_starts)
        self._says_nothing = _function_words(vocabulary)
        self._tells = _telling_words(vocabulary)
        self._all = _Contents(_Ranges(documents.starts), documents.terms, documents.fields)
        self._telling = _telling(documents, self._says_nothing)
        self._covered_rarity = np.ascontiguousarray(profile.rarity.T, np.float64)
        self._rarity = postings.rarity
        self._text_lengths = np.log1p(documents.lengths[:, _TEXTS].sum(axis=1, dtype=np.float32))
        self._profile = profile
        self._vocabulary = vocabulary
        self._term_of_surface = vocabulary.term_of_surface
        self._local = threading.local()

    def look(self, question: Question, candidates: NDArray[np.intp], sums: Column) -> Look:
        """Look closely at some candidates."""
        rows, asked = self._rows(), _asked(question.groups, self._rarity)
        rows.enter(asked)
        in_any = np.logical_or.reduce(self._says_nothing.take(asked.terms))
        contents = self._all if in_any else self._telling
        cover, explained = _answered(contents, rows, asked, candidates, _HEAD_AND_REST)
        names = self._read(rows, asked, question, candidates)
        rows.clear(asked)
        total = np.maximum(np.add.reduce(asked.rarity), _LEAST).astype(np.float32)
        shares = asked.rarity / total
        headed = np.maximum.reduce(cover[:_HEAD])
        found = np.maximum(headed, cover[_HEAD])
        features = {
            "sum": saturated(sums / total),
            **self._covered(explained, names.passed_over, candidates),
            "query_covered": by_shares(found, shares),
            "head_covered": by_shares(headed, shares),
            "words_found": by_shares(np.sign(found), np.ones_like(shares)) / max(len(shares), 1),
            "namespace_covered": self._around(rows, headed, candidates, shares),
            **names.features,
            **self._acting(question, candidates),
            "text_length": self._text_lengths.take(candidates),
        }
        named = cover[Field.NAME]
        return Look(features, named, headed, found, asked.rarity, asked.terms, names.terms, names.ends, self._tells)

    def matched(self, groups: Sequence[Group], document: int) -> tuple[str, ...]:
        """The words of the query that a document answers, each with the fields that do."""
        rows, asked = self._rows(), _asked(groups, self._rarity)
        rows.enter(asked)
        cover, _ = _answered(self._all, rows, asked, np.array([document], np.intp), _EACH_FIELD)
        rows.clear(asked)
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

    def _read(self, rows: _Rows, asked: _Asked, question: Question, candidates: NDArray[np.intp]) -> _Names:
        """How the names read beside the query: its words in the same order, as they stand, from the first one on."""
        count = len(candidates)
        places, owners, lengths = self._names_of.of(candidates)
        surfaces = self._names.take(places)
        terms = self._term_of_surface.take(surfaces)
        ways = self._ways(rows, question, surfaces)
        rarities = _summed(self._rarity.take(terms), owners * _WAYS + ways, count * int(_WAYS))
        unsaid, said, passed_over = rarities.reshape(count, -1).T
        (kept,) = (ways < _PASSED_OVER).nonzero()
        if len(kept) < len(terms):
            terms, owners = terms.take(kept), owners.take(kept)
            lengths = np.bincount(owners, minlength=count)
        groups = asked.groups.take(rows.answer_of.take(terms))
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
            "name_verbatim": said / np.maximum(unsaid + said, _LEAST),
        }
        return _Names(features, passed_over, terms, ends)

    def _ways(self, rows: _Rows, question: Question, surfaces: NDArray[np.int32]) -> NDArray[np.int8]:
        """How the query says each of the surface forms."""
        known, way_of = self._vocabulary.known, rows.way_of
        said = known([group.corrected or group.surface for group in question.groups])
        left_out = known(question.left_out)
        for surface in said:
            way_of[surface] = _SAID
        for surface in left_out:
            way_of[surface] = _LEFT_OUT
        ways = rows.ways.take(surfaces)
        for surface in said + left_out:
            way_of[surface] = _UNSAID
        return ways

    def _covered(self, explained: Column, passed_over: Column, candidates: NDArray[np.intp]) -> dict[str, Column]:
        """How much of a field the query explains, by the rarity of its terms."""
        whole = self._covered_rarity.take(candidates, axis=1)
        rest = whole[Field.NAME] - passed_over
        np.copyto(whole[Field.NAME], rest, where=rest > _LEAST_RARITY)
        return dict(zip(_COVERED, explained[:_HEAD] / whole, strict=True))

    def _around(self, rows: _Rows, headed: NDArray[np.float32], candidates: NDArray[np.intp], shares: Column) -> Column:
        """How much of the query, in `shares` of groups, the candidates of the same namespace answer together,
        parameters apart."""
        namespaces = self._profile.namespaces.take(candidates)
        rows.one_of[namespaces] = _counted(len(candidates))
        first = rows.one_of.take(namespaces)
        together = np.zeros(headed.size, np.float32)
        cells = _counted(headed.size).reshape(headed.shape)
        np.maximum.at(together, cells.take(first, axis=0).ravel(), headed.ravel())
        return by_shares(together.reshape(headed.shape), shares).take(first)

    def _acting(self, question: Question, candidates: NDArray[np.intp]) -> dict[str, Column]:
        """Whether the tool does what the query opens with, or anything that it names."""
        kinds = self._profile.actions.take(candidates)
        asked = np.array(question.leading or question.actions, np.uint64)
        differs = (kinds > _NO_KIND) & ((kinds & asked) == _NO_KIND)
        nothing = np.zeros(len(candidates), bool)
        return {
            "action_differs": differs if question.leading else nothing,
            "no_action_agrees": differs if question.actions and not question.leading else nothing,
        }


class _Contents(NamedTuple):
    """What documents say: the rows of each, and in a row the terms and the fields that have them."""

    ranges: _Ranges
    terms: NDArray[np.int32]
    fields: NDArray[np.uint8]


def _telling(documents: Segment, left_out: NDArray[np.bool_]) -> _Contents:
    """What documents say but for some terms, and each term once in the fields behind the head: a third less to read."""
    terms, rest = documents.terms, documents.fields >= _HEAD
    again = np.zeros(len(terms) + 1, bool)
    again[1:-1] = rest[1:] & rest[:-1] & (terms[1:] == terms[:-1])
    again[documents.starts] = False
    (kept,) = (~(again[:-1] | left_out.take(terms))).nonzero()
    starts = kept.searchsorted(documents.starts)
    return _Contents(_Ranges(starts), terms.take(kept), documents.fields.take(kept))


def _function_words(vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """For each term whether it says nothing, and stands for no word that does: queries seldom ask for it."""
    found = np.zeros(len(vocabulary), bool)
    found[_numbers(vocabulary, wordlists.stop_words(), wordlists.synonyms(), wordlists.actions())] = True
    return found


def _telling_words(vocabulary: Vocabulary) -> NDArray[np.float32]:
    """For each term how much it says in a name: a stop word nothing, a faint one half."""
    found = np.ones(len(vocabulary), np.float32)
    found[_numbers(vocabulary, wordlists.faint_words())] = _LITTLE
    found[_numbers(vocabulary, wordlists.stop_words())] = 0
    return found


def _numbers(vocabulary: Vocabulary, words: Iterable[str], *but: Iterable[str]) -> list[int]:
    """The terms of words that tools have, but for some terms."""
    terms = set(map(text.term, words)).difference(*but)
    return [number for number in map(vocabulary.number, terms) if number is not None]


def _answered(
    contents: _Contents, rows: _Rows, asked: _Asked, candidates: NDArray[np.intp], planes: NDArray[np.intp]
) -> tuple[NDArray[np.float32], Column]:
    """Planes x candidates x groups, how well a group is answered, and planes x candidates, the rarity of the terms
    that answer. `planes` has for each field, in their order, the plane that it is part of."""
    count, groups = len(candidates), len(asked.rarity)
    places, holders, _ = contents.ranges.of(candidates)
    answers = rows.answer_of.take(contents.terms.take(places))
    (hit,) = (answers > _NO_ANSWER).nonzero()
    answers = answers.take(hit)
    slots = (planes * count).take(contents.fields.take(places.take(hit))) + holders.take(hit)
    shape = int(planes[-1]) + 1, count, groups
    cover = np.zeros(math.prod(shape), np.float32)
    np.maximum.at(cover, slots * groups + asked.groups.take(answers), asked.worths.take(answers))
    explained = _summed(asked.rarities.take(answers), slots, shape[0] * count)
    return cover.reshape(shape), explained.reshape(shape[:2])


class _Asked(NamedTuple):
    """The alternatives of all groups in a row: their terms, how well they answer, that times how rare they are, and the
    group that they answer, with `_NO_GROUP` at the end. `rarity` is of the groups."""

    terms: NDArray[np.intp]
    worths: NDArray[np.float32]
    rarities: NDArray[np.float32]
    groups: NDArray[np.intp]
    rarity: NDArray[np.float32]


class _Names(NamedTuple):
    """Features of names; the rarity of their words that the query leaves out; the terms of the others in a row, and
    where those of each name end."""

    features: Mapping[str, Column]
    passed_over: Column
    terms: NDArray[np.int32]
    ends: NDArray[np.intp]


class _Rows:
    """For each term the place in `_Asked` of what answers it best, or -1, and for each surface form how it is said,
    both neutral between queries; and for each namespace one of its candidates."""

    def __init__(self, terms: int, surfaces: int, namespaces: int) -> None:
        self.answer_of = np.full(terms, _NO_ANSWER)
        self.way_of = bytearray(surfaces)
        self.ways = np.frombuffer(self.way_of, np.int8)
        self.one_of = np.zeros(namespaces, np.intp)

    def enter(self, asked: _Asked) -> None:
        """Write down what is asked."""
        best_last = (-asked.worths).argsort(kind="stable")[::-1]
        self.answer_of[asked.terms.take(best_last)] = best_last

    def clear(self, asked: _Asked) -> None:
        """Forget what was asked."""
        self.answer_of[asked.terms] = _NO_ANSWER


def _asked(groups: Sequence[Group], rarity_of: NDArray[np.float32]) -> _Asked:
    terms, worths, places = [], [], []
    for place, group in enumerate(groups):
        for term, alike in group.alternatives:
            terms.append(term)
            worths.append(alike * group.weight)
            places.append(place)
    asked, worth = np.array(terms, np.intp), np.array(worths, np.float32)
    rarities, answered = rarity_of.take(asked) * worth, np.array([*places, _NO_GROUP], np.intp)
    rarity = np.zeros(len(groups), np.float32)
    np.maximum.at(rarity, answered[:-1], rarities)
    return _Asked(asked, worth, rarities, answered, rarity)


def by_shares(answers: NDArray[np.floating], shares: Column) -> Column:
    """How much of the query each candidate answers: candidates x groups, weighed by the shares of the groups.

    Row by row: OpenBLAS 0.3.31 multiplies matrices of five columns with what stands beside them in memory (SkylakeX;
    the product is right), which warns of an invalid value where that is no number."""
    covered: Column = np.vecdot(answers, shares)
    return covered


def saturated(sums: Column) -> Column:
    """Sums of which more and more count for less and less."""
    saturated: Column = np.log1p(_STEEPNESS * sums)
    return saturated


def weigh(features: Mapping[str, Column], weights: Mapping[str, float]) -> NDArray[np.float32]:
    """The scores of candidates."""
    columns = [features["sum"], *[features[name] for name in weights]]
    rows = np.concatenate(columns, dtype=np.float32, casting="unsafe").reshape(len(columns), -1)
    scores: NDArray[np.float32] = np.array([1.0, *weights.values()], np.float32).dot(rows)
    return scores


def _summed(values: Column, places: NDArray[np.integer], count: int) -> NDArray[np.float64]:
    """The sums of the values that belong to each place."""
    return np.bincount(places, values, minlength=count).astype(np.float64, copy=False)


class _Ranges:
    """Places in a row that belong to owners, by where those of each start."""

    def __init__(self, starts: NDArray[np.int64]) -> None:
        self._ends = starts[1:]
        self._sizes = np.diff(starts)

    def of(self, chosen: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.int64]]:
        """All places of the chosen, for each that of its owner among the chosen, and how many each has."""
        sizes = self._sizes.take(chosen)
        places = (self._ends.take(chosen) - sizes.cumsum()).repeat(sizes)
        places += _counted(len(places))
        return places, _counted(len(chosen)).repeat(sizes), sizes


def _counted(count: int) -> NDArray[np.intp]:
    return _COUNTED[:count] if count <= len(_COUNTED) else np.arange(count)


_LABELS = ("name", "namespace or tag", "summary", "description", "parameter", "parameter text", "examples")
