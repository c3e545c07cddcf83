"""Attempts side by side: the tasks of a suite in rows, the modes of a model in columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.results import Result


@dataclass(frozen=True, slots=True)
class Matrix:
    """The attempts of one suite and model, by task and column. A column is a mode, with its policy if it has one."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Sequence[Result]]]]


def matrices_of(results: Sequence[Result]) -> list[Matrix]:
    """Return a matrix for each suite and model with several columns or repeats."""
    found: dict[str, list[Result]] = {}
    for one in results:
        found.setdefault(f"{one.suite}, {one.model}", []).append(one)
    matrices = [_matrix(title, attempts) for title, attempts in found.items()]
    return [one for one in matrices if any(len(cell) > 1 or len(cells) > 1 for _, cells in one.rows for cell in cells)]


def _matrix(title: str, results: Sequence[Result]) -> Matrix:
    columns = list(dict.fromkeys(map(_column, results)))
    cells: dict[str, dict[str, list[Result]]] = {}
    for one in results:
        cells.setdefault(one.task, {}).setdefault(_column(one), []).append(one)
    return Matrix(title, columns, [(task, [row.get(name, []) for name in columns]) for task, row in cells.items()])


def _column(result: Result) -> str:
    return result.mode if result.policy == "off" else f"{result.mode}, {result.policy}"
