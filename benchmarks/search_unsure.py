"""Confidence: how well search reports that nothing fits. Each set is evaluated with a model fitted on the others.

    python -m benchmarks.search_unsure --data DIR [--queries 300] [--parts 2]

Each set, and the gym, has four kinds of queries:

- `answerable`: its own queries;
- `taken`: the same, against a catalog without their right tools. With `--parts`, the queries are divided into parts,
  and the right tools of a whole part are removed together;
- `foreign`: queries of other sets;
- `nonsense`: random words.

The table shows the area under the ROC curve, and the shares of foreign and nonsense queries that are flagged if one in
twenty answerable queries is. The last columns show the shares at the threshold of the other sets, with false alarms.
Further rows are ablations: without each feature, with all unasked words at full weight, and with a common intercept.
The last line has the coefficients and the threshold fitted on all sets.
"""

from __future__ import annotations

import argparse
import random
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval import labelled, read_rows, sets, tools_of
from benchmarks.search import gym
from benchmarks.search_ablation import changed
from codemode.search.documents.postings import build_postings
from codemode.search.documents.segment import join
from codemode.search.index.index import Index
from codemode.search.ranking import ranking
from codemode.search.ranking.confidence import COEFFICIENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from codemode.catalog.tool import Tool
    from codemode.search.analysis.vocabulary import Vocabulary
    from codemode.search.evaluation.evaluation import LabelledQuery

    Corpus = tuple[list[Tool], list[LabelledQuery]]  # the tools and queries of a set

#: The weight of each kind of query in the fit.
KINDS = {"answerable": 3.0, "taken": 3.0, "foreign": 0.6, "nonsense": 0.4}
FOREIGN = 14  # queries from each other set
NONSENSE = 60
ALARM = 0.05  # share of answerable queries that may be flagged
RESTRAINT = 0.003  # L2 regularization of the coefficients, for standardized features
LEAST_RESTRAINT = 1e-6  # L2 regularization of the intercepts
LEVELS = 201  # quantiles of each set, so that all sets weigh the same
STEPS = 12  # of Newton's method
NOTHING = -99.0  # logit of a query without hits

Evidence: TypeAlias = NDArray[np.float64]
Fit: TypeAlias = "Callable[[Mapping[str, Mapping[str, Evidence]]], Evidence]"


def main() -> None:
    options = _options()
    names = [*sets(options.data), "gym"]
    corpora = {name: gym() if name == "gym" else _set(options.data / name, options.queries) for name in names}
    rows = _all_rows(corpora, options.parts)
    print(
        "| set | taken AUC | foreign AUC | foreign flagged | nonsense flagged | by others: false | foreign | nonsense |"
    )
    print("|---|---|---|---|---|---|---|---|")
    figures = _figures(rows)
    for name, of_set in zip(names, figures, strict=True):
        print(_line(name, of_set))
    print(_line("mean of the sets", np.mean(figures[:-1], axis=0)))
    print(_line("mean with the gym", np.mean(figures, axis=0)))
    for column, left_out in enumerate(COEFFICIENTS, 1):
        print(_line(f"mean of the sets without `{left_out}`", np.mean(_figures(rows, column)[:-1], axis=0)))
    with changed(ranking, "_significances", _each_in_full):
        in_full = _figures(_all_rows(corpora, options.parts))
    print(_line("mean of the sets, every unasked word in full", np.mean(in_full[:-1], axis=0)))
    together = _figures(rows, fit=partial(_fit, apart=False))
    print(_line("mean of the sets, fitted with one intercept for all", np.mean(together[:-1], axis=0)))
    coefficients = _fit(rows)
    fitted = dict(zip(("INTERCEPT", *COEFFICIENTS), coefficients.round(2).tolist(), strict=True))
    print(f"\n{fitted}, UNSURE = {1 / (1 + np.exp(-_threshold(rows, coefficients))):.3f}")


def _figures(
    rows: Mapping[str, Mapping[str, Evidence]], left_out: int | None = None, fit: Fit | None = None
) -> list[list[float]]:
    """Return the figures of each set, by a fit on the others. `left_out` removes one column of the evidence."""
    if left_out is not None:
        rows = {
            name: {kind: np.delete(values, left_out, axis=1) for kind, values in of_set.items()}
            for name, of_set in rows.items()
        }
    figures = []
    for name, of_set in rows.items():
        others = {other: rows[other] for other in rows if other != name}
        figures.append(_judged(of_set, (fit or _fit)(others), others))
    return figures


