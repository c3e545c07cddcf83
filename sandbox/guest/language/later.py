"""Names that a class looks up later, in its namespace first: a metaclass may have written guards there, or `super`.

So it is with type statements and the bounds of type parameters in its body, and from Python 3.14 on with annotations.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.guest.language.refusals import Refusals

_ARE_ANNOTATIONS = sys.version_info >= (3, 14)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def check_later(node: ast.ClassDef, refusals: Refusals) -> None:
    """Refuse what needs a guard there. The class has been visited: guards stand in it."""
    for part in filter(None, _read_later(node)):
        names = [each.id for each in ast.walk(part) if isinstance(each, ast.Name)]
        if any(name.startswith(".") or name == "super" for name in names):
            refusals.add(part, "class", "a class tells types by plain names here", "give the value a name before")


def _read_later(node: ast.ClassDef) -> Iterator[ast.AST | None]:
    """Give them; None for annotations that are left out, or set aside because they are text."""
    pending: list[Any] = [*node.body]
    while pending:
        each = pending.pop()
        if type(each).__name__ == "TypeAlias":
            yield each
        elif isinstance(each, (*_FUNCTIONS, ast.ClassDef)):
            yield from getattr(each, "type_params", ())
            if _ARE_ANNOTATIONS and isinstance(each, _FUNCTIONS):
                yield from _annotations(each)
        else:
            if _ARE_ANNOTATIONS and isinstance(each, ast.AnnAssign):
                yield each.annotation
            pending += ast.iter_child_nodes(each)


def _annotations(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr | None]:
    yield node.returns
    yield from (each.annotation for each in ast.walk(node.args) if isinstance(each, ast.arg))
