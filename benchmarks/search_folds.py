"""Cross-validation of the search weights: do they hold on a retrieval set that was left out of the choice?

    python -m benchmarks.search_folds --data DIR [--mix DIR] [--queries 40]

Each weight is tried at 2/3 and at 3/2 of its value, on each set alone and, with `--mix`, mixed with the tools of DIR.
The chosen value has the best mean nDCG over some sets, if it gains more than noise. For each set, a row shows nDCG with
the current weights, with those chosen on all sets, and with those chosen without the set. The last columns show the
same for the other sets.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.retrieval import labelled, read_rows, sets, tools_of
from benchmarks.search_rankers import OF_POSTINGS, reweighed
from codemode.search.documents.weights import Weights
from codemode.search.evaluation.evaluation import evaluate
from codemode.search.index.index import Index
from codemode.search.query import Query

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codemode.search.evaluation.evaluation import LabelledQuery

STEPS = (2 / 3, 1.5)
NOISE = 0.001  # smallest mean gain of nDCG for which a value changes
ROWS = ("fields", "length_b")
MOST_B = 0.99  # at 1, an empty field would get an infinite weight
OF_WORDS = ("faint", "action", "circumstance", "quoted", "synonym", "substitute", "same_action",
            "abbreviation", "compound", "typo", "name_typo")  # fmt: skip

#: A changed weight: its name, its index or feature ("" for a scalar), and the new value.
Change = tuple[str, int | str, float]


class Corpus:
    """One set, alone or mixed. Its tools are indexed once and searched with any weights."""

    def __init__(self, index: Index, queries: list[LabelledQuery]) -> None:
        self._index = index
        self._queries = queries

    def ndcg(self, weights: Weights) -> float:
        """Return the mean nDCG@10 of the queries."""
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
        with_others = {name: _ndcg(each, without) for name, each in corpora.items()}
        loss = best[left] - with_others[left]
        elsewhere = f"{_mean(best[name] for name in others):.4f} | {_mean(with_others[name] for name in others):.4f}"
        print(
            f"| {left} | {now[left]:.4f} | {best[left]:.4f} | {with_others[left]:.4f} | {loss:+.4f} | {elsewhere} |",
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
    """Return for each weight the change with the largest mean gain over these sets, if above noise."""
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
