"""An error and its surroundings: the line and expression where it arose, and the values there."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING, Any

from sandbox.guest.advice.values import parts, value_of
from sandbox.guest.language.compilation import FILENAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType, TracebackType

    #: The names of tool namespaces and functions, each with the parameters that it takes as a function.
    Roots = Mapping[str, Sequence[str]]


class Situation:
    """An error and the innermost place of the program that it came through.

    `line` counts from 1 and `column` from 0; both are None outside of the program. `node` is the expression that
    failed, in its `tree`; both are None if Python does not tell.
    """

    def __init__(self, error: BaseException, message: str, text: str, variables: dict[str, Any], roots: Roots) -> None:
        self.error = error
        self.message = message
        self.variables = variables
        self.names = sorted(roots)
        self.namespaces = [name for name in self.names if not roots[name]]
        self.line: int | None = None
        self.column: int | None = None
        self.node: ast.AST | None = None
        self.tree: ast.AST | None = None
        if traces := program_traces(error.__traceback__):
            self._find(traces[-1], text)

    def _find(self, trace: TracebackType, text: str) -> None:
        self.line = trace.tb_lineno
        self.variables = {**self.variables, **_variables(trace.tb_frame)}
        span = _span(trace)
        if span is not None:
            self.column = column_of(text, span[0], span[2])
            self.tree = _tree(text)
            fitting = [node for node in parts(self.tree) if _span_of(node) == span]
            self.node = fitting[-1] if fitting else None  # the innermost one

    def value(self, node: ast.AST | None) -> Any:
        """Return the value of an expression, or UNKNOWN."""
        return value_of(node, self.variables)


def program_traces(trace: TracebackType | None) -> list[TracebackType]:
    """Return the steps of a traceback that belong to the program, outermost first."""
    found = []
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            found.append(trace)
        trace = trace.tb_next
    return found


def _variables(frame: FrameType) -> dict[str, Any]:
    """Return the variables of a frame, with those of the function around a comprehension."""
    outer = frame.f_back if frame.f_code.co_name.startswith("<") else None
    is_inside = outer is not None and outer.f_code.co_filename == FILENAME
    return {**outer.f_locals, **frame.f_locals} if outer is not None and is_inside else frame.f_locals


def _span(trace: TracebackType) -> tuple[int, ...] | None:
    """Return line, end line, column and end column of the instruction that failed."""
    positions = trace.tb_frame.f_code.co_positions()
    found = next(islice(positions, trace.tb_lasti // 2, None), None)
    return tuple(map(int, found)) if found is not None and None not in found else None  # type: ignore[arg-type]


def _span_of(node: ast.AST) -> tuple[int | None, ...] | None:
    if not isinstance(node, ast.expr | ast.stmt):
        return None
    return (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)


def column_of(text: str, line: int, offset: int) -> int:
    """Return a column in characters; Python counts in bytes of UTF-8."""
    found = "".join(text.split("\n")[line - 1 : line])
    return len(found.encode("utf-8", "replace")[:offset].decode("utf-8", "ignore"))


def _tree(text: str) -> ast.AST | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
