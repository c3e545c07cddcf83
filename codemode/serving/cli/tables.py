"""Tables that fit the terminal. What a reader must copy, such as an id, is never cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from codemode.serving.output import terminal as show

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_GAP = "  "

#: Least columns that remain of a cell that is cut.
_LEAST = 8


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]], *, may_be_cut: Collection[str]) -> None:
    """Print one line per row. On a terminal, the columns in `may_be_cut` are shortened to its width."""
    width = show.console.width if show.console.is_terminal else None
    for number, line in enumerate(table_lines(titles, rows, may_be_cut=may_be_cut, width=width)):
        show.console.print(show.plain(line, style="" if number else "dim"), soft_wrap=True)


def table_lines(
    titles: Sequence[str], rows: Sequence[Sequence[str]], *, may_be_cut: Collection[str], width: int | None
) -> list[str]:
    """Return the header and the rows as aligned lines of at most `width` columns, if `may_be_cut` gives enough room."""
    lines = [titles, *([" ".join(cell.split()) for cell in row] for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    if width is not None:
        excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
        widths = _narrowed(widths, [titles.index(title) for title in may_be_cut], excess)
    return [_GAP.join(map(_cell, line, widths)).rstrip() for line in lines]


def _narrowed(widths: list[int], columns: list[int], excess: int) -> list[int]:
    """Take `excess` from these columns, always from the widest of them."""
    narrowed = list(widths)
    for _ in range(excess if columns else 0):
        widest = max(columns, key=narrowed.__getitem__)
        if narrowed[widest] <= _LEAST:
            break
        narrowed[widest] -= 1
    return narrowed


def _cell(text: str, width: int) -> str:
    return set_cell_size(text, width) if cell_len(text) <= width else f"{set_cell_size(text, width - 1)}…"
