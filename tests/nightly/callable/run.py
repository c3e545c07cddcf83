"""How many operations of real documents are callable, as a table: `python tests/nightly/callable/run.py FILE …`.

A file is JSON or YAML, and may be packed (`.xz`). Exits with 1 where a document has fewer callable operations than
99.9 %, or more than 5 % of its parameters have no type.
"""

from __future__ import annotations

import argparse
import asyncio
import lzma
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from codemode.sources.documents.parse import parse_document
from tests.nightly.callable.measure import Report, measure

FEWEST_CALLABLE = 0.999
MOST_UNTYPED = 0.05


def read(path: Path) -> str:
    """The text of a document."""
    data = path.read_bytes()
    return (lzma.decompress(data) if path.suffix == ".xz" else data).decode("utf-8-sig")


def line(name: str, report: Report, seconds: float) -> str:
    """One row of the table."""
    share = 100 * report.untyped / max(report.parameters, 1)
    return (
        f"{name:34} {report.operations:6} {report.tried:6} {report.callable:6} "
        f"{100 * report.callable / max(report.tried, 1):7.2f} {report.by_second_opinion:6} {share:7.2f} {seconds:6.0f}"
    )


def main() -> None:
    """Measure every file in turn."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--most", type=int, help="operations of each document; else all, of very many a thousand")
    parser.add_argument("--show", type=int, default=0, help="failures of each document to print")
    options = parser.parse_args()
    print(f"{'document':34} {'ops':>6} {'tried':>6} {'called':>6} {'%':>7} {'second':>6} {'Any %':>7} {'CPU s':>6}")
    short = []
    for path in options.files:
        started = time.process_time()
        report = asyncio.run(measure(parse_document(read(path)), most=options.most))
        print(line(path.name.removesuffix(".xz"), report, time.process_time() - started), flush=True)
        for key, call, reason in report.failures[: options.show]:
            print(f"    {key} ({call}): {reason}")
        if options.show:
            for reason, count in Counter(report.reasons).most_common(5):
                print(f"    second opinion {count}: {reason}")
        few = report.callable < report.tried * FEWEST_CALLABLE and report.tried - report.callable > 1
        if few or report.untyped > report.parameters * MOST_UNTYPED:
            short.append(path.name)
    if short:
        sys.exit(f"short of the goal: {', '.join(short)}")


if __name__ == "__main__":
    main()
