"""Embeddings: search quality and time on retrieval sets, with words alone and with a local model.

    python -m benchmarks.embeddings --data DIR --cache DIR [--mix DIR] [--service URL MODEL] [--queries 150]

`--cache` is a folder that keeps vectors between runs. `--mix` is a folder whose catalogs are mixed into each set.
`--service` has an embedding service in place of the model of the extra `embeddings`.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.retrieval import labelled, read_rows, sets, tools_of
from codemode.search.evaluation.evaluation import TOP, Metrics, evaluate, mean
from codemode.search.index.index import Index
from codemode.search.query import Query
from codemode.search.semantic.embeddings import make_embedder
from codemode.search.semantic.query_vectors import QueryVectors
from codemode.search.semantic.similarity import EmbeddingIndex
from codemode.search.semantic.vectors import VectorCache
from codemode.settings import LocalEmbeddings, ServiceEmbeddings

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.search.evaluation.evaluation import LabelledQuery

PATIENCE_S = 3 * 60 * 60


def main() -> None:
    options = _options()
    embedder = make_embedder(settings_of(options))
    print(f"{datetime.now(UTC):%Y-%m-%d}, Python {sys.version.split()[0]}, {embedder.name}")
    print("| set | tools | queries | nDCG@10 by words | recall@10 | nDCG@10 with embeddings | recall@10 | ms more |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    mixed = (
        [row for path in sorted(options.mix.rglob("catalog.jsonl")) for row in read_rows(path)] if options.mix else []
    )
    compared: list[tuple[Metrics, Metrics]] = []
    for name in [*sets(options.data), *(["aws_examples"] if mixed else [])]:
        own = options.data / name / "catalog.jsonl"
        tools = tools_of((read_rows(own) if own.exists() else []) + mixed)
        queries = labelled(options.data / name / "queries.jsonl", tools, options.queries)
        vectors = QueryVectors(embedder, wait_s=PATIENCE_S)
        embeddings = EmbeddingIndex(tools, embedder, VectorCache(options.cache, embedder.name), vectors)
        compared.append(_compare(name, tools, queries, embeddings))
    for title, rows in (
        ("mean", compared),
        ("mean without aws_examples", compared[: len(sets(options.data))]),
    ):
        words, both = mean([row[0] for row in rows]), mean([row[1] for row in rows])
        figures = f"{words.ndcg_10:.3f} | {words.recall_10:.3f} | {both.ndcg_10:.3f} | {both.recall_10:.3f}"
        print(f"| {title} | | | {figures} | |")


def settings_of(options: argparse.Namespace) -> LocalEmbeddings | ServiceEmbeddings:
    """Return the settings for the option `--service`."""
    if options.service is None:
        return LocalEmbeddings(kind="local")
    base_url, model = options.service
    return ServiceEmbeddings(kind="openai", base_url=base_url, model=model)


def _compare(
    name: str, tools: list[Tool], queries: list[LabelledQuery], embeddings: EmbeddingIndex
) -> tuple[Metrics, Metrics]:
    by_words = Index.build(tools)
    # `EmbeddingIndex` expects the tools in the order of the index.
    if [tool.id for tool in by_words.tools] != [tool.id for tool in tools]:
        sys.exit("the index has reordered the tools")
    with_embeddings = by_words.with_embeddings(embeddings)
    embeddings.start()
    if not embeddings.wait(PATIENCE_S) or not embeddings.progress.is_ready:
        sys.exit(embeddings.progress.problem)
    with_embeddings.search(Query(tuple(each.query for each in queries), limit=1))  # embeds all queries
    (words, plain_ms), (both, fused_ms) = _measured(by_words, queries), _measured(with_embeddings, queries)
    more_ms = fused_ms - plain_ms
    figures = f"{words.ndcg_10:.3f} | {words.recall_10:.3f} | {both.ndcg_10:.3f} | {both.recall_10:.3f} | {more_ms:.2f}"
    print(f"| {name} | {len(tools)} | {len(queries)} | {figures} |", flush=True)
    return words, both


def _measured(index: Index, queries: list[LabelledQuery]) -> tuple[Metrics, float]:
    """Return the metrics, and the processor time per query in milliseconds, with warm caches."""

    def search(text: str) -> list[str]:
        return [hit.tool.id for hit in index.search(Query((text,), limit=TOP)).hits]

    metrics = evaluate(search, queries)
    begun = time.thread_time()
    for each in queries:
        search(each.query)
    return metrics, (time.thread_time() - begun) * 1000 / len(queries)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--mix", type=Path)
    parser.add_argument("--service", nargs=2, metavar=("URL", "MODEL"))
    parser.add_argument("--queries", type=int, default=150)
    return parser.parse_args()


if __name__ == "__main__":
    main()
