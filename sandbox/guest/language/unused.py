"""Functions that nothing in a program calls: a builtin that is left out is no reason to refuse it there.

Models leave helpers behind (`def load(path): return open(path).read()`) that the rest of the program never names.
This decides when a mistake is told, not what may happen: called after all, such a builtin is not there.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sandbox.guest.language.variables import is_dunder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.outcome import Refusal

Function = ast.FunctionDef | ast.AsyncFunctionDef


class UnusedFunctions:
    """The bodies of functions whose names stand nowhere outside of themselves, neither in the code nor as text."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text)  # once more: the policy has rewritten the tree that it looked at
        mentions = [mention for node in ast.walk(tree) if (mention := _mention(node)) is not None]
        self._bodies = [
            (_start(function.body[0]), _end(function))
            for function in _candidates(tree)
            if all(name != function.name or _is_within(node, function) for name, node in mentions)
        ]

    def hold(self, refusal: Refusal) -> bool:
        """Tell whether what is refused stands in one of them."""
        return any(start <= (refusal.line, refusal.column) <= end for start, end in self._bodies)


def _candidates(tree: ast.Module) -> Iterator[Function]:
    """Functions at the top level, and methods of classes that inherit nothing: a library calls what it inherits."""
    for statement in tree.body:
        is_plain = not getattr(statement, "decorator_list", None)
        if isinstance(statement, Function) and is_plain:
            yield statement
        elif isinstance(statement, ast.ClassDef) and is_plain and not statement.bases and not statement.keywords:
            yield from (
                method
                for method in statement.body
                if isinstance(method, Function) and not method.decorator_list and not is_dunder(method.name)
            )


def _mention(node: ast.AST) -> tuple[str, ast.expr] | None:
    if isinstance(node, ast.Name):
        return node.id, node
    if isinstance(node, ast.Attribute):
        return node.attr, node
    return (node.value, node) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_within(node: ast.expr, function: Function) -> bool:
    return _start(function) <= _start(node) <= _end(function)


def _start(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: Function) -> tuple[int, int]:
    assert node.end_lineno is not None and node.end_col_offset is not None  # noqa: S101  # it was parsed
    return node.end_lineno, node.end_col_offset
