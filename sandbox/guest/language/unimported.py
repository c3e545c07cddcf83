"""Modules that a program uses without an import statement."""

from __future__ import annotations

import ast
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Iterable

_OF_DATETIME = frozenset(dir(datetime))


class Unimported(NamedTuple):
    """An import that a program left out: `import module`, or `from module import name` if `is_member`."""

    name: str
    module: str
    is_member: bool = False


def unimported(
    nodes: Iterable[ast.AST], bound: Counter[str], names: Collection[str], modules: Collection[str]
) -> tuple[Unimported, ...]:
    """Return the imports of modules whose members a program reads by a name that it binds nowhere.

    `bound` are the names that it binds, `names` those that are bound for it, `modules` those that it can import.
    """
    used: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            root, _, rest = _dotted(node).partition(".")
            if root in modules and not bound[root] and root not in names:
                used.setdefault(root, set()).add(rest)
    found = []
    for root, members in used.items():
        if root == "datetime" and {member.partition(".")[0] for member in members} <= _OF_DATETIME - {"time", "date"}:
            found.append(Unimported(root, root, is_member=True))
            continue
        inner = {f"{root}.{member.partition('.')[0]}" for member in members} & set(modules)
        found += [Unimported(root, module) for module in sorted(inner) or [root]]
    return tuple(found)


def _dotted(node: ast.Attribute) -> str:
    """Return `a.b` for the attribute of a name, and "" for any other. Deeper ones hold such an attribute."""
    return f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else ""
