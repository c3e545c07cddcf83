"""Confidence: how well search reports that nothing fits. Fitted on one half of each set, judged on the other.

    python -m benchmarks.search_unsure --data DIR [--queries 300] [--parts 2]

Each set, and the gym, has four kinds of queries:

- `answerable`: its own queries;
- `taken`: the same, against a catalog without their right tools. The queries are divided into parts (0: one for each
  query), and the right tools of a whole part are removed together;
- `foreign`: queries of other sets;
- `nonsense`: random words.

The table shows the share of each kind that search would be unsure of, and the area under the ROC curve of confidence.
The threshold is the highest with which no set has more than `ALARM` of its answerable queries below it. Further rows
leave one feature out. The last line has the coefficients and the threshold fitted on all queries, with the largest
share of false alarms.
"""

from __future__ import annotations

import argparse
import random
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval import labelled, read_rows, sets, tools_of
from benchmarks.search import gym
from codemode.search.documents.postings import build_postings
from codemode.search.documents.segment import join
from codemode.search.index.index import Index
from codemode.search.ranking.confidence import COEFFICIENTS, INTERCEPT, UNSURE, least_confidence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from codemode.catalog.tool import Tool
    from codemode.search.evaluation.evaluation import LabelledQuery

    Corpus = tuple[list[Tool], list[LabelledQuery]]  # the tools and queries of a set

#: The weight of each kind of query in the fit.
KINDS = {"answerable": 3.0, "taken": 3.0, "foreign": 0.6, "nonsense": 0.4}
FOREIGN = 14  # queries from each other set
NONSENSE = 60
ALARM = 0.02  # share of answerable queries below the threshold, so that some of the 5 % are left for unknown things
RESTRAINT = 0.003  # L2 regularization of the coefficients, for standardized features
LEAST_RESTRAINT = 1e-6  # L2 regularization of the intercepts
STEPS = 12  # of Newton's method

Evidence: TypeAlias = NDArray[np.float64]


def main() -> None:
    options = _options()
    names = [*sets(options.data), "gym"]
    corpora = {name: gym() if name == "gym" else _set(options.data / name, options.queries) for name in names}
    rows = _all_rows(corpora, options.parts)
    print(f"| set | {' | '.join(f'{kind} flagged' for kind in KINDS)} | taken AUC | foreign AUC |")
    print("|---|---|---|---|---|---|---|")
    figures = _figures(rows)
    for name, of_set in zip(names, figures, strict=True):
        print(_line(name, of_set))
    print(_line("largest", np.max(figures, axis=0)))
    print(_line("mean", np.mean(figures, axis=0)))
    for column, left_out in enumerate(COEFFICIENTS, 1):
        print(_line(f"mean without `{left_out}`", np.mean(_figures(_without_column(rows, column)), axis=0)))
    known = {
        name: {kind: np.hstack([values[:, :-1], np.zeros((len(values), 1))]) for kind, values in of_set.items()}
        for name, of_set in rows.items()
    }
    print(_line("mean without `unknown`", np.mean(_figures(known), axis=0)))
    now = [_judged(of_set, np.array([INTERCEPT, *COEFFICIENTS.values()]), UNSURE) for of_set in rows.values()]
    print(_line("largest by the current model, all queries", np.max(now, axis=0)))
    print(_line("mean by the current model, all queries", np.mean(now, axis=0)))
    coefficients = _fit(rows)
    threshold = _threshold(rows, coefficients)
    fitted = dict(zip(("INTERCEPT", *COEFFICIENTS), coefficients.round(2).tolist(), strict=True))
    most = max(_judged(of_set, coefficients, threshold)[0] for of_set in rows.values())
    print(f"\n{fitted}, UNSURE = {threshold:.3f}, false alarms at most {most:.3f}")


def _figures(rows: Mapping[str, Mapping[str, Evidence]]) -> list[list[float]]:
    """Return the figures of each set: the means of its two halves, each judged by a fit on the other halves."""
    halves = [
        {name: {kind: values[half::2] for kind, values in of_set.items()} for name, of_set in rows.items()}
        for half in (0, 1)
    ]
    figures = []
    for fitted, judged in (halves, halves[::-1]):
        coefficients = _fit(fitted)
        threshold = _threshold(fitted, coefficients)
        figures.append([_judged(of_set, coefficients, threshold) for of_set in judged.values()])
    return [[float(value) for value in row] for row in np.mean(figures, axis=0)]


def _without_column(rows: Mapping[str, Mapping[str, Evidence]], column: int) -> dict[str, dict[str, Evidence]]:
    return {
        name: {kind: np.delete(values, column, axis=1) for kind, values in of_set.items()}
        for name, of_set in rows.items()
    }


def _line(name: str, figures: Iterable[float]) -> str:
    return f"| {name} | {' | '.join(f'{value:.3f}' for value in figures)} |"


def _set(folder: Path, count: int) -> tuple[list[Tool], list[LabelledQuery]]:
    tools = tools_of(read_rows(folder / "catalog.jsonl"))
    return tools, labelled(folder / "queries.jsonl", tools, count)


def _all_rows(corpora: Mapping[str, Corpus], parts: int) -> dict[str, dict[str, Evidence]]:
    queries = {name: asked for name, (_, asked) in corpora.items()}
    return {name: dict(_rows(Index.build(tools), name, queries, parts)) for name, (tools, _) in corpora.items()}


