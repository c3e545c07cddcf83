"""Languages: search quality of queries in ten languages beside the same queries in English.

    python -m benchmarks.languages [--cache DIR] [--service URL MODEL]

The queries are those of `languages.yaml`, over the gym's operations. `--cache` also measures with the model of the
extra `embeddings`, and keeps its vectors in the folder. `--service` has an embedding service in its place.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from benchmarks.embeddings import settings_of
from benchmarks.search import gym
from codemode.search.evaluation.evaluation import TOP, LabelledQuery, evaluate
from codemode.search.index.index import Index
from codemode.search.query import Query
from codemode.search.semantic.embeddings import make_embedder
from codemode.search.semantic.query_vectors import QueryVectors
from codemode.search.semantic.similarity import EmbeddingIndex
from codemode.search.semantic.vectors import VectorCache

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

QUERIES = Path(__file__).with_name("languages.yaml")
PATIENCE_S = 60 * 60


def main() -> None:
    options = _options()
    tools, labelled = gym()
    by_words = Index.build(tools)
    indexes = {"by words": by_words}
    if options.cache:
        embedder = make_embedder(settings_of(options))
        vectors = QueryVectors(embedder, wait_s=PATIENCE_S)
        embeddings = EmbeddingIndex(tools, embedder, VectorCache(options.cache, embedder.name), vectors)
        embeddings.start()
        embeddings.wait(PATIENCE_S)
        indexes["with embeddings"] = by_words.with_embeddings(embeddings)
    print("| language | " + " | ".join(f"nDCG@10 {title} | of English" for title in indexes) + " |")
    print("|---" * (1 + 2 * len(indexes)) + "|")
    for row in table(indexes, labelled):
        print(row, flush=True)


def table(indexes: Mapping[str, Index], labelled: Sequence[LabelledQuery]) -> list[str]:
    """Return one row for each language, and the mean of those other than English."""
    gold = {each.query: each.gold for each in labelled}
    rows = yaml.safe_load(QUERIES.read_text(encoding="utf-8"))
    figures = {
        language: [
            _ndcg(index, [LabelledQuery(row[language], gold[row["en"]]) for row in rows]) for index in indexes.values()
        ]
        for language in rows[0]
    }
    english = figures["en"]
    others = [values for language, values in figures.items() if language != "en"]
    figures["mean of the others"] = [sum(column) / len(others) for column in zip(*others, strict=True)]
    return [
        f"| {language} | "
        + " | ".join(f"{value:.3f} | {value / own:.2f}" for value, own in zip(values, english, strict=True))
        + " |"
        for language, values in figures.items()
    ]


def _ndcg(index: Index, queries: Sequence[LabelledQuery]) -> float:
    def search(text: str) -> list[str]:
        return [hit.tool.id for hit in index.search(Query((text,), limit=TOP)).hits]

    return evaluate(search, queries).ndcg_10


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--service", nargs=2, metavar=("URL", "MODEL"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
