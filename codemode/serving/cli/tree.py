"""Tools as trees of namespaces and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.tree import Tree

from codemode.serving.output.terminal import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.catalog.tool import Tool

_EFFECT_STYLE = {"read": "green", "write": "yellow", "destructive": "red"}


def trees(tools: Iterable[Tool]) -> list[Tree]:
    """Return one tree for each namespace. Leaves show the effect and the summary of a tool."""
    roots: dict[str, Tree] = {}
    branches: dict[str, Tree] = {}
    for tool in tools:
        *groups, name = tool.id.split(".")
        prefix = groups[0]
        branch = roots.setdefault(prefix, Tree(plain(prefix, style="bold"), guide_style="dim"))
        for group in groups[1:]:
            prefix = f"{prefix}.{group}"
            if prefix not in branches:
                branches[prefix] = branch.add(plain(group))
            branch = branches[prefix]
        effect = plain(f"  {tool.effect}", style=_EFFECT_STYLE.get(tool.effect, ""))
        label = plain(name) + effect + plain(f"  {tool.summary}", style="dim")
        label.no_wrap, label.overflow = True, "ellipsis"
        branch.add(label)
    return list(roots.values())
