"""Descriptions of tools, groups and namespaces, as text within a token budget."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from codemode.catalog import stubs, tokens
from codemode.errors import SourceUnavailable, ToolNotFound
from codemode.search.introduction import DESCRIBED_TOKENS, condensed, with_full_names
from codemode.text.nearest import several_nearest
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool

#: The most tools that are searched for a type without its tool.
_SEARCHED_TOOLS = 50

#: Number of examples in the description of a namespace.
_EXAMPLES = 5


def describe(
    name: str,
    catalog: Catalog,
    *,
    budget_tokens: int,
    introductions: Mapping[str, str],
    observed: Callable[[Tool], Schema | None] = lambda _: None,
) -> str:
    """Describe a tool, a group or a namespace, or list all namespaces if `name` is "".

    A tool, by its id or an exact alias, is described in full, and behind it one parameter or type
    (`shop.orders.add.Item`). A group or namespace has its introduction, examples and
    tools, or its groups if the tools do not fit. Raises ToolNotFound with the closest names.
    """
    if not name:
        known = (f"{root}  # {count} tools" for root, count in sorted(catalog.namespaces.items()))
        absent = (f"{root}  # unavailable: {why}" for root, why in sorted(catalog.unavailable.items()))
        return _within((*known, *absent), budget_tokens)
    members = sorted((tool for tool in catalog if tool.id.startswith(f"{name}.")), key=lambda tool: tool.id)
    if name in catalog or not members:
        try:
            tool = catalog.find(name)  # also by an alias
        except SourceUnavailable:
            raise
        except ToolNotFound as error:
            return _part(name, catalog, error, budget_tokens, observed)
        return stubs.full(tool, budget_tokens=budget_tokens, observed=observed(tool))
    toolkit = catalog.toolkit(name)
    own_text = toolkit and (toolkit.instructions or toolkit.description)
    heading = (
        [condensed(with_full_names(introductions[name], name, catalog), min(DESCRIBED_TOKENS, budget_tokens // 2))]
        if name in introductions
        else []
    )
    heading += [visible(own_text.strip())] if own_text else []
    own = toolkit.examples if toolkit else ()
    examples = [*own, *(example for tool in members for example in tool.examples)][:_EXAMPLES]
    heading += [visible(f"example: {example}") for example in examples]
    lines = [stubs.one_liner(tool) for tool in members]
    groups = _groups(name, members)
    if sum(map(tokens.estimate, (*heading, *lines))) > budget_tokens and len(groups) < len(members):
        lines = [f"{group}  # {count} tools" for group, count in sorted(groups.items())]
    return _within([*heading, *lines], budget_tokens)


def _part(
    name: str, catalog: Catalog, error: ToolNotFound, budget_tokens: int, observed: Callable[[Tool], Schema | None]
) -> str:
    """Describe a parameter or a type: `shop.orders.add.Item`, or `Item` alone in a small catalog. Raises `error`."""
    whole, _, last = name.rpartition(".")
    tools = [catalog.find(whole)] if whole in catalog else [] if whole else list(islice(catalog, _SEARCHED_TOOLS))
    for tool in tools:
        text = stubs.part(tool, last, budget_tokens=budget_tokens, observed=observed(tool))
        if text is not None:
            return text
    if not whole or not tools:
        raise error
    near = several_nearest(last, stubs.type_names(tools[0], observed(tools[0])), 3)
    raise ToolNotFound(name, tuple(f"{whole}.{one}" for one in near) or (whole,))


def _groups(name: str, members: Iterable[Tool]) -> Counter[str]:
    """Count the tools in each group directly below a name. A tool without a group counts as its own group."""
    depth = name.count(".") + 2
    return Counter(".".join(tool.id.split(".")[:depth]) for tool in members)


def _within(lines: Iterable[str], budget_tokens: int) -> str:
    """Join the lines that fit, and report how many do not."""
    every = list(lines)
    kept: list[str] = []
    left = budget_tokens - 20  # room for the last line
    for line in every:
        left -= tokens.estimate(line) + 1
        if left < 0 and kept:
            return "\n".join([*kept, f"# and {len(every) - len(kept)} more: describe a group, or search"])
        kept.append(line)
    return "\n".join(kept)
