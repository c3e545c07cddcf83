"""Names at the top level: a program's loops run there as fast as they would in a function, which is not so in CPython.

Outside of functions the interpreter looks a name up in three dicts, each time anew. Of one that is declared `global`
it remembers where it is. At the top level the declaration changes nothing else: locals and globals are one dict there.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sandbox.guest.language.source import children

if TYPE_CHECKING:
    from collections.abc import Collection

_LOOPS = frozenset({ast.For, ast.While, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp})
_OTHER_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def declare_global(tree: ast.Module, kinds: Collection[type[ast.AST]]) -> None:
    """Declare the names that a program with loops uses at its top level, except for those with annotations."""
    if _LOOPS.isdisjoint(kinds):
        return
    used: set[str] = set()
    annotated: set[str] = set()
    level: list[ast.AST] = [*tree.body]
    while level:
        level = [node for node in level if not isinstance(node, _OTHER_SCOPES)]
        for node in level:
            if isinstance(node, ast.Name):
                used.add(node.id)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                annotated.add(node.target.id)
        level = children(level)
    names = sorted(name for name in used - annotated if not name.startswith("__"))
    if names:
        place = ast.get_docstring(tree, clean=False) is not None
        tree.body.insert(place, ast.Global(names, lineno=1, col_offset=0, end_lineno=1, end_col_offset=0))
