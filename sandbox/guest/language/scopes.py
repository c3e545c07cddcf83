"""The variables of a program: which function a name belongs to, and where it is read."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from sandbox.guest.language.bindings import bindings
from sandbox.guest.language.source import children

if TYPE_CHECKING:
    from collections.abc import Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Variable(NamedTuple):
    """A name of a scope, the results of a function (`is_call`), or the value of one assignment to a name."""

    scope: ast.AST
    name: str
    statement: ast.AST | None = None
    is_call: bool = False


class Scopes:
    """Parents, bindings and uses in one tree. A comprehension has no scope of its own here.

    `functions` maps each name that is bound once in the program, to a definition or a lambda, to that function.
    """

    def __init__(self, tree: ast.Module, nodes: Sequence[ast.AST], bound: Counter[str]) -> None:
        self.parents: dict[ast.AST, ast.AST] = {}
        self._homes: dict[ast.AST, ast.AST] = {tree: tree}
        self._binds: Counter[tuple[ast.AST, str]] = Counter()
        self._loads: dict[str, list[ast.Name]] = defaultdict(list)
        self._declared: set[str] = set()
        self.functions: dict[str, Function] = {}
        for node in nodes:  # a parent stands before its children
            home = node if isinstance(node, _SCOPES) else self._homes[node]
            for child in children([node]):
                self.parents[child], self._homes[child] = node, home
                self._note(child, home)
        self.functions = {name: found for name, found in self.functions.items() if bound[name] == 1}

    def _note(self, node: ast.AST, home: ast.AST) -> None:
        match node:
            case ast.Global(names) | ast.Nonlocal(names):
                self._declared.update(names)
            case ast.Name(name, ast.Load()):
                self._loads[name].append(node)
            case ast.Assign([ast.Name(name)], ast.Lambda() as function):
                self.functions[name] = function
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                self.functions[name] = node
        self._binds.update((home, name) for name in bindings(node))

    def variable(self, name: ast.Name, statement: ast.AST | None = None) -> Variable | None:
        """Return the variable that a name stands for; None if the source alone cannot tell.

        With a plain assignment as `statement`, it is the value that this one assigns.
        """
        scope = self._scope(name)
        if scope is None or isinstance(scope, ast.ClassDef):
            return None
        return Variable(scope, name.id, statement if self._binds[scope, name.id] > 1 else None)

    def _scope(self, name: ast.Name) -> ast.AST | None:
        scope = self._homes[name]
        while name.id not in self._declared:
            if self._binds[scope, name.id]:
                return scope
            if isinstance(scope, ast.Module):
                break
            scope = self._homes[scope]
            while isinstance(scope, ast.ClassDef):  # functions do not see the names of the class around them
                scope = self._homes[scope]
        return None

    def uses(self, variable: Variable) -> list[ast.Name]:
        """Return the names that read a variable."""
        seen = self._seen_by(variable.statement, variable.name) if variable.statement is not None else None
        loads = self._loads[variable.name] if seen is None else seen
        return [use for use in loads if variable.is_call or self._scope(use) is variable.scope]

    def _seen_by(self, statement: ast.AST, name: str) -> list[ast.Name] | None:
        """Return the names that can read an assigned value: up to the next plain assignment in the same block."""
        blocks = (getattr(self.parents[statement], field, None) for field in ("body", "orelse", "finalbody"))
        block = next(block for block in blocks if isinstance(block, list) and statement in block)
        later = block[block.index(statement) + 1 :]
        for index, each in enumerate(later):
            if isinstance(each, ast.Assign) and [getattr(target, "id", None) for target in each.targets] == [name]:
                nodes = (node for inner in later[: index + 1] for node in ast.walk(inner))
                return [node for node in nodes if isinstance(node, ast.Name) and node.id == name and _is_read(node)]
        return None

    def function_around(self, node: ast.AST) -> Function | None:
        """Return the function whose body holds a node."""
        scope = self._homes[node]
        return scope if isinstance(scope, Function) else None


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)
