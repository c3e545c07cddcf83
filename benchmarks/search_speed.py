"""Search at one catalog size: processor time of queries, of building and of loading an index, and memory.

    python -m benchmarks.search_speed --data DIR [--sets NAME ...] [--mix DIR] [--tools COUNT] [--queries 60]

The catalog combines the `--sets` (all by default) in the folder `--data` with all catalogs in `--mix`. Its rows are
repeated under other names up to `--tools`. The queries of all sets run once with cold caches and three times with warm
ones, in one thread. Each run measures one size, as a second catalog would find warm caches.
"""

from __future__ import annotations

import argparse
import gc
import random
import re
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.retrieval import labelled, read_rows, sets, tools_of
from codemode.catalog.catalog import Catalog
from codemode.search.index import storage
from codemode.search.index.index import Index

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.retrieval import Row

WARM_PASSES = 3
OPENINGS = 5


def main() -> None:
    """Read the command line, measure, print."""
    options = _options()
    catalog = Catalog(tools_of(_rows(options)))
    files = sorted(options.data.glob("*/queries.jsonl"))
    queries = [each.query for path in files for each in labelled(path, [], options.queries)]
    random.Random(3).shuffle(queries)  # noqa: S311
    lengths = [len(query.split()) for query in queries]
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {sys.version.split()[0]}, numpy {np.__version__}")
    index = build(catalog)
    print("loaded from a file of {:.0f} MiB in {:.3f} s".format(*opened(index, catalog)))
    middle = f"words: mean {statistics.mean(lengths):.0f}, median {statistics.median(lengths):.0f}"
    print(f"{len(queries)} queries, {middle}")
    ask(index, queries, lengths)


def build(catalog: Catalog) -> Index:
    """Build an index, and print the time and the memory."""
    gc.collect()
    before_mib = _resident_mib()
    begun = time.process_time()
    index = Index.build(catalog)
    build_s = time.process_time() - begun
    gc.collect()
    print(f"{len(catalog):,} tools built in {build_s:.2f} s, {_resident_mib() - before_mib:.0f} MiB over the catalog")
    return index


def opened(index: Index, catalog: Catalog) -> tuple[float, float]:
    """Return the size of the index file in MiB, and the median time to load it in seconds."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        storage.save(index, path)
        for _ in range(OPENINGS):
            begun = time.process_time()
            assert storage.load(path, catalog, index.weights) is not None
            seconds.append(time.process_time() - begun)
        return path.stat().st_size / 2**20, statistics.median(seconds)


def ask(index: Index, queries: Sequence[str], lengths: Sequence[int]) -> None:
    """Print the processor time of queries in milliseconds. Warm times are medians over the passes."""
    cold = _times_ms(index, queries)
    warm = [_times_ms(index, queries) for _ in range(WARM_PASSES)]
    each_word, each_query = np.polyfit(lengths, np.median(warm, axis=0), 1)
    print("\n| tools | p50 warm | p99 warm | p50 cold | p99 cold |\n|---|---|---|---|---|")
    quantiles = [*np.median(np.quantile(warm, (0.5, 0.99), axis=1), axis=1), *np.quantile(cold, (0.5, 0.99))]
    print(f"| {len(index):,} | {' | '.join(f'{value:.2f} ms' for value in quantiles)} |")
    print(f"\nwarm, fitted: {each_query:.2f} ms plus {each_word:.3f} ms per word")


def _times_ms(index: Index, queries: Sequence[str]) -> list[float]:
    times = []
    for query in queries:
        begun = time.process_time_ns()
        index.search(query)
        times.append((time.process_time_ns() - begun) / 1e6)
    return times


def _rows(options: argparse.Namespace) -> list[Row]:
    own = [options.data / name / "catalog.jsonl" for name in options.sets or sets(options.data)]
    others = sorted(options.mix.rglob("catalog.jsonl")) if options.mix else []
    rows = [row for path in (*own, *others) for row in read_rows(path)]
    missing = max(options.tools - len(rows), 0)
    copies = [
        {**row, "id": f"{row['id']}_copy_{place}", "name": f"{row['name']}_copy"}
        for place, row in enumerate(islice(cycle(rows), missing))
    ]
    return rows + copies


def _resident_mib() -> float:
    """Return the resident memory of this process, by proc_pid_status(5)."""
    match = re.search(r"^VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.M)
    assert match is not None
    return int(match[1]) / 1024


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--mix", type=Path)
    parser.add_argument("--tools", type=int, default=0)
    parser.add_argument("--queries", type=int, default=60)
    return parser.parse_args()


if __name__ == "__main__":
    main()
