"""Functions that nothing in a program calls: a builtin that is left out is no reason to refuse it there.

Models leave helpers behind (`def load(path): return open(path).read()`) that the rest of the program never names.
This decides when a mistake is told, not what may happen: called after all, such a builtin is not there.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from sandbox.guest.language.variables import is_dunder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.outcome import Refusal

Function = ast.FunctionDef | ast.AsyncFunctionDef
#: Decorators that call nothing.
_DECORATORS = frozenset({"staticmethod", "classmethod", "property"})


class _Body(NamedTuple):
    """What of the source a call of the function runs."""

    name: str
    start: tuple[int, int]
    end: tuple[int, int]

    def holds(self, line: int, column: int) -> bool:
        return self.start <= (line, column) <= self.end


class UnusedFunctions:
    """The bodies of functions whose names stand nowhere outside of such bodies, neither in the code nor as text."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text)  # once more: the policy has rewritten the tree that it looked at
        mentions = [mention for node in ast.walk(tree) if (mention := _mention(node)) is not None]
        unused, used = list(_candidates(tree)), True
        while used:
            called = {name for name, line, column in mentions if not any(each.holds(line, column) for each in unused)}
            used = any(each.name in called for each in unused)
            unused = [each for each in unused if each.name not in called]
        self._bodies = unused
        self._last = tree.body[-1] if tree.body else None

    def last(self) -> str | None:
        """Return what would call the function that the program ends with, where it is one of them."""
        last = self._last
        if not isinstance(last, Function) or all(each.name != last.name for each in self._bodies):
            return None
        return f"{'await ' if isinstance(last, ast.AsyncFunctionDef) else ''}{last.name}()"

    def hold(self, refusal: Refusal) -> bool:
        """Tell whether what is refused stands in one of them."""
        return any(each.holds(refusal.line, refusal.column) for each in self._bodies)


def _candidates(tree: ast.Module) -> Iterator[_Body]:
    """Functions at the top level, and methods of classes that inherit nothing: a library calls what it inherits."""
    for statement in tree.body:
        if isinstance(statement, Function) and not statement.decorator_list:
            yield _body(statement)
        elif isinstance(statement, ast.ClassDef) and not (
            statement.decorator_list or statement.bases or statement.keywords
        ):
            yield from (
                _body(method)
                for method in statement.body
                if isinstance(method, Function)
                and not is_dunder(method.name)
                and all(map(_calls_nothing, method.decorator_list))
            )


def _calls_nothing(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id in _DECORATORS


def _body(node: Function) -> _Body:
    first, end = node.body[0], (node.end_lineno or 0, node.end_col_offset or 0)
    return _Body(node.name, (first.lineno, first.col_offset), end)


def _mention(node: ast.AST) -> tuple[str, int, int] | None:
    if isinstance(node, ast.Name):
        return node.id, node.lineno, node.col_offset
    if isinstance(node, ast.Attribute):
        return node.attr, node.lineno, node.col_offset
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value, node.lineno, node.col_offset
    return None
