"""Everyday questions and requests of several steps, as people write them.

    python -m benchmarks.search_requests [--document FILE ...] [--show]

A document is called as its file, up to the first dot: `github.json.xz` is `github`. The gym is always there. Lines in
`requests` are `SURFACE|REQUEST|TOOLS`: ends of ids, those of each clause behind a semicolon, alternatives behind a
comma. Counted are the clauses, and the whole requests, with their tools among the first 1, 3, 5 and 10 hits.

- `everyday-seen`: single questions that were looked at while the ranking was made.
- `steps`, and `steps-held`, whose results nobody saw before the ranking was done.
- `everyday` has no labels: `--show` prints the first ten hits, to be judged by eye.
"""

from __future__ import annotations

import argparse
import math
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.search_lookups import tools_in
from codemode.search.index.index import Index
from codemode.search.query import Query

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parent / "requests"
COUNTED = ("everyday-seen", "steps", "steps-held")
DEPTHS = (1, 3, 5, 10)


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--document", type=Path, nargs="*", default=[])
    parser.add_argument("--show", action="store_true", help="print the hits of everyday questions")
    options = parser.parse_args()
    documents = {"gym": Path(str(files("api_specs.gym") / "openapi.yaml"))}
    documents |= {path.name.partition(".")[0]: path for path in options.document}
    indexes = {name: Index.build(tools_in(path)) for name, path in documents.items()}
    depths = " | ".join(f"in {depth}" for depth in DEPTHS)
    print(f"| file | clauses | {depths} | requests | {depths} |")
    print(f"|---|{'---|' * 2 * (len(DEPTHS) + 1)}")
    for name in COUNTED:
        clauses, requests = counted(FOLDER / f"{name}.txt", indexes)
        print(f"| {name} | {' | '.join(map(str, (*clauses, *requests)))} |")
    for name, question in _lines(FOLDER / "everyday.txt") if options.show else ():
        if name in indexes:
            print(f"\n{name}: {question}")
            for place, id_ in enumerate(_ids(indexes[name], question), 1):
                print(f"{place:4} {id_}")


def counted(file: Path, indexes: Mapping[str, Index]) -> tuple[list[int], list[int]]:
    """Return how many clauses there are and have a tool within each of `DEPTHS`, and the same of whole requests."""
    clauses, requests = [0] * (len(DEPTHS) + 1), [0] * (len(DEPTHS) + 1)
    for name, request, wanted in _lines(file):
        if name not in indexes:
            continue
        ids = _ids(indexes[name], request)
        needed = [tuple(f".{tool}" for tool in clause.split(",")) for clause in wanted.split(";")]
        ranks = [next((rank for rank, id_ in enumerate(ids, 1) if id_.endswith(tools)), math.inf) for tools in needed]
        for column, depth in enumerate((math.inf, *DEPTHS)):
            clauses[column] += sum(rank <= depth for rank in ranks)
            requests[column] += all(rank <= depth for rank in ranks)
    return clauses, requests


def _ids(index: Index, text: str) -> list[str]:
    return [hit.tool.id for hit in index.search(Query((text,), limit=DEPTHS[-1])).hits]


def _lines(file: Path) -> list[list[str]]:
    return [line.split("|") for line in file.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
