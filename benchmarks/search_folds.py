"""Whether the numbers of search hold for sets that they were not chosen with: each set left out of choosing in turn.

    python -m benchmarks.search_folds --data DIR [--mix DIR] [--queries 40]

Every number of `Weights` is tried at two thirds and one and a half times its value, on each set as given and, with
`--mix`, among the tools of DIR. A choice takes for each number the value that does best in the mean of some sets, if
it gains more than noise. Printed for each set: with the numbers as they are, with those chosen by all sets, and with
those chosen without the set; then what leaving any one set out costs the others.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.retrieval import labelled, read_rows, sets, tools_of
from benchmarks.search_rankers import OF_POSTINGS, reweighed
from codemode.search.index.index import Index
from codemode.search.query import Query
from codemode.search.ranking.evaluation import evaluate
from codemode.search.ranking.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codemode.search.ranking.evaluation import LabelledQuery

STEPS = (2 / 3, 1.5)
NOISE = 0.001  # nDCG in the mean of the sets: a smaller gain changes nothing
ROWS = ("fields", "length_b")
MOST_B = 0.99  # at 1 a field without words would count without bounds
OF_WORDS = ("faint", "action", "circumstance", "quoted", "implied", "synonym", "substitute", "same_action",
            "abbreviation", "compound", "typo", "name_typo")  # fmt: skip

#: A number (its name, and its place in a row of numbers or its feature) and the value that it is given.
Change = tuple[str, int | str, float]


class Corpus:
    """One set, alone or among others: its tools indexed once, asked with any weights."""

    def __init__(self, index: Index, queries: list[LabelledQuery]) -> None:
        self._index = index
        self._queries = queries

    def ndcg(self, weights: Weights) -> float:
        """The mean nDCG@10 of the queries."""
        index = reweighed(self._index, weights)
        return evaluate(lambda text: [hit.tool.id for hit in index.search(Query((text,))).hits], self._queries).ndcg_10


def main() -> None:
    options = _options()
    mixed = (
        [row for path in sorted(options.mix.rglob("catalog.jsonl")) for row in read_rows(path)] if options.mix else []
    )
    corpora = {name: list(_corpora(options.data / name, mixed, options.queries)) for name in sets(options.data)}
    plain = Weights()
    now = {name: _ndcg(each, plain) for name, each in corpora.items()}
    gains: dict[Change, dict[str, float]] = {}
    for change in _changes(plain):
        weights = _changed(plain, [change])
        gains[change] = {name: _ndcg(each, weights) - now[name] for name, each in corpora.items()}
        print(f"{change}: {sum(gains[change].values()) / len(now):+.4f}", flush=True)
    by_all = _changed(plain, _chosen(gains, now))
    print(
        "\n| left out | as they are | chosen by all | chosen without it | loss | the others: chosen by all | without |"
    )
    print("|---|---|---|---|---|---|---|")
    best = {name: _ndcg(each, by_all) for name, each in corpora.items()}
    for left in corpora:
        others = [name for name in corpora if name != left]
        without = _changed(plain, _chosen(gains, others))
        found = {name: _ndcg(each, without) for name, each in corpora.items()}
        loss = best[left] - found[left]
        elsewhere = f"{_mean(best[name] for name in others):.4f} | {_mean(found[name] for name in others):.4f}"
        print(
            f"| {left} | {now[left]:.4f} | {best[left]:.4f} | {found[left]:.4f} | {loss:+.4f} | {elsewhere} |",
            flush=True,
        )


def _corpora(folder: Path, mixed: list[dict[str, object]], count: int) -> Iterator[Corpus]:
    rows = read_rows(folder / "catalog.jsonl")
    for catalog in (rows, rows + mixed) if mixed else (rows,):
        tools = tools_of(catalog)
        yield Corpus(Index.build(tools), labelled(folder / "queries.jsonl", tools, count))


def _ndcg(corpora: Iterable[Corpus], weights: Weights) -> float:
    return _mean(corpus.ndcg(weights) for corpus in corpora)


def _changes(weights: Weights) -> Iterator[Change]:
    for step in STEPS:
        for name in ROWS:
            yield from ((name, place, _valid(name, value * step)) for place, value in enumerate(getattr(weights, name)))
        for name in (*OF_POSTINGS[len(ROWS) :], *OF_WORDS):
            yield name, "", getattr(weights, name) * step
        yield from (("ranking", feature, value * step) for feature, value in weights.ranking.items())


def _valid(name: str, value: float) -> float:
    return min(value, MOST_B) if name == "length_b" else value


def _changed(weights: Weights, changes: Iterable[Change]) -> Weights:
    for name, where, value in changes:
        before = getattr(weights, name)
        if isinstance(where, int):
            after: Any = (*before[:where], value, *before[where + 1 :])
        else:
            after = {**before, where: value} if where else value
        weights = replace(weights, **{name: after})
    return weights


def _chosen(gains: Mapping[Change, Mapping[str, float]], names: Iterable[str]) -> list[Change]:
    """For each number the change that gains most over these sets, if that is more than noise."""
    over = list(names)
    best: dict[tuple[str, int | str], tuple[float, Change]] = {}
    for change, of_sets in gains.items():
        gain = _mean(of_sets[name] for name in over)
        if gain > best.get(change[:2], (NOISE, change))[0]:
            best[change[:2]] = gain, change
    return [change for _, change in best.values()]


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--mix", type=Path)
    parser.add_argument("--queries", type=int, default=40)
    return parser.parse_args()


if __name__ == "__main__":
    main()