def _line(name: str, figures: Iterable[float]) -> str:
    return f"| {name} | {' | '.join(f'{value:.3f}' for value in figures)} |"


def _set(folder: Path, count: int) -> tuple[list[Tool], list[LabelledQuery]]:
    tools = tools_of(read_rows(folder / "catalog.jsonl"))
    return tools, labelled(folder / "queries.jsonl", tools, count)


def _all_rows(corpora: Mapping[str, Corpus], parts: int) -> dict[str, dict[str, Evidence]]:
    queries = {name: asked for name, (_, asked) in corpora.items()}
    return {name: dict(_rows(Index.build(tools), name, queries, parts)) for name, (tools, _) in corpora.items()}


def _each_in_full(vocabulary: Vocabulary) -> NDArray[np.float32]:
    """Return 1 for every term, in place of `ranking._significances`."""
    return np.ones(len(vocabulary), np.float32)


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
    return Index(tools, documents, index.vocabulary, postings, weights=index.weights, spelling=index.spelling)


def _nonsense() -> Iterator[str]:
    chance = random.Random(5)  # noqa: S311
    for _ in range(NONSENSE):
        words = []
        for _ in range(chance.randint(2, 6)):
            letters = ("bcdfghjklmnpqrstvwxyz" if place % 2 else "aeiou" for place in range(chance.randint(4, 9)))
            words.append("".join(chance.choice(some) for some in letters))
        yield " ".join(words)


def _evidence(samples: Iterator[Mapping[str, float]]) -> Evidence:
    """Return one row for each query: 1 and the features, or zeros for a query without hits."""
    nothing = [0.0] * (len(COEFFICIENTS) + 1)
    return np.array([nothing if not each else [1.0, *(each[key] for key in COEFFICIENTS)] for each in samples])


def _fit(rows: Mapping[str, Mapping[str, Evidence]], *, apart: bool = True) -> Evidence:
    """Fit a logistic model. Return its coefficients, the intercept first. Queries are weighted by `KINDS`.

    Each set has its own intercept, and the result has their mean. Differences between sets are thus not mistaken for
    differences between answerable and other queries. Without `apart`, all sets share one intercept.
    """
    parts = [
        (place, kind, of_set[kind][of_set[kind][:, 0] > 0])
        for place, of_set in enumerate(rows.values())
        for kind in KINDS
    ]
    values = np.concatenate([part[:, 1:] for *_, part in parts])
    answerable = np.concatenate([np.full(len(part), kind == "answerable", float) for _, kind, part in parts])
    shares = np.concatenate([np.full(len(part), KINDS[kind] / max(len(part), 1)) for _, kind, part in parts])
    shares /= shares.sum()
    owners = np.concatenate([np.full(len(part), place if apart else 0) for place, _, part in parts])
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


def _judged(
    of_set: Mapping[str, Evidence], coefficients: Evidence, others: Mapping[str, Mapping[str, Evidence]]
) -> list[float]:
    logits = {kind: _logits(of_set[kind], coefficients) for kind in KINDS}
    own = np.quantile(logits["answerable"], ALARM)
    common = _threshold(others, coefficients)
    return [
        *(_area(logits["answerable"], logits[kind]) for kind in ("taken", "foreign")),
        *(float((logits[kind] < own).mean()) for kind in ("foreign", "nonsense")),
        *(float((logits[kind] < common).mean()) for kind in ("answerable", "foreign", "nonsense")),
    ]


def _threshold(rows: Mapping[str, Mapping[str, Evidence]], coefficients: Evidence) -> float:
    """Return the logit below which a share `ALARM` of the answerable queries lies. All sets weigh the same."""
    levels = np.linspace(0, 1, LEVELS)
    return float(
        np.quantile([np.quantile(_logits(each["answerable"], coefficients), levels) for each in rows.values()], ALARM)
    )


def _logits(values: Evidence, coefficients: Evidence) -> Evidence:
    return np.where(values[:, 0] > 0, values @ coefficients, NOTHING)


def _area(higher: Evidence, lower: Evidence) -> float:
    """Return the share of correctly ordered pairs (the area under the ROC curve). Ties count half."""
    differences = higher[:, None] - lower[None, :]
    return float((differences > 0).mean() + (differences == 0).mean() / 2)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--parts", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
