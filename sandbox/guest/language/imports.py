"""Import statements as assignments: the run time looks the names up in its tables.

import a.b.c          a = .import("a.b.c", "a")
import a.b as x       x = .import("a.b", "a.b")
from a import b as x  x = .from("a", "b")
"""

from __future__ import annotations
import __future__

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The compiler flag of `from __future__ import annotations`.
ANNOTATIONS = __future__.annotations.compiler_flag
#: The name of a guard, and its arguments.
GuardCall = tuple[str, str, str]


def import_bindings(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, GuardCall]]:
    """Yield each name that the statement binds, with the call that returns its value."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, (".from", node.module or "", alias.name)
        elif alias.asname:
            yield alias.asname, (".import", alias.name, alias.name)
        else:
            root = alias.name.partition(".")[0]
            yield root, (".import", alias.name, root)


def is_star(node: ast.ImportFrom) -> bool:
    """Return whether the statement imports all names."""
    return any(alias.name == "*" for alias in node.names)


def future_flags(tree: ast.Module) -> int:
    """Return the compiler flags of `from __future__ import …`."""
    flags = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                feature = getattr(__future__, alias.name, None)
                flags |= getattr(feature, "compiler_flag", 0)
    return flags
