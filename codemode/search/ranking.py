"""Ranking: the best candidates looked at closely. How well a tool answers the query, and the query a tool.

Each feature is one column over the candidates; a score is their weighted sum. What each is worth: docs/search.md.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.documents import Field
from codemode.search.profile import COVERED
from codemode.search.segment import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from codemode.search.groups import Group
    from codemode.search.postings import Postings
    from codemode.search.profile import Profile
    from codemode.search.segment import Segment
    from codemode.search.vocabulary import Vocabulary

    Column = NDArray[np.floating]

_LEAST_RARITY = 0.01  # of what is left of a name; one that would lose all its words keeps them
_LEAST = 1e-6  # keeps a share of nothing from dividing by zero
_STEEPNESS = np.float32(2.0)  # of the logarithm that the sum goes through: how soon more of it counts for less
_COVERED = [f"{field.name.lower()}_covered" for field in COVERED]
_SAID, _LEFT_OUT = np.int8(1), np.int8(2)
_TEXTS = [Field.TEXT, Field.PARAMETER_TEXT]  # the longer, the more of a query they hold by chance
_HEAD = slice(Field.NAME, Field.SUMMARY + 1)  # what says what a tool is for


@dataclass(frozen=True, slots=True)
class Question:
    """A query as ranking sees it: its groups, the kinds of action it opens with, and all kinds in it (bits); the words
    that are in no group because they say nothing."""

    groups: tuple[Group, ...]
    leading: int
    actions: int
    left_out: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen: each feature by name, one number for each candidate; the rarity of the groups; and candidates x
    groups, how well the name (`named`), what says what a tool is for (`headed`) and anything (`found`) answers. And in
    a row the terms of all names that the query does not say (`unsaid`), with the place of the candidate of each."""

    features: Mapping[str, Column]
    named: Column
    headed: Column
    found: Column
    rarity: Column
    unsaid: NDArray[np.int32]
    unsaid_owners: NDArray[np.intp]


