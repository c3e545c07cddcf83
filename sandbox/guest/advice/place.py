"""Where in the source an error arose: the innermost frame of the program, and the expression that it was at."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.compilation import FILENAME

if TYPE_CHECKING:
    from types import FrameType, TracebackType


@dataclass(frozen=True, slots=True)
class Place:
    """A line and column (from 1 and 0), the variables there, and the expression in its tree, where they can be told."""

    line: int
    column: int | None
    local: dict[str, Any]
    node: ast.AST | None
    tree: ast.AST | None

    @classmethod
    def of(cls, error: BaseException, text: str) -> Place | None:
        """Find the place of an error, or None for one that arose outside of the program."""
        found = _innermost(error.__traceback__)
        if found is None:
            return None
        frame, traceback = found
        span = _span(traceback)
        tree = _tree(text) if span else None
        node = _node_at(tree, span) if tree and span else None
        return cls(
            traceback.tb_lineno, column_of(text, span[0], span[2]) if span else None, _variables(frame), node, tree
        )


def _innermost(traceback: TracebackType | None) -> tuple[FrameType, TracebackType] | None:
    found = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == FILENAME:
            found = (traceback.tb_frame, traceback)
        traceback = traceback.tb_next
    return found


def _variables(frame: FrameType) -> dict[str, Any]:
    """Return what the frame sees: its own variables, and those of the functions around a comprehension."""
    variables: dict[str, Any] = {}
    if (
        frame.f_code.co_name.startswith("<")
        and frame.f_back is not None
        and frame.f_back.f_code.co_filename == FILENAME
    ):
        variables.update(frame.f_back.f_locals)
    variables.update(frame.f_locals)
    return variables


def _span(traceback: TracebackType) -> tuple[int, int, int, int] | None:
    positions = traceback.tb_frame.f_code.co_positions()
    found = next(islice(positions, traceback.tb_lasti // 2, None), None)
    if found is None or None in found:
        return None
    line, end_line, column, end_column = found
    return (line, end_line, column, end_column)  # type: ignore[return-value]


def column_of(text: str, line: int, offset: int) -> int:
    """Return the column in characters; code and trees count in bytes of UTF-8."""
    found = "".join(text.split("\n")[line - 1 : line])
    return len(found.encode("utf-8", "replace")[:offset].decode("utf-8", "ignore"))


def _tree(text: str) -> ast.AST | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _node_at(tree: ast.AST, span: tuple[int, int, int, int]) -> ast.AST | None:
    found = None
    for node in ast.walk(tree):  # outer ones first: the innermost that fits is the last
        if isinstance(node, ast.expr | ast.stmt) and span == (
            node.lineno,
            node.end_lineno,
            node.col_offset,
            node.end_col_offset,
        ):
            found = node
    return found
