"""Functions that a program defines and never calls, and the variable that it ends with.

Models leave helpers behind (`def load(path): return open(path).read()`). A builtin that is not available is no reason
to refuse a program if only such a helper calls it. This decides when a mistake is reported, not what may run.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sandbox.guest.language.variables import is_dunder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.outcome import Refusal

Function = ast.FunctionDef | ast.AsyncFunctionDef
#: Decorators that call nothing.
_DECORATORS = frozenset({"staticmethod", "classmethod", "property"})
#: Methods that put something into a list, a set or a dict.
_PUTS = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})


class Leftovers:
    """Functions of a program whose names stand nowhere outside of their bodies, neither as code nor as text."""

    def __init__(self, text: str) -> None:
        self._tree = tree = ast.parse(text)  # once more: the policy has rewritten the first one
        mentions = [mention for node in ast.walk(tree) for mention in _mentions(node)]
        unused, called = list(_candidates(tree)), {""}
        while called:
            names = {name for name, place in mentions if not any(_holds(each, place) for each in unused)}
            called = names & {each.name for each in unused}
            unused = [each for each in unused if each.name not in called]
        self._unused = unused

    def last_call(self) -> str | None:
        """Return what would call the function that the program ends with, if nothing calls it."""
        last = self._tree.body[-1] if self._tree.body else None
        if not isinstance(last, Function) or last.name not in {each.name for each in self._unused}:
            return None
        return f"{'await ' if isinstance(last, ast.AsyncFunctionDef) else ''}{last.name}()"

    def hold(self, refusal: Refusal) -> bool:
        """Return whether a refusal is about an unused function."""
        return any(_holds(each, (refusal.line, refusal.column)) for each in self._unused)

    def last_variable(self) -> str:
        """Return the variable that the program assigns to, or puts something into, at its end."""
        return _last_variable(self._tree.body)


def _candidates(tree: ast.Module) -> Iterator[Function]:
    """Yield top-level functions, and methods of classes without bases: a library calls inherited methods."""
    for statement in tree.body:
        if isinstance(statement, Function) and not statement.decorator_list:
            yield statement
        elif isinstance(statement, ast.ClassDef) and not (
            statement.decorator_list or statement.bases or statement.keywords
        ):
            methods = (each for each in statement.body if isinstance(each, Function) and not is_dunder(each.name))
            yield from (each for each in methods if all(map(_calls_nothing, each.decorator_list)))


def _calls_nothing(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id in _DECORATORS


def _holds(function: Function, place: tuple[int, int]) -> bool:
    """Return whether a call of the function runs what stands at a line and column: whether it is in the body."""
    first, end = function.body[0], (function.end_lineno or 0, function.end_col_offset or 0)
    return (first.lineno, first.col_offset) <= place <= end


def _mentions(node: ast.AST) -> list[tuple[str, tuple[int, int]]]:
    """Return the name or text of a node, with its place."""
    match node:
        case ast.Name(name) | ast.Attribute(attr=name) | ast.Constant(str(name)):
            return [(name, (node.lineno, node.col_offset))]
    return []


def _last_variable(body: list[ast.stmt]) -> str:
    match body[-1:]:
        case [ast.Assign(targets=[target])] | [ast.AnnAssign(target, value=ast.expr())] | [ast.AugAssign(target)]:
            while isinstance(target, ast.Subscript):  # `found` of `found["x"][0] = …`
                target = target.value
            return target.id if isinstance(target, ast.Name) else ""
        case [ast.Expr(ast.Call(ast.Attribute(ast.Name(name), method)))] if method in _PUTS:
            return name
        case [ast.For(body=inner) | ast.While(body=inner) | ast.If(body=inner)]:
            return _last_variable(inner)
        case [ast.With(body=inner) | ast.Try(body=inner)]:
            return _last_variable(inner)
    return ""
