"""Look-ups: find the tools that provide the required values of another tool, such as the list that contains an id."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codemode.catalog.tool import Effect
from codemode.search.analysis import text, wordlists
from codemode.search.query import LookUp, Query

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.catalog.tool import Tool
    from codemode.search.query import Hit, Hits

_IDENTIFIER = re.compile(r"(?P<what>.*?)_?(?:ids?|uuid|guid|key|slug|number|login)$", re.IGNORECASE)
_MOST = 2  # look-ups shown for one tool
_TRIED = 8  # hits that are examined for one parameter


def find_look_ups(tool: Tool, search: Callable[[Query], Hits], by_id: Callable[[str], Tool | None]) -> list[LookUp]:
    """Return at most two look-ups of `tool`.

    Tools of its namespace that list the things whose ids it requires come first. Tools that it declares as related
    follow.
    """
    look_ups: list[LookUp] = []
    for parameter in tool.parameters:
        what = _thing(parameter.name, tool) if parameter.required else ""
        provider = _provider(what, tool, search) if what else None
        if provider is not None and all(provider.id != other.tool.id for other in look_ups):
            look_ups.append(LookUp(parameter.name, provider))
    declared = [other for other in map(by_id, tool.related) if other is not None]
    look_ups += [LookUp("", other) for other in declared if all(other.id != known.tool.id for known in look_ups)]
    return look_ups[:_MOST]


def _thing(parameter: str, tool: Tool) -> str:
    """Return what a parameter identifies: `member` for `member_id`; for `id`, the nouns of the tool name."""
    match = _IDENTIFIER.fullmatch(parameter)
    if match is None:
        return ""
    return match["what"].replace("_", " ").strip() or " ".join(_nouns(tool.path))


def _provider(what: str, tool: Tool, search: Callable[[Query], Hits]) -> Tool | None:
    wanted = set(text.terms(what))
    hits = search(Query((f"list {what}",), namespace=tool.namespace, effect=Effect.READ, limit=_TRIED)).hits
    fitting = [hit for hit in hits if hit.tool.id != tool.id and _provides(hit, wanted)]
    return min(fitting, key=_needs).tool if fitting else None


def _provides(hit: Hit, wanted: set[str]) -> bool:
    """Return whether the tool name contains the wanted terms, and no required parameter asks for them."""
    asked = {text.term(word) for p in hit.tool.parameters if p.required for word in _thing(p.name, hit.tool).split()}
    return wanted <= set(text.terms(hit.tool.path)) and not wanted & asked


def _needs(hit: Hit) -> tuple[int, int]:
    """Return the number of required parameters and of nouns in the name. The look-up with the fewest is best."""
    return sum(parameter.required for parameter in hit.tool.parameters), len(_nouns(hit.tool.path))


def _nouns(path: str) -> list[str]:
    return [term for term in dict.fromkeys(text.terms(path)) if term not in wordlists.actions()]
