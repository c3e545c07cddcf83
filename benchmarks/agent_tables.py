"""Tables and the plot of docs/benchmarks/agents.md and agent-suites.md, from the figures in benchmarks/agents.

    python -m benchmarks.agent_tables          prints the tables that a page lacks; exit code 1 if there are any
    python -m benchmarks.agent_tables --write  writes them into the pages

A comment in the page names a table and its files, and the table follows:

    <!-- Gold programs of gold-gym.jsonl gold-tau2.jsonl.xz -->

The plot docs/benchmarks/crossing.svg is drawn from the same figures.

`Origin` is a list of dates, versions and commits. `Costs` and `Lost requests` are in no report: the costs of a task at
the prices of `benchmarks/agents/prices.yaml`, and what players said of the requests that they lost, in files like
`remarks.tsv` (mode, block, request, cause, text). Names of files may have wildcards.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from benchmarks.crossing_plot import crossing_svg
from benchmarks.crossing_tables import crossing, sizes
from codemode.bench.measures import Price
from codemode.bench.pairs import overall
from codemode.bench.report import markdown_table, origins_of
from codemode.bench.results import read_all, text_of
from codemode.bench.tables import Table, tables_of
from codemode.errors import ConfigurationError
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.results import Result

ROOT = Path(__file__).parents[1]
PAGES = tuple(ROOT / "docs" / "benchmarks" / name for name in ("agents.md", "agent-suites.md"))
PLOT = ROOT / "docs" / "benchmarks" / "crossing.svg"
FIGURES = ROOT / "benchmarks" / "agents"

#: A comment that names a table, and the lines of the table or list after it.
_MARK = re.compile(r"(?P<mark><!-- (?P<title>[A-Z][\w ]+?) of (?P<files>[^>]+?) -->\n\n?)(?:[|-].*\n)*\n*")


def filled(page: str, folder: Path = FIGURES) -> str:
    """Return the page with its marked tables as the files give them. Raises ConfigurationError."""
    new = _MARK.sub(lambda found: f"{found['mark'].rstrip()}\n\n{_content(found, folder)}\n\n", page)
    return new.rstrip("\n") + "\n"


def _content(mark: re.Match[str], folder: Path) -> str:
    if mark["title"] == "Lost requests":
        return markdown_table(_lost([file for pattern in mark["files"].split() for file in _matching(folder, pattern)]))
    results = read_all([file for pattern in mark["files"].split() for file in _matching(folder, pattern)])
    if mark["title"] == "Origin":
        return origins_of(results)
    if mark["title"] == "Costs":
        return markdown_table(_costs(results, folder / "prices.yaml"))
    tables = {table.title: table for table in (*tables_of(results), *_crossing(results, folder / "prices.yaml"))}
    if mark["title"] not in tables:
        known = did_you_mean(mark["title"], tables) or f"; there are: {', '.join(tables)}"
        message = f"{mark['files']} give no table {mark['title']!r}{known}"
        raise ConfigurationError(message)
    return markdown_table(tables[mark["title"]])


def _crossing(results: Sequence[Result], file: Path) -> list[Table]:
    """Return the tables of the crossing, at the first price list, if it was played."""
    if any(one.suite != "crossing" for one in results):
        return []
    return [crossing(results, _first_price(file)), sizes(results)]


def plotted(folder: Path = FIGURES) -> str:
    """Return the plot of the crossing, at the first price list."""
    return crossing_svg(read_all([folder / "crossing.jsonl.xz"]), _first_price(folder / "prices.yaml"))


def _first_price(file: Path) -> Price:
    return next(iter(_prices(file).values()))


def _prices(file: Path) -> dict[str, Price]:
    return {one["name"]: Price.parsed(one["prices"]) for one in yaml.safe_load(file.read_text(encoding="utf-8"))}


def _costs(results: Sequence[Result], file: Path) -> Table:
    """Return the mean cost of a task in US cents, by mode and price list."""
    prices = _prices(file)
    rows = [
        [group.model, group.mode, group.policy, *(f"{100 * group.cost(price):.2f}" for price in prices.values())]
        for group in overall(results)
    ]
    return Table("Costs", ("model", "mode", "policy", *prices), rows)


def _lost(files: Sequence[Path]) -> Table:
    """Return how many requests players called lost, by cause and mode."""
    lines = [line.split("\t") for file in files for line in text_of(file).splitlines()]
    counts = Counter((cause, mode) for mode, _, _, cause, *_ in lines)
    modes = sorted({mode for _, mode in counts})
    causes = Counter(cause for _, _, _, cause, *_ in lines)
    rows = [[cause, *(str(counts[cause, mode] or "") for mode in modes)] for cause, _ in causes.most_common()]
    return Table("Lost requests", ("cause", *modes), rows)


def _matching(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern)) or [folder / pattern]


def main() -> int:
    """Compare the pages with the files, or write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the tables into the pages")
    writes, differing = parser.parse_args().write, 0
    made = {file: filled(file.read_text(encoding="utf-8")) for file in PAGES} | {PLOT: plotted()}
    for file, new in made.items():
        if writes:
            file.write_text(new, encoding="utf-8")
            continue
        old = file.read_text(encoding="utf-8")
        differing += new != old
        print("\n".join(line for line in new.splitlines() if line not in old.splitlines()))
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
