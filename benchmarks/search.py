"""Search beside its peers, on the same tools and queries: quality, time and ratios.

    python -m benchmarks.search [--document FILE ...] [--data DIR] [--mix DIR] [--queries 60] [--ablate]

The gym's 137 operations and labelled queries are always measured. `--document` adds an API document, for the time of
the gym's queries. `--data` adds a folder of retrieval sets. `--mix` is a folder whose catalogs are mixed into each set.
`--ablate` prints an ablation study instead, on the sets alone and, with `--mix`, mixed. Exits with 1 if a peer did not
run.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.retrieval import Row, labelled, read_rows, sets, tools_of
from benchmarks.search_ablation import AS_GIVEN, ablate
from benchmarks.search_rankers import PEERS, Ours, Ranker
from codemode.catalog.catalog import Catalog
from codemode.search.evaluation.evaluation import LabelledQuery, evaluate, read_labelled, with_typos
from codemode.sources.documents.parse import parse_document
from codemode.sources.openapi.document import load_openapi

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.search_ablation import Corpus
    from codemode.catalog.tool import Tool

SLOW = {"FastMCP BM25": 12, "rapidfuzz": 12}  # number of queries for slow peers on a large catalog
LARGE = 5_000  # tools


def main() -> None:
    options = _options()
    print(f"{datetime.now(UTC):%Y-%m-%d}, Python {sys.version.split()[0]}")
    print(", ".join(f"{name} {version(name)}" for name in ("fastmcp", "bm25s", "tantivy", "rapidfuzz")))
    if options.ablate:
        ablate(_corpora(options))
        return
    work = {"gym": gym()} | _sets(options)
    ran = [compare(name, *each) for name, each in work.items()]
    for path in options.document:
        document = list(_catalog(path))
        ran.append(compare(path.stem, document, [LabelledQuery(each.query, ()) for each in work["gym"][1]]))
    if not all(ran):
        sys.exit("a peer did not run")


def gym() -> tuple[list[Tool], list[LabelledQuery]]:
    """Return the gym's operations and labelled queries."""
    folder = files("api_specs.gym")
    tools = list(_catalog(Path(str(folder / "openapi.yaml"))))
    return tools, read_labelled(Path(str(folder / "queries.yaml")), Catalog(tools))


def compare(name: str, tools: Sequence[Tool], queries: Sequence[LabelledQuery]) -> bool:
    """Print a table for one catalog. Return whether every peer ran."""
    print(f"\n{name}: {len(tools)} tools, {len(queries)} queries")
    print("| ranker | nDCG@10 | recall@1 | recall@10 | all in 10 | typos nDCG | build s | p50 ms | p99 ms | x ours |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    ours = _row("codemode", Ours(), tools, queries, None)
    ran = True
    for peer, make in PEERS.items():
        count = SLOW.get(peer, len(queries)) if len(tools) > LARGE else len(queries)
        try:
            _row(peer, make(), tools, queries[:count], ours)
        except ImportError as error:
            ran = False
            print(f"| {peer} | did not run: {error} |")
    return ran


def _row(
    name: str, ranker: Ranker, tools: Sequence[Tool], queries: Sequence[LabelledQuery], ours: float | None
) -> float:
    started = time.perf_counter()
    ranker.build(tools)
    build_s = time.perf_counter() - started
    times = []

    def timed(query: str) -> list[str]:
        begun = time.perf_counter()
        ids = ranker.search(query)
        times.append((time.perf_counter() - begun) * 1000)
        return ids

    if queries and queries[0].gold:
        clean = evaluate(timed, queries)
        mistyped = [LabelledQuery(with_typos(each.query), each.gold) for each in queries]
        typos = f"{evaluate(ranker.search, mistyped).ndcg_10:.3f}"
        quality = f"{clean.ndcg_10:.3f} | {clean.recall_1:.3f} | {clean.recall_10:.3f} | {clean.all_gold:.3f} | {typos}"
    else:
        quality = " | ".join("-" * 5)
        for each in queries:
            timed(each.query)
    median, late = _share(times, 0.5), _share(times, 0.99)
    ratio = "1" if ours is None else f"{median / ours:.1f}"
    print(f"| {name} | {quality} | {build_s:.2f} | {median:.2f} | {late:.2f} | {ratio} |", flush=True)
    return median


def _share(times: Sequence[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def _corpora(options: argparse.Namespace) -> Iterator[Corpus]:
    """Yield the gym and the sets alone, then each set mixed with other tools."""
    yield AS_GIVEN, "gym", gym
    names = sets(options.data) if options.data else []
    for name in names:
        yield AS_GIVEN, name, partial(_set, options, name)
    for name in [*names, "aws_examples"] if options.mix else []:
        yield "mixed", name, partial(_mixed_set, options, name)


def _sets(options: argparse.Namespace) -> dict[str, tuple[list[Tool], list[LabelledQuery]]]:
    mixed = _mixed(options)
    return {name: _set(options, name, mixed) for name in (sets(options.data) if options.data else [])}


def _mixed(options: argparse.Namespace) -> list[Row]:
    paths = sorted(options.mix.rglob("catalog.jsonl")) if options.mix else []
    return [row for path in paths for row in read_rows(path)]


def _mixed_set(options: argparse.Namespace, name: str) -> tuple[list[Tool], list[LabelledQuery]]:
    return _set(options, name, _mixed(options))


def _set(options: argparse.Namespace, name: str, mixed: Sequence[Row] = ()) -> tuple[list[Tool], list[LabelledQuery]]:
    own = options.data / name / "catalog.jsonl"
    tools = tools_of([*(read_rows(own) if own.exists() else ()), *mixed])
    return tools, labelled(options.data / name / "queries.jsonl", tools, options.queries)


def _catalog(path: Path) -> Catalog:
    document = parse_document(path.read_text(encoding="utf-8"), location=str(path))
    return Catalog(load_openapi(document, name=path.parent.name if path.stem == "openapi" else path.stem).tools)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--document", type=Path, nargs="*", default=[])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--mix", type=Path)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--ablate", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