class Ranker:
    """Features of candidates. Keeps three rows of numbers per thread, neutral between queries."""

    def __init__(self, documents: Segment, postings: Postings, profile: Profile, vocabulary: Vocabulary) -> None:
        self._documents = documents
        self._rarity = postings.rarity
        self._text_lengths = np.log1p(documents.lengths[:, _TEXTS].sum(axis=1, dtype=np.float32))
        self._profile = profile
        self._vocabulary = vocabulary
        self._term_of_surface = vocabulary.term_of_surface
        self._local = threading.local()

    def look(self, question: Question, documents: NDArray[np.int32], sums: Column) -> Look:
        """Look closely at some candidates."""
        candidates = documents.astype(np.intp)
        answered = self._answered(question.groups, candidates, question.left_out)
        total = np.float32(max(float(answered.rarity.sum()), _LEAST))
        shares = answered.rarity / total
        anywhere, headed = answered.cover.max(axis=0), answered.cover[_HEAD].max(axis=0)
        features = {
            "sum": saturated(sums / total),
            **self._covered(answered, candidates),
            "query_covered": anywhere.dot(shares),
            "head_covered": headed.dot(shares),
            "words_found": np.add.reduce(anywhere > 0, axis=1, dtype=np.float32) / max(anywhere.shape[1], 1),
            "namespace_covered": _around(headed, self._profile.namespaces[candidates], shares),
            **_named(answered, len(candidates)),
            **self._acting(question, candidates),
            "text_length": self._text_lengths[candidates],
        }
        (unsaid,) = (answered.places < 0).nonzero()
        return Look(
            features, answered.cover[Field.NAME], headed, anywhere, answered.rarity,
            answered.terms[unsaid], answered.owners[unsaid],
        )  # fmt: skip

    def matched(self, groups: Sequence[Group], document: int) -> tuple[str, ...]:
        """The words of the query that a document answers, each with the fields that do."""
        cover = self._answered(groups, np.array([document], np.intp)).cover[:, 0]
        return tuple(
            f"{group.corrected or group.surface} ({', '.join(_LABELS[field] for field in np.flatnonzero(answers))})"
            for group, answers in zip(groups, cover.T, strict=True)
            if answers.any()
        )

    def _answered(
        self, groups: Sequence[Group], candidates: NDArray[np.intp], left_out: Iterable[str] = ()
    ) -> _Answered:
        """Which fields of which candidates answer which groups; what the query leaves out, it leaves out of names."""
        rows_of = self._rows()
        group_of, worth_of = rows_of.group_of, rows_of.worth_of
        rarity, entered = self._enter(groups, rows_of)
        documents, count = self._documents, len(candidates)
        rows, holders = _ranges(documents.starts, candidates)
        terms = documents.terms[rows]
        places = group_of.take(terms)
        (hit,) = (places >= 0).nonzero()
        rows, terms, holders, places = rows[hit], terms[hit], holders[hit], places[hit]
        slots = documents.fields[rows].astype(np.intp) * count + holders
        worth = worth_of.take(terms)
        cover = np.zeros(FIELDS * count * len(groups), np.float32)
        np.maximum.at(cover, slots * len(groups) + places, worth)
        explained = np.bincount(slots, worth * self._rarity.take(terms), minlength=FIELDS * count)
        names, owners = _ranges(documents.name_starts, candidates)
        surfaces = documents.names[names]
        said = self._said(groups, left_out, surfaces)
        of_names = self._term_of_surface.take(surfaces)
        rarity_of_names = self._rarity.take(of_names)
        says_nothing = said == _LEFT_OUT
        passed_over = np.bincount(owners, rarity_of_names * says_nothing, minlength=count).astype(np.float32)
        (kept,) = (~says_nothing).nonzero()
        of_names = of_names[kept]
        answered = _Answered(
            rarity, cover.reshape(FIELDS, count, len(groups)), explained.reshape(FIELDS, count).astype(np.float32),
            passed_over, of_names, said[kept], owners[kept], group_of.take(of_names), rarity_of_names[kept],
        )  # fmt: skip
        group_of[entered] = -1
        worth_of[entered] = 0
        return answered

    def _rows(self) -> _Rows:
        rows: _Rows | None = getattr(self._local, "rows", None)
        if rows is None:
            size = len(self._rarity)
            rows = self._local.rows = _Rows(
                np.full(size, -1, np.int16), np.zeros(size, np.float32), np.zeros(len(self._term_of_surface), np.int8)
            )
        return rows

    def _enter(self, groups: Sequence[Group], rows: _Rows) -> tuple[Column, NDArray[np.int32]]:
        """Write down for each term which group it answers best, and how well; give the rarity of each group."""
        terms = np.array([term for group in groups for term, _ in group.alternatives], np.int32)
        worths = np.array([alike * group.weight for group in groups for _, alike in group.alternatives], np.float32)
        places = np.arange(len(groups)).repeat([len(group.alternatives) for group in groups])
        rarity = np.zeros(len(groups), np.float32)
        np.maximum.at(rarity, places, self._rarity.take(terms) * worths)
        np.maximum.at(rows.worth_of, terms, worths)
        best = (worths >= rows.worth_of.take(terms)).nonzero()[0][::-1]
        rows.group_of[terms[best]] = places[best]
        return rarity, terms

    def _covered(self, answered: _Answered, candidates: NDArray[np.intp]) -> dict[str, Column]:
        """How much of a field the query explains, by the rarity of its terms."""
        whole = self._profile.rarity.take(candidates, axis=0)
        rest = whole[:, Field.NAME] - answered.passed_over
        whole[:, Field.NAME] = np.where(rest > _LEAST_RARITY, rest, whole[:, Field.NAME])
        covered = answered.explained[_HEAD] / np.maximum(whole, _LEAST).T
        return dict(zip(_COVERED, covered, strict=True))

    def _said(self, groups: Sequence[Group], left_out: Iterable[str], surfaces: NDArray[np.int32]) -> NDArray[np.int8]:
        """Which surface forms are words of the query as they stand, and which are words that it leaves out."""
        how = self._rows().said
        known = np.array(self._vocabulary.known([group.corrected or group.surface for group in groups]), np.intp)
        out = np.array(self._vocabulary.known(left_out), np.intp)
        how[known] = _SAID
        how[out] = _LEFT_OUT
        found = how.take(surfaces)
        how[known] = 0
        how[out] = 0
        return found

    def _acting(self, question: Question, candidates: NDArray[np.intp]) -> dict[str, Column]:
        """Whether the tool does what the query opens with, or anything that it names."""
        kinds = self._profile.actions[candidates]
        leading, everything = np.uint64(question.leading), np.uint64(question.actions)
        nothing = np.zeros(len(candidates), bool)
        acts = kinds > 0
        return {
            "action_differs": acts & ((kinds & leading) == 0) if leading else nothing,
            "no_action_agrees": nothing if leading or not everything else acts & ((kinds & everything) == 0),
        }


