"""Ranking: the best candidates looked at closely. How well a tool answers the query, and the query a tool.

Each feature is one column over the candidates; a score is their weighted sum. What each is worth: docs/search.md.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codemode.search import wordlists
from codemode.search.documents import Field
from codemode.search.profile import COVERED
from codemode.search.segment import FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from codemode.search.groups import Group
    from codemode.search.postings import Postings
    from codemode.search.profile import Profile
    from codemode.search.segment import Segment
    from codemode.search.vocabulary import Vocabulary

    Column = NDArray[np.floating]

_LEAST = 1e-6  # keeps a share of nothing from dividing by zero


@dataclass(frozen=True, slots=True)
class Question:
    """A query as ranking sees it: its groups, the kinds of action it opens with, and all kinds in it (bits)."""

    groups: tuple[Group, ...]
    leading: int
    actions: int


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen: each feature by name, one number for each candidate; and candidates x groups, how well the name
    (`named`), and how well anything (`found`), answers a group, with the rarity of the groups."""

    features: Mapping[str, Column]
    named: Column
    found: Column
    rarity: Column


class Ranker:
    """Features of candidates. Keeps two rows of numbers per thread, neutral between queries."""

    def __init__(self, documents: Segment, postings: Postings, profile: Profile, vocabulary: Vocabulary) -> None:
        self._documents = documents
        self._rarity = postings.rarity
        self._profile = profile
        self._vocabulary = vocabulary
        self._term_of_surface = vocabulary.term_of_surface
        self._local = threading.local()

    def look(self, question: Question, candidates: NDArray[np.int32], sums: Column) -> Look:
        """Look closely at some candidates."""
        answered = self._answered(question.groups, candidates)
        total = np.float32(max(float(answered.rarity.sum()), _LEAST))
        features = {
            "sum": sums / total,
            **self._covered(answered, candidates),
            **_found(answered, total),
            **self._named(question.groups, answered, candidates),
            **self._acting(question, candidates),
        }
        return Look(features, answered.cover[Field.NAME], answered.cover.max(axis=0), answered.rarity)

    def matched(self, groups: Sequence[Group], document: int) -> tuple[str, ...]:
        """The words of the query that a document answers, each with the fields that do."""
        cover = self._answered(groups, np.array([document], np.int32)).cover[:, 0]
        return tuple(
            f"{group.corrected or group.surface} ({', '.join(_LABELS[field] for field in np.flatnonzero(answers))})"
            for group, answers in zip(groups, cover.T, strict=True)
            if answers.any()
        )

    def _answered(self, groups: Sequence[Group], candidates: NDArray[np.int32]) -> _Answered:
        """Which fields of which candidates answer which groups."""
        group_of, worth_of = self._rows()
        rarity = self._enter(groups, group_of, worth_of)
        documents = self._documents
        rows, holders = _ranges(documents.starts, candidates)
        terms = documents.terms[rows]
        hit = np.flatnonzero(group_of[terms] >= 0)
        terms, holders, fields = terms[hit], holders[hit], documents.fields[rows[hit]].astype(np.intp)
        worth = worth_of[terms]
        cover = np.zeros((FIELDS, len(candidates), len(groups)), np.float32)
        np.maximum.at(cover, (fields, holders, group_of[terms]), worth)
        slots = FIELDS * len(candidates)
        explained = np.bincount(fields * len(candidates) + holders, worth * self._rarity[terms], minlength=slots)
        names, owners = _ranges(documents.name_starts, candidates)
        surfaces = documents.names[names]
        of_names = self._term_of_surface[surfaces]
        answered = _Answered(
            rarity, cover, explained.reshape(FIELDS, -1).astype(np.float32),
            surfaces, owners, group_of[of_names], self._rarity[of_names],
        )  # fmt: skip
        for group in groups:
            for term, _ in group.alternatives:
                group_of[term], worth_of[term] = -1, 0
        return answered

    def _rows(self) -> tuple[NDArray[np.int16], Column]:
        rows: tuple[NDArray[np.int16], Column] | None = getattr(self._local, "rows", None)
        if rows is None:
            size = len(self._rarity)
            rows = self._local.rows = (np.full(size, -1, np.int16), np.zeros(size, np.float32))
        return rows

    def _enter(self, groups: Sequence[Group], group_of: NDArray[np.int16], worth_of: Column) -> Column:
        """Write down for each term which group it answers best, and how well; give the rarity of each group."""
        rarity = np.zeros(len(groups), np.float32)
        for place, group in enumerate(groups):
            for term, alike in group.alternatives:
                worth = alike * group.weight
                rarity[place] = max(rarity[place], self._rarity[term] * worth)
                if worth > worth_of[term]:
                    group_of[term], worth_of[term] = place, worth
        return rarity

    def _covered(self, answered: _Answered, candidates: NDArray[np.int32]) -> dict[str, Column]:
        """How much of a field the query explains, by the rarity of its terms."""
        whole = np.maximum(self._profile.rarity[candidates], _LEAST)
        return {
            f"{field.name.lower()}_covered": answered.explained[field] / whole[:, column]
            for column, field in enumerate(COVERED)
        }

    def _named(self, groups: Sequence[Group], answered: _Answered, candidates: NDArray[np.int32]) -> dict[str, Column]:
        """How the name reads beside the query: its words in the same order, as they stand, from the first one on."""
        owners, places, count = answered.owners, answered.places, len(candidates)
        lengths = np.bincount(owners, minlength=count)
        paired = (owners[1:] == owners[:-1]) & (places[1:] == places[:-1] + 1) & (places[:-1] >= 0)
        opens = np.zeros(count, np.float32)
        first = np.flatnonzero(np.diff(owners, prepend=-1))
        opens[owners[first]] = places[first] >= 0
        said = [self._vocabulary.surface(group.corrected or group.surface) for group in groups]
        verbatim = np.isin(answered.surfaces, [number for number in said if number is not None])
        whole = np.maximum(np.bincount(owners, answered.rarity_of_names, minlength=count), _LEAST)
        share = np.bincount(owners, answered.rarity_of_names * verbatim, minlength=count) / whole
        return {
            "name_in_order": np.bincount(owners[1:][paired], minlength=count) / np.maximum(lengths - 1, 1),
            "name_opens": opens,
            "name_length": np.log1p(lengths),
            "name_verbatim": share,
        }

    def _acting(self, question: Question, candidates: NDArray[np.int32]) -> dict[str, Column]:
        """Whether the tool does what the query opens with, or anything that it names; who names nothing is looking."""
        kinds = self._profile.actions[candidates]
        leading, everything = np.uint64(question.leading), np.uint64(question.actions)
        nothing = np.zeros(len(candidates), np.float32)
        agrees = (kinds & leading) > 0
        looking = np.uint64(wordlists.actions()["list"])
        return {
            "action_agrees": agrees.astype(np.float32),
            "action_differs": ((kinds > 0) & ~agrees).astype(np.float32) if leading else nothing,
            "no_action_agrees": nothing
            if leading or not everything
            else ((kinds > 0) & ((kinds & everything) == 0)).astype(np.float32),
            "action_unasked": nothing if everything else ((kinds > 0) & ((kinds & looking) == 0)).astype(np.float32),
        }


