"""Signatures inside the definition of `execute`: the whole catalog where it fits, else the tools that are likely."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from codemode.catalog import stubs
from codemode.catalog.shapes import Shapes
from codemode.catalog.tokens import bound
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool

ALL = "All tools:"
SOME = "Some tools:"

#: Hardly a signature has fewer tokens: a larger catalog is not tried.
_LEAST_SIGNATURE = 14

#: The most likely tools that are tried.
_MOST_LIKELY = 200


class _Level(NamedTuple):
    """How much of each tool is shown: tokens of the tool with its types, of its signature, and of an introduction."""

    tool: int
    head: int
    introduction: int


#: The levels that are tried. The first that fits is used, if the last one does.
_LEVELS = (_Level(600, 260, 120), _Level(260, 110, 120), _Level(150, 60, 60), _Level(90, 45, 60))
_LEVEL_OF_SOME = _Level(220, 90, 60)


@dataclass(frozen=True, slots=True)
class Inline:
    """Signatures for the definition of `execute`. `advice` is a sentence on how to write programs.

    `is_whole` is whether all tools of the catalog are among them. `introduced` are the namespaces whose conventions
    are in the text.
    """

    text: str = ""
    is_whole: bool = False
    introduced: frozenset[str] = frozenset()
    advice: str = ""


NOTHING_INLINE = Inline()


def inline(
    catalog: Catalog,
    likely: Callable[[], Iterable[Tool]],
    budget_tokens: int,
    *,
    introduction: Callable[[str, int], str] = lambda _namespace, _tokens: "",
    observed: Callable[[Tool], Schema | None] = lambda _: None,
) -> Inline:
    """Return the signatures of all tools if they fit, else those of `likely` that do, the most likely first.

    `introduction` returns what an API says about its conventions, within a number of tokens. Types are defined once.
    The text is the same for the same arguments, in the order of the ids.
    """
    if not catalog.unavailable and 0 < len(catalog) * _LEAST_SIGNATURE <= budget_tokens:
        render = partial(_text, ALL, catalog.tools, introduction, observed, budget_tokens)
        least = render(_LEVELS[-1])
        if least is not None:
            best = next((text for text in map(render, _LEVELS[:-1]) if text is not None), least)
            return replace(best, is_whole=True)
    chosen = _that_fit(list(likely())[:_MOST_LIKELY], budget_tokens, observed) if budget_tokens else []
    while chosen:
        some = _text(SOME, _in_order(chosen), introduction, observed, budget_tokens, _LEVEL_OF_SOME)
        if some is not None:
            return some
        chosen.pop()
    return Inline()


def _text(
    heading: str,
    tools: Sequence[Tool],
    introduction: Callable[[str, int], str],
    observed: Callable[[Tool], Schema | None],
    budget_tokens: int,
    level: _Level,
) -> Inline | None:
    """Return the text at a level, None if it does not fit."""
    texts = {name: introduction(name, level.introduction) for name in dict.fromkeys(tool.namespace for tool in tools)}
    lines = [heading, *(visible(f"# {name}: {' '.join(text.split())}") for name, text in texts.items() if text)]
    shapes = Shapes(compact=True)
    left = budget_tokens - tokens_of("\n".join(lines))
    for tool in tools:
        lines.append(_signature(tool, level, shapes, observed))
        left -= tokens_of(f"\n{lines[-1]}")
        if left < 0:
            return None
    return Inline("\n".join(lines), introduced=frozenset(name for name, text in texts.items() if text))


def _signature(tool: Tool, level: _Level, shapes: Shapes, observed: Callable[[Tool], Schema | None]) -> str:
    return stubs.stub(
        tool,
        budget_tokens=level.tool,
        observed=observed(tool),
        shapes=shapes,
        head_tokens=level.head,
        pages=True,
    )


def _that_fit(likely: Sequence[Tool], budget_tokens: int, observed: Callable[[Tool], Schema | None]) -> list[Tool]:
    """Return the likely tools that fit, each with its own types. One takes at most a quarter of the budget."""
    left = budget_tokens - tokens_of(SOME)
    chosen = []
    for tool in likely:
        needed = tokens_of("\n" + _signature(tool, _LEVEL_OF_SOME, Shapes(compact=True), observed))
        if needed <= min(left, budget_tokens // 4):
            chosen.append(tool)
            left -= needed
    return chosen


def _in_order(tools: Iterable[Tool]) -> list[Tool]:
    return sorted(tools, key=lambda tool: tool.id)


def tokens_of(text: str) -> int:
    """Return no fewer tokens than a text has as a part of JSON, also if it is no language."""
    return bound(json.dumps(text, ensure_ascii=False)[1:-1])
