"""Values of expressions, as far as they are known without running code of the program."""

from __future__ import annotations

import ast
from typing import Any

from sandbox.guest.language.access import field
from sandbox.guest.tools import Record, Tool

UNKNOWN: Any = object()
#: Keys shown of a dict.
MOST_KEYS = 12


def value_of(node: ast.AST | None, variables: dict[str, Any]) -> Any:
    """Return the value of a name, or of plain steps from it into dicts and lists; UNKNOWN for anything else."""
    if isinstance(node, ast.Name):
        return variables.get(node.id, UNKNOWN)
    if isinstance(node, ast.Await):
        return value_of(node.value, variables)
    if isinstance(node, ast.Attribute):
        owner = value_of(node.value, variables)
        if type(owner) is Record:
            return field(owner, node.attr) if node.attr in owner or hasattr(dict, node.attr) else UNKNOWN
        if isinstance(owner, Tool):
            return getattr(owner, node.attr) if not node.attr.startswith("_") else UNKNOWN
        return getattr(owner, node.attr) if type(owner) is dict and node.attr in dir(dict) else UNKNOWN
    if isinstance(node, ast.Subscript):
        return _item(value_of(node.value, variables), _constant(node.slice, variables))
    return UNKNOWN


def _constant(node: ast.AST, variables: dict[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    found = variables.get(node.id, UNKNOWN) if isinstance(node, ast.Name) else UNKNOWN
    return found if type(found) in (str, int) else UNKNOWN


def _item(owner: Any, key: Any) -> Any:
    if key is UNKNOWN:
        return UNKNOWN
    if type(owner) in (dict, Record):
        return owner.get(key, UNKNOWN)
    if type(owner) in (list, tuple) and type(key) is int and -len(owner) <= key < len(owner):
        return owner[key]
    return UNKNOWN


def first_none(node: ast.AST | None, variables: dict[str, Any]) -> ast.AST | None:
    """Return the shortest leading part of a chain of steps whose value is None."""
    steps = []
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
        steps.append(node)
    for step in reversed(steps):
        if value_of(step, variables) is None:
            return step
    return None


def parts(node: ast.AST | None) -> list[ast.AST]:
    """Return a node and all below it, outer ones first."""
    return [] if node is None else list(ast.walk(node))


def copy_written(tree: ast.AST | None) -> str:
    """Return the text of a copy that the program writes to, such as `globals()`, or an empty text."""
    for node in parts(tree):
        is_item = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        is_method = isinstance(node, ast.Attribute) and node.attr in ("update", "setdefault")
        text = source(getattr(node, "value", None)) if is_item or is_method else ""
        if text in ("globals()", "locals()", "vars()") or text.endswith(".__dict__"):
            return text
    return ""


def source(node: ast.AST | None) -> str:
    """Return the text of an expression, shortened."""
    if node is None:
        return "the value"
    text = ast.unparse(node)
    return text if len(text) <= 80 else text[:77] + "..."


def keys_of(mapping: dict[Any, Any]) -> str:
    """Return the keys of a dict for a reader."""
    keys = [repr(key) if not isinstance(key, str) else key for key in list(mapping)[:MOST_KEYS]]
    more = f" … ({len(mapping)} in all)" if len(mapping) > MOST_KEYS else ""
    return (", ".join(keys) or "none") + more


def known_names(variables: dict[str, Any]) -> list[str]:
    """Return the names of the program and of the builtins."""
    offered = variables.get("__builtins__", {})
    return [name for name in (*variables, *offered) if not name.startswith((".", "<", "_"))]
