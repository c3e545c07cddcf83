"""The system prompt of a menu: how to ask for more, the categories, and instructions for offered tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.catalog.tokens import estimate
from codemode.menus.meta_tools import REQUEST_MORE_TOOLS, REQUEST_TOOL
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codemode.menus.categories import Categories, Category
    from codemode.settings.menu import MenuSettings

_NOTES = {
    REQUEST_MORE_TOOLS: "call request_more_tools with the categories that have it",
    REQUEST_TOOL: "call request_tool with its name or what it should do",
}

#: Characters per description in the category list.
_TOLD = 100


def prompt_of(
    categories: Categories,
    offered: Sequence[Category],
    settings: MenuSettings,
    meta: Sequence[str],
    instructions: Mapping[str, str],
) -> str:
    """Return the note on meta-tools, the instructions for offered tools, and the category list.

    Instructions and list may each use `prompt_tokens`. `instructions` come from the sources of offered tools.
    """
    parts: list[str] = []
    if meta:
        how = ", or ".join(_NOTES[name] for name in meta)
        parts.append(f"Only the tools that seem needed are loaded. If one is missing, {how}; then go on.")
    skills = list(_skills((*categories.base, *offered), instructions))
    parts += _within(skills, settings.prompt_tokens)
    is_listed = settings.namespaces
    if is_listed is None:
        is_listed = bool(meta) and not _has_keywords(categories)
    if is_listed:
        every = list(categories.by_name.values())
        shown = _within([*map(_listed, every)], settings.prompt_tokens)
        more = [f"- and {len(every) - len(shown)} more"] if len(shown) < len(every) else []
        parts.append("\n".join(["Categories of tools:", *shown, *more]))
    return "\n\n".join(parts)


def skills_of(categories: Sequence[Category], settings: MenuSettings) -> str:
    """Return the authors' instructions for categories."""
    return "\n\n".join(_within(list(_skills(categories, {})), settings.prompt_tokens))


def _has_keywords(categories: Categories) -> bool:
    return any(category.keywords for category in categories.by_name.values())


def _listed(category: Category) -> str:
    told = f": {visible(category.description[:_TOLD])}" if category.description else ""
    count = len(category.tools)
    return f"- {category.name} ({count} {'tool' if count == 1 else 'tools'}){told}"


def _skills(offered: Sequence[Category], instructions: Mapping[str, str]) -> Iterator[str]:
    """Return the authors' instructions for the sources and categories of offered tools."""
    for name, text in instructions.items():
        yield f"{name}: {text.strip()}"
    for category in offered:
        if category.instructions:
            yield f"{category.name}: {category.instructions.strip()}"
        for example in category.examples:
            yield f"{category.name}, example: {example}"


def _within(texts: Sequence[str], budget_tokens: int) -> list[str]:
    """Return the texts that fit, in order."""
    kept = []
    for text in texts:
        cost = estimate(text) + 1
        if cost <= budget_tokens:
            budget_tokens -= cost
            kept.append(text)
    return kept
