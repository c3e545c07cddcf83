"""Variables that no other code can bind meanwhile: those of a function itself, which nothing inside of it rebinds.

A guard that asks a variable for its class and then reads it again must be about the same object. Between the two the
collector may run (from Python 3.12 on), and with it the `finally` of a generator, which can bind globals and variables
of functions around it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sandbox.guest.language.bindings import BINDING, bindings
from sandbox.guest.language.source import children
from sandbox.guest.language.variables import has_other_spelling

if TYPE_CHECKING:
    from collections.abc import Sequence

_DECLARED = (ast.Global, ast.Nonlocal)
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: Have variables of their own.
_INNER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, getattr(ast, "TypeAlias", ()))


def steady_names(parameters: frozenset[str], body: Sequence[ast.AST]) -> frozenset[str]:
    """Return the variables of a function that it alone can bind."""
    bound = set(parameters)
    shared: set[str] = set()
    level: list[ast.AST] = [*body]
    while level:
        inside = []
        for node in level:
            if isinstance(node, _DECLARED):
                shared.update(node.names)
            elif isinstance(node, _NESTED):
                bound.add(node.name)
                shared |= _bound_inside(node)
            elif isinstance(node, _INNER):
                shared |= _bound_inside(node)
            else:
                if type(node) in BINDING:
                    bound.update(bindings(node))
                inside.append(node)
        level = children(inside)
    return _of_one_spelling(bound - shared)


def _bound_inside(node: ast.AST) -> set[str]:
    """Return what may be bound in there for the function around it: by a generator, whenever that runs.

    A generator may also stand where a function inside of it gets its defaults, its decorators, its bases.
    """
    level = [node]
    found: set[str] = set()
    while level := children(level):
        for each in level:
            if isinstance(each, ast.Nonlocal):
                found.update(each.names)
            elif isinstance(each, ast.NamedExpr):
                found.add(each.target.id)
    return found


def comprehension_names(generators: Sequence[ast.comprehension]) -> frozenset[str]:
    """Return the variables of a comprehension, without those that its first iterable reads from around it."""
    targets = {name for each in generators for node in ast.walk(each.target) for name in bindings(node)}
    return _of_one_spelling(targets - {node.id for node in ast.walk(generators[0].iter) if isinstance(node, ast.Name)})


def _of_one_spelling(names: set[str]) -> frozenset[str]:
    return frozenset(name for name in names if not has_other_spelling(name))
