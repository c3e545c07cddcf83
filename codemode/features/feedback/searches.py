"""Recent searches of callers, and the calls that followed them. They are in the memory of one server."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codemode.features.feedback.record import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from codemode.search.query import Hits

#: The most callers whose searches are remembered, and the most searches of each.
_CALLERS, _SEARCHES = 1_000, 20

#: Seconds for which a search is remembered.
_RECENT_S = 3_600.0

#: Calls that one query is followed by: of more, the later ones have other causes.
_FOLLOWERS = 3


@dataclass(slots=True)
class _Asked:
    """One query of a search with its hits. Queries of one search have the same `number`."""

    number: int
    conversation: str
    query: str
    tools: frozenset[str]
    at: float
    called: set[str] = field(default_factory=set)


class Searches:
    """Matches calls with the searches before them. A `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._of: OrderedDict[str, deque[_Asked]] = OrderedDict()
        self._numbers = 0
        self.clock = clock

    def add(self, hits: Hits, who: str, conversation: str) -> None:
        """Remember a search of a caller, also one without hits."""
        self._numbers += 1
        asked = self._of.setdefault(who, deque(maxlen=_SEARCHES))
        self._of.move_to_end(who)
        if len(self._of) > _CALLERS:
            self._of.popitem(last=False)
        for place, query in enumerate(hits.query.queries):
            tools = frozenset(hit.tool.id for hit in hits.hits if hit.query == place)
            asked.append(_Asked(self._numbers, conversation, query, tools, self.clock()))

    def followed(self, tools: Iterable[str], who: str, since: float) -> list[Call]:
        """Return what the calls of one program say of the searches before them. `since` is when the program began.

        The latest search that found a tool is followed by its call. The search just before that one in the same
        conversation, or in the same program, had nothing to call: the tool answers its queries too, less surely.
        """
        asked = [one for one in self._of.get(who, ()) if self.clock() - one.at <= _RECENT_S]
        used = [one for tool in dict.fromkeys(tools) if (one := _credit(asked, tool)) is not None]
        direct = [Call(one.query, tool, who) for one, tool in used]
        return direct + [call for one, tool in used for call in _in_vain(asked, one, tool, who, since)]


def _credit(asked: list[_Asked], tool: str) -> tuple[_Asked, str] | None:
    """Mark the latest query that found a tool as followed by its call. Return both, None if it was or there is none."""
    one = next((one for one in reversed(asked) if tool in one.tools), None)
    if one is None or tool in one.called or len(one.called) >= _FOLLOWERS:
        return None
    one.called.add(tool)
    return one, tool


def _in_vain(asked: list[_Asked], after: _Asked, tool: str, who: str, since: float) -> Iterator[Call]:
    """Yield a call for each query of the search before another one, if no hit of that search was called."""
    before = [
        one
        for one in asked
        if one.number < after.number
        and one.conversation == after.conversation
        and (one.conversation or one.at >= since)
    ]
    search = [one for one in before if one.number == before[-1].number]
    if not any(one.called for one in search):
        for one in search:
            one.called.add(tool)
            yield Call(one.query, tool, who, direct=False)