@dataclass(frozen=True, slots=True)
class _Rows:
    """For each term the group that it answers, or -1, and how well; for each surface form how it is said, if it is."""

    group_of: NDArray[np.int16]
    worth_of: NDArray[np.float32]
    said: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class _Answered:
    """`cover` is fields x candidates x groups: how well a field answers a group; `rarity` is of the groups.

    `explained` is fields x candidates: the rarity of the terms that answer. `passed_over` is for each candidate the
    rarity of the words of its name that the query leaves out. The rest are the other words of all names in a row: their
    terms, whether the query says them as they stand, whose they are (`owners`), which group they answer (`places`, or
    -1), and their rarity.
    """

    rarity: NDArray[np.float32]
    cover: NDArray[np.float32]
    explained: Column
    passed_over: Column
    terms: NDArray[np.int32]
    said: NDArray[np.int8]
    owners: NDArray[np.intp]
    places: NDArray[np.int16]
    rarity_of_names: Column


def saturated(sums: Column) -> Column:
    """Sums of which more and more count for less and less."""
    saturated: Column = np.log1p(_STEEPNESS * sums)
    return saturated


def _named(answered: _Answered, count: int) -> dict[str, Column]:
    """How the name reads beside the query: its words in the same order, as they stand, from the first one on."""
    owners, places = answered.owners, answered.places
    lengths = np.bincount(owners, minlength=count)
    paired = (owners[1:] == owners[:-1]) & (places[1:] == places[:-1] + 1) & (places[:-1] >= 0)
    opens = np.zeros(count, np.float32)
    (first,) = _changes(owners).nonzero()
    opens[owners[first]] = places[first] >= 0
    rarity = answered.rarity_of_names
    whole = np.maximum(np.bincount(owners, rarity, minlength=count), _LEAST)
    return {
        "name_in_order": np.bincount(owners[1:][paired], minlength=count) / np.maximum(lengths - 1, 1),
        "name_opens": opens,
        "name_length": np.log1p(lengths),
        "name_verbatim": np.bincount(owners, rarity * (answered.said == _SAID), minlength=count) / whole,
    }


def _around(headed: NDArray[np.float32], namespaces: NDArray[np.int32], shares: Column) -> NDArray[np.float32]:
    """How much of the query, in `shares` of groups, the candidates of the same namespace answer together, parameters
    apart."""
    order = namespaces.argsort(kind="stable")
    first = _changes(namespaces[order])
    together = np.maximum.reduceat(headed[order], first.nonzero()[0], axis=0).dot(shares)
    around = np.empty(len(order), np.float32)
    around[order] = together[first.cumsum() - 1]
    return around


def _changes(values: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Where a value is not the one before it."""
    changes = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes


def weigh(features: Mapping[str, Column], weights: Mapping[str, float]) -> NDArray[np.float32]:
    """The scores of candidates."""
    rows = np.array([features["sum"], *(features[name] for name in weights)], np.float32)
    scores: NDArray[np.float32] = np.array([1.0, *weights.values()], np.float32).dot(rows)
    return scores


def _ranges(starts: NDArray[np.int64], chosen: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """All places in the ranges of the chosen, and for each the place of its owner among the chosen."""
    first = starts[chosen]
    sizes = starts[chosen + 1] - first
    owners = np.arange(len(chosen)).repeat(sizes)
    offsets = (first - (sizes.cumsum() - sizes)).repeat(sizes)
    return offsets + np.arange(len(owners)), owners


_LABELS = ("name", "namespace or tag", "summary", "description", "parameter", "parameter text", "examples")
