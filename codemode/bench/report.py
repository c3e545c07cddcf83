"""Report results as Markdown: tables, and the attempts that did not solve their task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.bench.tables import tables_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.measures import Price
    from codemode.bench.results import Result
    from codemode.bench.tables import Table

#: Characters of the reason why an attempt did not solve its task.
_REASON = 300


def markdown_of(results: Sequence[Result], price: Price | None = None) -> str:
    """Return the tables, where the results come from, and one line for each attempt that did not solve its task."""
    tables = [
        f"## {table.title}\n\n{markdown_table(table)}\n\n{table.notes.strip()}" for table in tables_of(results, price)
    ]
    failed = "\n".join(_failure(one) for one in results if not one.solved)
    listed = f"## Not solved\n\n{failed}" if failed else ""
    return "\n\n".join(filter(None, (*tables, origins_of(results), listed))) + "\n"


def markdown_table(table: Table) -> str:
    """Return a table in Markdown."""
    return "\n".join(map(_row, (table.titles, ["---"] * len(table.titles), *table.rows)))


def _row(cells: Sequence[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def origins_of(results: Sequence[Result]) -> str:
    """Return one sentence for each way in which results came about, such as their date, commit and seed."""
    found = {", ".join(f"{name} {value}" for name, value in one.about.items()): None for one in results if one.about}
    return "\n".join(f"- {one}." for one in found)


def _failure(result: Result) -> str:
    reason = " ".join(result.reason.split())[:_REASON]
    return f"- {result.suite} `{result.task}`" + (f": {reason}" if reason else "")