@dataclass(frozen=True, slots=True)
class _Answered:
    """`cover` is fields x candidates x groups: how well a field answers a group; `rarity` is of the groups.

    `explained` is fields x candidates: the rarity of the terms that answer. The rest are the words of all names in a
    row: surface forms, whose they are (`owners`), which group they answer (`places`, or -1), and their rarity.
    """

    rarity: Column
    cover: Column
    explained: Column
    surfaces: NDArray[np.int32]
    owners: NDArray[np.intp]
    places: NDArray[np.int16]
    rarity_of_names: Column


def _found(answered: _Answered, total: np.float32) -> dict[str, Column]:
    """How much of the query is found, anywhere and by field."""
    cover, shares = answered.cover, answered.rarity / total
    anywhere = cover.max(axis=0)
    return {
        "query_covered": anywhere @ shares,
        "query_in_name": cover[Field.NAME] @ shares,
        "query_in_home": cover[Field.HOME] @ shares,
        "query_in_text": np.maximum(cover[Field.SUMMARY], cover[Field.TEXT]) @ shares,
        "query_in_parameters": np.maximum(cover[Field.PARAMETERS], cover[Field.PARAMETER_TEXT]) @ shares,
        "words_found": (anywhere > 0).sum(axis=1) / np.float32(max(anywhere.shape[1], 1)),
    }


def weigh(features: Mapping[str, Column], weights: Mapping[str, float]) -> Column:
    """The scores of candidates."""
    score = features["sum"].astype(np.float32)
    for name, weight in weights.items():
        if weight:
            score = score + np.float32(weight) * features[name]
    return score


def _ranges(starts: NDArray[np.int64], chosen: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """All places in the ranges of the chosen, and for each the place of its owner among the chosen."""
    first = starts[chosen]
    sizes = starts[chosen + 1] - first
    owners = np.repeat(np.arange(len(chosen)), sizes)
    offsets = np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
    return offsets + np.arange(len(owners)), owners


_LABELS = ("name", "namespace or tag", "summary", "description", "parameter", "parameter text", "examples")
