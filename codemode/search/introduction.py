"""Introductions: what the description of an API says about units, times and other conventions, within a budget."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codemode.catalog.tokens import estimate
from codemode.text.prose import plain, sentences
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.catalog.catalog import Catalog

#: Budgets of one introduction in an answer of search, and in a description of a namespace.
ANSWER_TOKENS = 120
DESCRIBED_TOKENS = 400

_MOST_CHARACTERS = 20_000  # of a description that are read

#: Words of conventions that a program has to know.
_CONVENTION = re.compile(
    r"\b(?:units?|cents?|minor|currenc\w+|amounts?|prices?|decimals?|percent\w*|metric|bytes|time ?zones?|utc|gmt|local"
    r" time|times?|timestamps?|dates?|days?|iso[ -]?\d+|today|now|clock|unix|epoch|paged|pages?|pagination|limit|offset"
    r"|cursor|sorted|ids?|identifiers?|null|empty|case[- ]sensitive|must|never|always|only)\b",
    re.IGNORECASE,
)


#: A name of several words, which is no part of a longer one: `get_gym_info`, `getGymInfo`.
_OPERATION = re.compile(
    r"(?<![\w.\-])(?:[A-Za-z0-9]{1,60}(?:_[A-Za-z0-9]{1,60}){1,9}|[a-z]{1,60}(?:[A-Z][a-z0-9]{1,60}){1,9})(?![\w.\-]\w)"
)


def introductions(instructions: Mapping[str, str], descriptions: Mapping[str, str]) -> dict[str, str]:
    """Join the operator's instructions of each source and the description in its document, both by source name."""
    names = dict.fromkeys((*instructions, *descriptions))
    texts = {
        name: "\n".join(part.strip() for part in (instructions.get(name, ""), descriptions.get(name, "")) if part)
        for name in names
    }
    return {name: text for name, text in texts.items() if text.strip()}


def condensed(text: str, budget_tokens: int) -> str:
    """Return a text on one line within a budget.

    If it is too long, sentences about conventions come before the others. All keep their order.
    """
    whole = plain(text[:_MOST_CHARACTERS])
    if estimate(whole) <= budget_tokens:
        return visible(whole)
    parts = sentences(whole)
    order = sorted(range(len(parts)), key=lambda place: (not _CONVENTION.search(parts[place]), place))
    return visible(" ".join(parts[place] for place in sorted(_fitting(parts, order, budget_tokens))))


def with_full_names(text: str, namespace: str, catalog: Catalog) -> str:
    """Return a text with the operations of a namespace by the ids that programs call: `gym.core.get_gym_info`.

    Names of tools that the catalog lacks stay as they are, and words that may be no names.
    """

    def in_full(found: re.Match[str]) -> str:
        tool = catalog.resolved(f"{namespace}.{found[0]}")
        return found[0] if tool is None else tool.id

    return _OPERATION.sub(in_full, text)


def introduction_lines(texts: Mapping[str, str]) -> list[str]:
    """Return a comment line for each namespace."""
    return [f"# {name}: {text}" for name, text in texts.items()]


def _fitting(parts: list[str], order: Iterable[int], budget_tokens: int) -> list[int]:
    kept = []
    for place in order:
        tokens = estimate(parts[place]) + 1
        if tokens <= budget_tokens:
            kept.append(place)
            budget_tokens -= tokens
    return kept
