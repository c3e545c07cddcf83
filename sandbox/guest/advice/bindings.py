"""Where a program binds a name that is missing at one place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sandbox.guest.advice.values import parts
from sandbox.guest.language.bindings import bindings

if TYPE_CHECKING:
    from sandbox.guest.advice.situation import Situation

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def made_elsewhere(at: Situation, name: str) -> str:
    """Say why a name is missing that the program binds; nothing if it binds no such name."""
    made = [each for each in _bindings(at.tree, name) if each[1] is at.tree or not isinstance(each[0], ast.alias)]
    if not made:
        return ""
    node, scope = next((each for each in made if each[1] is at.tree), made[0])
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
        return f"line {node.lineno} deletes {name}: leave that out"
    if isinstance(node, ast.ExceptHandler):
        return f"{name} is gone when its except block ends: keep it there under another name"
    if scope is at.tree or "free variable" in at.message or _is_shared(at, name):
        return f"line {node.lineno} makes {name}, and has not done so before this"  # type: ignore[attr-defined]
    if isinstance(scope, ast.ClassDef):
        return f"{name} belongs to the class {scope.name}: write {scope.name}.{name}, or self.{name} in its methods"
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return f"{name} is a variable of {scope.name}() alone: return it there, and use what the call gives"
    return f"{name} is there in its own expression alone (line {node.lineno})"  # type: ignore[attr-defined]


def _bindings(tree: ast.AST | None, name: str) -> list[tuple[ast.AST, ast.AST]]:
    """Return what binds or deletes a name, each with the scope around it; what deletes it first."""
    found = []
    waiting = [(tree, tree)] if tree is not None else []
    while waiting:
        node, scope = waiting.pop()
        if name in bindings(node):
            found.append((node, scope))
        for each in ast.iter_child_nodes(node):
            is_inside = isinstance(node, _SCOPES) or (isinstance(node, ast.comprehension) and each is node.target)
            waiting.append((each, node if is_inside else scope))
    return sorted(found, key=_order)


def _order(binding: tuple[ast.AST, ast.AST]) -> tuple[bool, int]:
    node, _ = binding
    return not isinstance(getattr(node, "ctx", None), ast.Del), getattr(node, "lineno", 0)


def _is_shared(at: Situation, name: str) -> bool:
    return any(isinstance(each, ast.Global | ast.Nonlocal) and name in each.names for each in parts(at.tree))
