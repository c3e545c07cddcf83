"""Values that a program gets from the host if it reads their names, such as `last`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence


def load_values(tree: ast.Module, nodes: Sequence[ast.AST], values: Mapping[str, str], bound: Counter[str]) -> None:
    """Begin the program with `last = load("last")` for each value that it reads and does not bind itself.

    `values` maps names to functions of the host. The statements have the line of the first use, which an error shows.
    """
    for name, function in values.items():
        uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
        if not uses or bound[name]:
            continue
        first = min(uses, key=lambda use: (use.lineno, use.col_offset))
        call = ast.Call(ast.Name(function, ast.Load()), [ast.Constant(name)], [])
        assignment = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], call), first)
        for node in ast.walk(assignment):
            ast.copy_location(node, first)
        tree.body.insert(_head(tree), assignment)
        bound[name] += 1


def _head(tree: ast.Module) -> int:
    """Return how many statements must stay first: the docstring, and imports from `__future__`."""
    head = int(ast.get_docstring(tree, clean=False) is not None)
    while head < len(tree.body) and _is_of_the_future(tree.body[head]):
        head += 1
    return head


def _is_of_the_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
