"""What earlier calls gain: half of the queries of each set are followed by calls, the other half is measured.

    python -m benchmarks.search_learned --data SETS [--queries COUNT]

Each half is taught once and measured once. A query is followed by the call of each tool that it needs: of a hit, or
after a query in vain if it is not among the first ten. The measured queries are those of another caller. The columns
say who called: one caller, three callers, three callers of whose calls 20 % go to another hit.

In the last column, all queries are taught by one caller and asked again by another.

The second table has one hostile caller who calls another of the first hits after each query. It counts the queries
whose right first hit is displaced for others: while nobody else has called anything, and after one honest caller.
"""

from __future__ import annotations

import argparse
import random
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.retrieval import labelled, read_rows, sets, tools_of
from benchmarks.search import gym
from codemode.features.feedback.evidence import Evidence
from codemode.features.feedback.record import Call
from codemode.search.evaluation.evaluation import TOP, evaluate
from codemode.search.index.index import Index
from codemode.search.query import Query

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codemode.catalog.tool import Tool
    from codemode.search.evaluation.evaluation import LabelledQuery
    from codemode.search.query import Learned

WRONG = 0.2
SETTINGS = (("one caller", 1, 0.0), ("three callers", 3, 0.0), ("three, 20 % wrong", 3, WRONG))


def main() -> None:
    """Read the command line, measure, print."""
    options = _options()
    print(f"| set | queries | nothing learned | {' | '.join(name for name, *_ in SETTINGS)} | the same again |")
    print("|---|---|---|---|" + "---|" * len(SETTINGS))
    rows = []
    for name, tools, queries in _corpora(options):
        rows.append(measured(Index.build(tools), queries))
        print(f"| {name} | {len(queries)} | {_cells(rows[-1])} |", flush=True)
    print(f"| mean | | {_cells([sum(column) / len(rows) for column in zip(*rows, strict=True)])} |")
    print("\n| set | right first hits | displaced | after one honest caller |\n|---|---|---|---|")
    for name, tools, queries in _corpora(options):
        right, *shares = displaced(Index.build(tools), queries)
        print(f"| {name} | {right:.0f} | {' | '.join(f'{share:.3f}' for share in shares)} |", flush=True)


def measured(index: Index, queries: Sequence[LabelledQuery]) -> list[float]:
    """Return the mean nDCG@10 without and with what is learned in each of `SETTINGS`."""
    shuffled = random.Random(5).sample(queries, len(queries))  # noqa: S311
    halves = shuffled[::2], shuffled[1::2]
    means = [_ndcg(index, queries)]
    for _, callers, wrong in SETTINGS:
        total = 0.0
        for taught, asked in (halves, halves[::-1]):
            evidence = Evidence({})
            evidence.add(calls(index, taught, callers, wrong), 0)
            total += _ndcg(index, asked, partial(evidence.of, who="")) * len(asked)
        means.append(total / len(queries))
    evidence = Evidence({})
    evidence.add(calls(index, queries, 1, 0.0), 0)
    return [*means, _ndcg(index, queries, partial(evidence.of, who=""))]


def displaced(index: Index, queries: Sequence[LabelledQuery]) -> tuple[float, ...]:
    """Return how many first hits are right, and the shares that a hostile caller displaces without and with others."""
    chance = random.Random(7)  # noqa: S311
    right = moved = moved_beside_honest = 0
    for labelled_query in queries:
        text = labelled_query.query
        first, *others = _ids(index, text) or [""]
        if not others or not any(first in gold for gold in labelled_query.gold):
            continue
        right += 1
        hostile = Evidence({})
        hostile.add([Call(text, chance.choice(others[:5]), "hostile")] * 100, 0)
        moved += _ids(index, text, partial(hostile.of, who=""))[0] != first
        hostile.add([Call(text, first, "honest")], 0)
        moved_beside_honest += _ids(index, text, partial(hostile.of, who=""))[0] != first
    return right, moved / max(right, 1), moved_beside_honest / max(right, 1)


def calls(index: Index, queries: Sequence[LabelledQuery], callers: int, wrong: float) -> Iterator[Call]:
    """Yield the calls after queries, each by so many callers, of which a share goes to another hit."""
    chance = random.Random(7)  # noqa: S311
    for labelled_query in queries:
        ids = _ids(index, labelled_query.query)
        for gold in labelled_query.gold:
            for caller in range(callers):
                others = [id_ for id_ in ids if id_ not in gold]
                right = next((id_ for id_ in ids if id_ in gold), min(gold))
                tool = chance.choice(others) if others and chance.random() < wrong else right
                yield Call(labelled_query.query, tool, f"caller {caller}", direct=tool in ids)


def _ndcg(index: Index, queries: Sequence[LabelledQuery], learned: Learned | None = None) -> float:
    return evaluate(lambda text: _ids(index, text, learned), queries).ndcg_10


def _ids(index: Index, text: str, learned: Learned | None = None) -> list[str]:
    return [hit.tool.id for hit in index.search(Query((text,), limit=TOP, learned=learned)).hits]


def _cells(means: Sequence[float]) -> str:
    return " | ".join([f"{means[0]:.3f}", *(f"{mean - means[0]:+.3f}" for mean in means[1:])])


def _corpora(options: argparse.Namespace) -> Iterator[tuple[str, list[Tool], list[LabelledQuery]]]:
    yield ("gym", *gym())
    for name in sets(options.data):
        tools = tools_of(read_rows(options.data / name / "catalog.jsonl"))
        queries = labelled(options.data / name / "queries.jsonl", tools, options.queries)
        yield name, tools, [each for each in queries if each.gold]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--queries", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