def _rows(
    index: Index, name: str, queries: Mapping[str, Sequence[LabelledQuery]], parts: int
) -> Iterator[tuple[str, Evidence]]:
    own = queries[name]
    yield "answerable", _evidence(index.evidence(each.query) for each in own)
    yield "taken", _evidence(_taken(index, own, parts or len(own)))
    foreign = [each.query for other in queries if other != name for each in queries[other][:FOREIGN]]
    yield "foreign", _evidence(index.evidence(query) for query in foreign)
    yield "nonsense", _evidence(index.evidence(query) for query in _nonsense())


def _taken(index: Index, queries: Sequence[LabelledQuery], parts: int) -> Iterator[Mapping[str, float]]:
    """Yield the evidence of queries against an index without the right tools of their part."""
    for part in range(parts):
        asked = queries[part::parts]
        others = _without(index, {id_ for each in asked for gold in each.gold for id_ in gold})
        yield from (others.evidence(each.query) for each in asked)


def _without(index: Index, ids: Collection[str]) -> Index:
    """Return an index without the tools in `ids`. It shares the vocabulary of `index`."""
    places = [place for place, tool in enumerate(index.tools) if tool.id in ids]
    spans = [(start, end) for start, end in pairwise([-1, *places, len(index.tools)]) if start + 1 < end]
    documents = join([index.documents.part(start + 1, end) for start, end in spans])
    tools = tuple(tool for tool in index.tools if tool.id not in ids)
    postings = build_postings(documents, index.weights, len(index.vocabulary))
    return Index(tools, documents, index.vocabulary, postings, weights=index.weights)


def _nonsense() -> Iterator[str]:
    chance = random.Random(5)  # noqa: S311
    for _ in range(NONSENSE):
        words = []
        for _ in range(chance.randint(2, 6)):
            letters = ("bcdfghjklmnpqrstvwxyz" if place % 2 else "aeiou" for place in range(chance.randint(4, 9)))
            words.append("".join(chance.choice(some) for some in letters))
        yield " ".join(words)


def _evidence(samples: Iterator[Mapping[str, float]]) -> Evidence:
    """Return one row for each query: 1, the features, and the share of unknown things; zeros without a hit."""
    nothing = [0.0] * (len(COEFFICIENTS) + 2)
    return np.array(
        [[1.0, *(each[key] for key in (*COEFFICIENTS, "unknown"))] if each else nothing for each in samples]
    )


def _fit(rows: Mapping[str, Mapping[str, Evidence]]) -> Evidence:
    """Fit a logistic model. Return its coefficients, the intercept first. Queries are weighted by `KINDS`.

    Each set has its own intercept, and the result has their mean. Differences between sets are thus not mistaken for
    differences between answerable and other queries.
    """
    parts = [
        (place, kind, of_set[kind][of_set[kind][:, 0] > 0])
        for place, of_set in enumerate(rows.values())
        for kind in KINDS
    ]
    values = np.concatenate([part[:, 1:-1] for *_, part in parts])
    answerable = np.concatenate([np.full(len(part), kind == "answerable", float) for _, kind, part in parts])
    shares = np.concatenate([np.full(len(part), KINDS[kind] / max(len(part), 1)) for _, kind, part in parts])
    shares /= shares.sum()
    owners = np.concatenate([np.full(len(part), place) for place, _, part in parts])
    intercepts = int(owners.max()) + 1
    middle, spread = values.mean(axis=0), values.std(axis=0)
    scaled = np.hstack([np.eye(intercepts)[owners], (values - middle) / spread])
    restraint = np.diag([LEAST_RESTRAINT] * intercepts + [RESTRAINT] * values.shape[1])
    weights = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(scaled @ weights, -30, 30)))
        slope = scaled.T @ (shares * (answerable - chance)) - restraint @ weights
        weights += np.linalg.solve((scaled.T * (shares * chance * (1 - chance))) @ scaled + restraint, slope)
    raw = weights[intercepts:] / spread
    return np.array([weights[:intercepts].mean() - raw @ middle, *raw])


def _judged(of_set: Mapping[str, Evidence], coefficients: Evidence, threshold: float) -> list[float]:
    certain = {kind: _confidences(of_set[kind], coefficients) for kind in KINDS}
    flagged = []
    for kind in KINDS:
        least = [least_confidence(unknown, threshold) for unknown in of_set[kind][:, -1].tolist()]
        flagged.append(float((certain[kind] < np.array(least)).mean()))
    return [*flagged, *(_area(certain["answerable"], certain[kind]) for kind in ("taken", "foreign"))]


def _threshold(rows: Mapping[str, Mapping[str, Evidence]], coefficients: Evidence) -> float:
    """Return the confidence below which at most a share `ALARM` of the answerable queries of any set lies."""
    return min(float(np.quantile(_confidences(of_set["answerable"], coefficients), ALARM)) for of_set in rows.values())


def _confidences(values: Evidence, coefficients: Evidence) -> Evidence:
    """Return the confidence of each row of evidence, 0 without a hit."""
    return np.where(values[:, 0] > 0, 1 / (1 + np.exp(-values[:, :-1] @ coefficients)), 0.0)


def _area(higher: Evidence, lower: Evidence) -> float:
    """Return the share of correctly ordered pairs (the area under the ROC curve). Ties count half."""
    differences = higher[:, None] - lower[None, :]
    return float((differences > 0).mean() + (differences == 0).mean() / 2)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--parts", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    main()
