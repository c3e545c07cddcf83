"""Look-ups: the tools that give what another tool must be told, such as the list that an id is found in."""

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
_TRIED = 8  # hits among which a look-up is sought


def find_look_ups(tool: Tool, search: Callable[[Query], Hits], by_id: Callable[[str], Tool | None]) -> list[LookUp]:
    """Tools that give the ids that `tool` requires, found by name in its namespace, then those it is declared to be
    related to."""
    found: list[LookUp] = []
    for parameter in tool.parameters:
        what = _thing(parameter.name, tool) if parameter.required else ""
        giver = _giver(what, tool, search) if what else None
        if giver is not None and all(giver.id != other.tool.id for other in found):
            found.append(LookUp(parameter.name, giver))
    declared = [other for other in map(by_id, tool.related) if other is not None]
    found += [LookUp("", other) for other in declared if all(other.id != known.tool.id for known in found)]
    return found[:_MOST]


def _thing(parameter: str, tool: Tool) -> str:
    """What a parameter identifies: `member` for `member_id`, and for a bare `id` the thing in the tool's name."""
    match = _IDENTIFIER.fullmatch(parameter)
    if match is None:
        return ""
    return match["what"].replace("_", " ").strip() or " ".join(_nouns(tool.path))


def _giver(what: str, tool: Tool, search: Callable[[Query], Hits]) -> Tool | None:
    wanted = set(text.terms(what))
    hits = search(Query((f"list {what}",), namespace=tool.namespace, effect=Effect.READ, limit=_TRIED)).hits
    fitting = [hit for hit in hits if hit.tool.id != tool.id and _gives(hit, wanted)]
    return min(fitting, key=_needs).tool if fitting else None


def _gives(hit: Hit, wanted: set[str]) -> bool:
    """Whether a tool is named for the thing, and does not itself need to be told which one."""
    asked = {text.term(word) for p in hit.tool.parameters if p.required for word in _thing(p.name, hit.tool).split()}
    return wanted <= set(text.terms(hit.tool.path)) and not wanted & asked


def _needs(hit: Hit) -> tuple[int, int]:
    """How much a look-up must be told, then how specific its name is."""
    return sum(parameter.required for parameter in hit.tool.parameters), len(_nouns(hit.tool.path))


def _nouns(path: str) -> list[str]:
    return [term for term in dict.fromkeys(text.terms(path)) if term not in wordlists.actions()]
