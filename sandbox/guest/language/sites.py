"""Call sites: which tools a program calls, with which arguments, as far as the source says it for certain.

A name counts as a tool's when its root is bound as a namespace and the program binds that root nowhere itself. Plain
aliases (`clients = gym.clients`), bound once, are followed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sandbox.outcome import CallSite
from sandbox.protocol.guest_messages import NAME_CHARACTERS

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Sequence

    from sandbox.guest.language.refusals import Refusals

#: Functions that call their first argument with the others.
_CALLERS = frozenset({"partial", "submit", "to_thread"})


def call_sites(nodes: Sequence[ast.AST], names: Collection[str], bound: Counter[str]) -> list[CallSite]:
    """Return the call sites in the order of the source."""
    roots = _roots(nodes, names, bound)
    sites = []
    for node in nodes:
        if isinstance(node, ast.Call):
            site = _direct(node, roots) or _handed_over(node, roots)
            if site is not None and all(len(name) <= NAME_CHARACTERS for name in (site.name, *site.keywords)):
                sites.append(site)
    return sorted(sites, key=lambda site: (site.line, site.column))


def shadowing_imports(nodes: Sequence[ast.AST], names: Collection[str], refusals: Refusals) -> None:
    """Refuse `import openai` … `openai.OpenAI()` where the API is bound under that name: no library comes with it."""
    imported = {
        alias.name: node
        for node in nodes
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name in names and alias.asname is None
    }
    for node in nodes:
        parts = dotted(node.func) if isinstance(node, ast.Call) else None
        if parts is None or parts[0] not in imported or not parts[-1][:1].isupper():
            continue
        root = parts[0]
        refusals.add(
            node,
            "import",
            f"{'.'.join(parts)}(...) is no operation: {root} is the API itself, bound under that name, and "
            f"`import {root}` "
            f"(line {imported[root].lineno}) brings no library",
            f"remove the import and call the operations, {root}.group.operation(name=value)",
        )


def dotted(node: ast.AST) -> list[str] | None:
    """Return the parts of `a.b.c`, or None for another expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return [node.id, *reversed(parts)]


def _roots(nodes: Sequence[ast.AST], names: Collection[str], bound: Counter[str]) -> dict[str, list[str]]:
    """Map each name that surely stands for a namespace or a tool to its dotted parts."""
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    roots = {name: [name] for name in names if not bound[name] or (name in imported and bound[name] == 1)}
    if not bound["tools"]:
        roots["tools"] = []
    for node in nodes:  # in the order of the source, so that aliases of aliases are followed
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1):
            continue
        target = node.targets[0]
        if not isinstance(target, ast.Name) or bound[target.id] != 1 or not isinstance(node.value, ast.Attribute):
            continue
        parts = _resolve(node.value, roots)
        if parts:
            roots[target.id] = parts
    return roots


def _resolve(node: ast.AST, roots: dict[str, list[str]]) -> list[str] | None:
    parts = dotted(node)
    if parts is None or parts[0] not in roots:
        return None
    return [*roots[parts[0]], *parts[1:]]


def _direct(node: ast.Call, roots: dict[str, list[str]]) -> CallSite | None:
    parts = _resolve(node.func, roots)
    if not parts:
        return None
    return _site(node, parts, node.args)


def _handed_over(node: ast.Call, roots: dict[str, list[str]]) -> CallSite | None:
    """`executor.submit(ns.op, a=1)`: more arguments may come where the function is called."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in _CALLERS or not node.args:
        return None
    parts = _resolve(node.args[0], roots)
    if not parts or len(parts) < 2:
        return None
    site = _site(node, parts, node.args[1:])
    return CallSite(
        site.name, site.keywords, site.positional, name == "partial" or site.open_ended, site.line, site.column
    )


def _site(node: ast.Call, parts: list[str], arguments: list[ast.expr]) -> CallSite:
    starred = any(isinstance(argument, ast.Starred) for argument in arguments)
    keywords = tuple(keyword.arg for keyword in node.keywords if keyword.arg is not None)
    return CallSite(
        name=".".join(parts),
        keywords=keywords,
        positional=sum(not isinstance(argument, ast.Starred) for argument in arguments),
        open_ended=starred or len(keywords) != len(node.keywords),
        line=node.lineno,
        column=node.col_offset,
    )
