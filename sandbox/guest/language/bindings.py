"""Which names a program binds, and how often: in one walk over its nodes."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)


_BINDING = frozenset({ast.Name, ast.alias, ast.arg, ast.MatchMapping, *_NAMED})


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Return all parameters of a function."""
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return found + [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]


def parameter_names(arguments: ast.arguments) -> frozenset[str]:
    """Return their names."""
    return frozenset(parameter.arg for parameter in parameters(arguments))


def bound_names(nodes: Iterable[ast.AST]) -> Counter[str]:
    """Count the bindings of each name anywhere in the program: assignments, parameters, imports, definitions …"""
    found: Counter[str] = Counter()
    for node in nodes:
        if type(node) not in _BINDING:
            continue
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                found[node.id] += 1
        elif isinstance(node, ast.alias):
            found[node.asname or node.name.partition(".")[0]] += 1
        elif isinstance(node, ast.arg):
            found[node.arg] += 1
        elif isinstance(node, _NAMED) and node.name:
            found[node.name] += 1
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found[node.rest] += 1
    return found
