"""Scopes of a program: which function a name belongs to, and where it is used. Enough for following values."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from sandbox.guest.language.bindings import BINDING, bindings
from sandbox.guest.language.source import children

if TYPE_CHECKING:
    from typing import TypeGuard

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BLOCKS = ("body", "orelse", "finalbody")
#: What names something.
_NAMING = {*BINDING, ast.Global, ast.Nonlocal}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, *_COMPREHENSIONS)


class Scopes:
    """Parents, bindings and uses of one tree.

    `functions` maps the names that are bound exactly once, by a definition or a lambda, to that function.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self.parents: dict[ast.AST, ast.AST] = {}
        self._homes: dict[ast.AST, ast.AST] = {}
        self._binds: dict[ast.AST, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._loads: dict[str, list[ast.Name]] = defaultdict(list)
        self._declared: set[str] = set()
        self._definitions: dict[str, list[Function | None]] = defaultdict(list)
        self._places: dict[ast.AST, tuple[list[ast.stmt], int]] = {}
        self._read(tree, tree)
        self.functions: dict[str, Function] = {
            name: found[0] for name, found in self._definitions.items() if len(found) == 1 and found[0] is not None
        }

    def scope_of(self, node: ast.AST, name: str) -> ast.AST | None:
        """Return the scope that binds the name as seen from the node; None when it cannot be told."""
        if name in self._declared:
            return None
        scope: ast.AST | None = self._homes.get(node)
        inner = True
        while scope is not None:
            if name in self._binds[scope] and (inner or not isinstance(scope, ast.ClassDef)):
                return scope
            inner = False
            scope = self._homes.get(scope)
        return None

    def is_rebound(self, scope: ast.AST, name: str) -> bool:
        """Tell whether the name is bound more than once in its scope."""
        return self._binds[scope][name] > 1

    def uses_until_rebound(self, scope: ast.AST, name: str, statement: ast.AST | None) -> list[ast.Name]:
        """Return the places that read the name of this scope.

        With a statement, only those that can see what it assigns: up to the next plain assignment in its block.
        """
        place = self._places.get(statement) if statement is not None else None
        if place is not None:
            block, start = place
            for index in range(start + 1, len(block)):
                if _rebinds(block[index], name):
                    seen = (node for later in block[start + 1 : index + 1] for node in ast.walk(later))
                    return [node for node in seen if self._is_use(node, scope, name)]
        return [use for use in self._loads[name] if self.scope_of(use, name) is scope]

    def _is_use(self, node: ast.AST, scope: ast.AST, name: str) -> TypeGuard[ast.Name]:
        is_load = isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        return is_load and self.scope_of(node, name) is scope

    def uses_of_function(self, name: str) -> list[ast.Name]:
        """Return all places that read a name that is bound once."""
        return self._loads[name]

    def function_around(self, node: ast.AST) -> ast.AST | None:
        """Return the function whose body holds the node."""
        scope = self._homes.get(node)
        while isinstance(scope, _COMPREHENSIONS):
            scope = self._homes.get(scope)
        return scope

    def _read(self, node: ast.AST, home: ast.AST) -> None:
        """Walk without recursion, noting for each node its parent and the scope it stands in."""
        pending = [(node, home)]
        while pending:
            node, home = pending.pop()
            for field in () if isinstance(node, ast.expr) else _BLOCKS:
                block = getattr(node, field, None)
                if isinstance(block, list):
                    self._places.update({statement: (block, index) for index, statement in enumerate(block)})
            inner = node if isinstance(node, _SCOPES) else home
            for child in children([node]):
                self.parents[child] = node
                self._homes[child] = inner
                if type(child) in _NAMING:
                    self._note(child, inner)
                pending.append((child, inner))

    def _note(self, node: ast.AST, scope: ast.AST) -> None:
        if isinstance(node, ast.Global | ast.Nonlocal):
            self._declared.update(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self._loads[node.id].append(node)
        else:
            for name in bindings(node):
                self._binds[scope][name] += 1
                self._definitions[name].append(self._function(node))

    def _function(self, node: ast.AST) -> Function | None:
        """Return the function that a name is bound to here."""
        if isinstance(node, ast.Name):
            statement = self.parents[node]
            value = statement.value if _rebinds(statement, node.id) else None
            return value if isinstance(value, ast.Lambda) else None
        return node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else None


def _rebinds(statement: ast.AST, name: str) -> TypeGuard[ast.Assign]:
    return (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
        and statement.targets[0].id == name
    )
