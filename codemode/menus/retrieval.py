"""Find the tools that fit a conversation, by search or by cheap word overlap."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.menus.meta_tools import META_TOOLS
from codemode.search.analysis.text import terms
from codemode.search.query import Query
from codemode.search.render import doubt

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from codemode.catalog.tool import Tool
    from codemode.menus.conversation import Conversation
    from codemode.search.finder import Finder
    from codemode.search.query import Hit, Hits

#: The most hits a search returns.
HITS = 200

#: Longest query in characters.
_LONGEST_QUERY = 1_000

#: Messages with at most this many terms have no content of their own.
_SHORT = 3

#: The note of a menu whose best tool may fit no message.
NOT_SURE = "not sure: no tool fits the messages well"

#: Hits of a newer message for each hit of an earlier one.
_CHANGE = 3


@dataclass(frozen=True, slots=True)
class RankedHits:
    """Hits for a conversation, best first. `confidence` is the probability that the first one is right, 0 to 1."""

    hits: tuple[Hit, ...] = ()
    confidence: float = 0.0
    is_unsure: bool = False

    def score(self, place: int) -> float:
        """Return the confidence in a hit, 0 to 1, less for a lower score than the best one."""
        best = max(hit.score for hit in self.hits)
        return self.confidence * max(0.0, self.hits[place].score / best) if best > 0 else 0.0


class CommonWords:
    """Word overlap between a text and tool names and summaries; rare words count more."""

    def __init__(self) -> None:
        self._words: dict[str, frozenset[str]] = {}

    def best(self, asked: Collection[str], tools: Sequence[Tool], count: int) -> list[Tool]:
        """Return the best `count` tools in their order. `asked` are the terms of the text."""
        common = [self._of(tool).intersection(asked) for tool in tools]
        spread = Counter(word for words in common for word in words)
        scores = [sum(math.log(1 + len(tools) / spread[word]) for word in words) for words in common]
        kept = sorted(sorted(range(len(tools)), key=lambda place: -scores[place])[:count])
        return [tools[place] for place in kept]

    def _of(self, tool: Tool) -> frozenset[str]:
        words = self._words.get(tool.id)
        if words is None:
            words = self._words[tool.id] = frozenset(terms(f"{tool.path} {tool.summary}"))
        return words


def query_of(conversation: Conversation, calls: int = 0) -> str:
    """Build a query from the message, the conversation summary, and the last `calls` calls."""
    made = [call for call in conversation.calls if call.name not in META_TOOLS]
    recent = made[len(made) - min(calls, len(made)) :]
    told = (f"{call.name} {' '.join(map(str, call.arguments))}".strip() for call in recent)
    return "\n".join(part for part in (conversation.message, conversation.summary, *told) if part)


async def hits_of(finder: Finder, text: str, limit: int = HITS) -> tuple[tuple[Hit, ...], str]:
    """Return the best hits for a text, and what speaks against them or ""; nothing for an empty text."""
    hits = await _searched(finder, [text], limit)
    return (hits.hits, doubt(hits)) if hits is not None else ((), "")


async def ranked(finder: Finder, text: str, earlier: Sequence[str] = (), limit: int = HITS) -> RankedHits:
    """Return the best hits for a text and for the messages before it, newest first.

    A message without content of its own, such as "yes, delete it", counts as much as the earlier ones together. Any
    other counts three times as much, because it may change the topic (docs/benchmarks/menus.md).
    """
    newest = await _searched(finder, [text], limit)
    before = await _searched(finder, earlier, limit)
    first = newest.hits if newest else ()
    hits = _interleaved(first, before.hits if before else (), _CHANGE if len(terms(text)) > _SHORT else 1)
    searches = [search for search in (newest, before) if search is not None]
    confidence = max((each for search in searches for each in search.confidence), default=0.0)
    return RankedHits(hits[:limit], confidence, is_unsure=bool(hits) and not any(map(_is_sure, searches)))


def _is_sure(hits: Hits) -> bool:
    """Return whether one of the queries has a hit that probably fits."""
    return len({*hits.unsure, *hits.empty}) < len(hits.query.queries)


async def _searched(finder: Finder, texts: Sequence[str], limit: int) -> Hits | None:
    queries = tuple(text[:_LONGEST_QUERY] for text in texts if text.strip())
    if not queries:
        return None
    query = Query(queries, limit=limit)
    if finder.uses_embeddings:  # waits for query vectors
        return await asyncio.to_thread(finder.search, query)
    return finder.search(query)


def _interleaved(newer: Sequence[Hit], earlier: Sequence[Hit], share: int) -> tuple[Hit, ...]:
    """Return all hits, `share` newer ones for each earlier one, without repeated tools."""
    merged: dict[str, Hit] = {}
    for turn in range(max(len(newer), len(earlier))):
        for hit in (*newer[turn * share : (turn + 1) * share], *earlier[turn : turn + 1]):
            merged.setdefault(hit.tool.id, hit)
    return tuple(merged.values())
