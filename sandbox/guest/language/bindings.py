"""The names that a program binds, and how often."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Kinds of nodes that hold a bound name as text, and the field of the name.
_FIELDS: dict[type[ast.AST], str] = {
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), "name"),
    **dict.fromkeys((ast.ExceptHandler, ast.MatchAs, ast.MatchStar), "name"),
    **{getattr(ast, kind): "name" for kind in ("TypeVar", "ParamSpec", "TypeVarTuple") if hasattr(ast, kind)},
    ast.MatchMapping: "rest",
    ast.arg: "arg",
}
#: Kinds of nodes that may bind a name.
BINDING = frozenset({ast.Name, ast.alias, *_FIELDS})


def bindings(node: ast.AST) -> tuple[str, ...]:
    """Return the names that a node itself binds or deletes."""
    if isinstance(node, ast.Name):
        return () if isinstance(node.ctx, ast.Load) else (node.id,)
    if isinstance(node, ast.alias):
        return (node.asname or node.name.partition(".")[0],)
    name = getattr(node, _FIELDS.get(type(node), ""), None)
    return () if name is None else (name,)


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Return all parameters of a function."""
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return found + [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]


def bound_names(nodes: Iterable[ast.AST]) -> Counter[str]:
    """Count the bindings of each name in a program: assignments, parameters, imports, definitions …"""
    return Counter(name for node in nodes if type(node) in BINDING for name in bindings(node))
