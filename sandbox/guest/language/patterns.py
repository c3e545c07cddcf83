"""Positions in class patterns: the interpreter reads the names in `__match_args__` without a guard."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from sandbox.guest.language.attributes import Decision, decide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.guest.language.refusals import Refusals


def check_match_args(node: ast.ClassDef, refusals: Refusals) -> None:
    """Refuse a class whose `__match_args__` is anything but a tuple of plain names, written out."""
    for name in _names_in_body(node):
        if name.id != "__match_args__":
            continue
        if not any(_is_plain_match_args(child) for child in node.body if _binds_match_args(child, name)):
            refusals.add(name, "pattern", "__match_args__ must be a tuple of plain names", "write them out")


def _names_in_body(node: ast.ClassDef) -> Iterator[ast.Name]:
    """Yield the names in the body of a class, and in the heads of those in it: their bodies have names of their own."""
    pending: list[ast.AST] = [*node.body]
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Name):
            yield each
        elif isinstance(each, ast.ClassDef):
            pending += [*each.decorator_list, *each.bases, *each.keywords]
        else:
            pending += ast.iter_child_nodes(each)


def _binds_match_args(child: ast.stmt, name: ast.Name) -> bool:
    return isinstance(child, ast.Assign) and any(target is name for target in child.targets)


def _is_plain_match_args(child: ast.stmt) -> bool:
    value = cast("ast.Assign", child).value
    return isinstance(value, ast.Tuple) and all(
        isinstance(item, ast.Constant) and isinstance(item.value, str) and decide(item.value) is Decision.PLAIN
        for item in value.elts
    )
