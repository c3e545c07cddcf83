"""Tuning: fit the ranking weights to labelled queries, and cross-validate the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.evaluation.evaluation import Metrics, mean, measure
from codemode.search.ranking.ranking import weigh

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.search.documents.weights import Weights
    from codemode.search.evaluation.evaluation import LabelledQuery
    from codemode.search.index.index import Index
    from codemode.search.ranking.ranking import Column

FOLDS = 5
LEAST_QUERIES = 20  # fewer would overfit
_STEPS = (-0.1, -0.04, 0.04, 0.1)
_ROUNDS = 2
_COST = 0.002  # nDCG penalty for changing a weight by 1, which keeps weights close to those in use


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposed ranking weights, with metrics before and after.

    `weights` are fitted to all queries, and `current` are the weights in use. `before` and `after` are over the same
    queries; `after` is cross-validated. `worthwhile` is whether the mean gain exceeds its standard error.
    """

    weights: Weights
    current: Mapping[str, float]
    before: Metrics
    after: Metrics
    worthwhile: bool

    @property
    def changed(self) -> dict[str, float]:
        """The weights that differ from those in use, by feature, as `search.ranking` takes them."""
        return {name: weight for name, weight in self.weights.ranking.items() if weight != self.current[name]}


@dataclass(frozen=True, slots=True)
class _Case:
    """A query with the features of its candidates, computed once and scored with many weights."""

    ids: tuple[str, ...]
    features: Mapping[str, Column]
    gold: tuple[frozenset[str], ...]


def propose(index: Index, queries: Sequence[LabelledQuery]) -> Proposal:
    """Fit weights to the queries, and cross-validate them in `FOLDS` folds.

    Repeated queries, as in a record, count once for each gold tool, and all of them are in the same fold. Raises
    ValueError for fewer than `LEAST_QUERIES` distinct queries.
    """
    folds = {text: number % FOLDS for number, text in enumerate(sorted({_words(each) for each in queries}))}
    distinct = {(_words(each), each.gold): each for each in queries}
    if len(folds) < LEAST_QUERIES:
        message = f"tuning needs at least {LEAST_QUERIES} different labelled queries, got {len(folds)}"
        raise ValueError(message)
    cases = [
        (folds[text], _Case(*index.candidate_features(each.query), each.gold)) for (text, _), each in distinct.items()
    ]
    current_weights = dict(index.weights.ranking)
    before, after = [], []
    for fold in range(FOLDS):
        learnt = _climb([case for of, case in cases if of != fold], current_weights)
        left_out = [case for of, case in cases if of == fold]
        before += [_measured(case, current_weights) for case in left_out]
        after += [_measured(case, learnt) for case in left_out]
    gains = np.array([new.ndcg_10 - old.ndcg_10 for new, old in zip(after, before, strict=True)])
    return Proposal(
        replace(index.weights, ranking=MappingProxyType(_climb([case for _, case in cases], current_weights))),
        MappingProxyType(current_weights),
        mean(before),
        mean(after),
        worthwhile=bool(gains.mean() > gains.std() / np.sqrt(len(gains))),
    )


def _words(labelled: LabelledQuery) -> str:
    return " ".join(labelled.query.casefold().split())


def _climb(cases: Sequence[_Case], start: Mapping[str, float]) -> dict[str, float]:
    """Improve one weight at a time (coordinate ascent)."""
    weights = dict(start)
    best = _worth(cases, weights, start)
    for _ in range(_ROUNDS):
        for name in start:
            for step in _STEPS:
                tried = weights | {name: round(weights[name] + step, 4)}
                worth = _worth(cases, tried, start)
                if worth > best:
                    best, weights = worth, tried
    return weights


def _worth(cases: Sequence[_Case], weights: Mapping[str, float], start: Mapping[str, float]) -> float:
    moved = sum(abs(weights[name] - start[name]) for name in start)
    return mean([_measured(case, weights) for case in cases]).ndcg_10 - _COST * moved


def _measured(case: _Case, weights: Mapping[str, float]) -> Metrics:
    if not case.ids:
        return measure((), case.gold)
    order = np.argsort(-weigh(case.features, weights), kind="stable")
    return measure([case.ids[place] for place in order[:10].tolist()], case.gold)
