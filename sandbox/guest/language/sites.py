"""Call sites: the tools that a program certainly calls, with their arguments, as the source shows them.

A dotted name is a tool if its root is a namespace that the program does not bind itself. Plain aliases that are bound
once (`clients = gym.clients`) are followed.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from sandbox.outcome import CallSite
from sandbox.protocol.guest_messages import NAME_CHARACTERS

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Sequence

    from sandbox.guest.language.refusals import Refusals

#: Functions that call their first argument with the others.
_CALLERS = frozenset({"partial", "submit", "to_thread"})


def call_sites(
    nodes: Sequence[ast.AST], names: Collection[str], bound: Counter[str], modules: Collection[str] = ()
) -> list[CallSite]:
    """Return the call sites in the order of the source. An import of one of the `modules` wins over a namespace."""
    hidden = _imported(nodes, modules)
    roots = _roots(nodes, [name for name in names if name not in hidden], bound)
    sites = [site for node in nodes if isinstance(node, ast.Call) and (site := _site(node, roots)) is not None]
    short = (site for site in sites if all(len(name) <= NAME_CHARACTERS for name in (site.name, *site.keywords)))
    return sorted(short, key=lambda site: (site.line, site.column))


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


def hidden_namespaces(
    nodes: Sequence[ast.AST], names: Collection[str], modules: Collection[str], refusals: Refusals
) -> None:
    """Refuse `calendar.events.list()` after `import calendar`, where a namespace has the name of an offered module."""
    hidden = {name: line for name, line in _imported(nodes, modules).items() if name in names}
    for node in nodes:
        parts = dotted(node.func) if hidden and isinstance(node, ast.Call) else None
        if parts is None or len(parts) == 1 or parts[0] not in hidden:
            continue
        root, call = parts[0], ".".join(parts)
        if not hasattr(sys.modules.get(root), parts[1]):
            message = (
                f"{call}(...) is no operation: `import {root}` (line {hidden[root]}) binds Python's module instead"
            )
            refusals.add(node, "import", message, f"write tools.{call}(...), or `import {root} as py_{root}`")


def _imported(nodes: Sequence[ast.AST], modules: Collection[str]) -> dict[str, int]:
    """Return the modules that are imported under their own name, each with its line."""
    aliases = ((node, alias) for node in nodes if isinstance(node, ast.Import) for alias in node.names)
    return {alias.name: node.lineno for node, alias in aliases if alias.asname is None and alias.name in modules}


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
        match node:
            case ast.Assign([ast.Name(name)], ast.Attribute() as value) if bound[name] == 1:
                parts = _resolve(value, roots)
                if parts:
                    roots[name] = parts
    return roots


def _resolve(node: ast.AST, roots: dict[str, list[str]]) -> list[str]:
    """Return the parts of a tool's name, or nothing for another expression."""
    root, *rest = dotted(node) or [""]
    return [*roots[root], *rest] if root in roots else []


def _site(node: ast.Call, roots: dict[str, list[str]]) -> CallSite | None:
    """Describe a call of a tool, or of `executor.submit(ns.op, a=1)`, to which more arguments may come later."""
    parts, arguments, is_partial = _resolve(node.func, roots), node.args, False
    if not parts and arguments:
        caller = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        parts = _resolve(arguments[0], roots) if caller in _CALLERS else []
        parts = parts if len(parts) > 1 else []
        arguments, is_partial = arguments[1:], caller == "partial"
    if not parts:
        return None
    starred = sum(isinstance(argument, ast.Starred) for argument in arguments)
    keywords = tuple(keyword.arg for keyword in node.keywords if keyword.arg is not None)
    return CallSite(
        name=".".join(parts),
        keywords=keywords,
        positional=len(arguments) - starred,
        open_ended=bool(starred) or is_partial or len(keywords) != len(node.keywords),
        line=node.lineno,
        column=node.col_offset,
    )
