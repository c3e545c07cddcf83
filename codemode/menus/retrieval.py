"""Find the tools that fit a conversation, by search or by cheap word overlap."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from typing import TYPE_CHECKING

from codemode.menus.meta_tools import META_TOOLS
from codemode.search.analysis.text import terms
from codemode.search.query import Query

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from codemode.catalog.tool import Tool
    from codemode.menus.conversation import Conversation
    from codemode.search.finder import Finder
    from codemode.search.query import Hit

#: The most hits a search returns.
HITS = 200

#: Longest query in characters.
_LONGEST_QUERY = 1_000


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


async def hits_of(finder: Finder, text: str, limit: int = HITS) -> tuple[Hit, ...]:
    """Return the best hits for a text, or nothing for an empty one."""
    if not text.strip():
        return ()
    query = Query((text[:_LONGEST_QUERY],), limit=limit)
    if finder.uses_embeddings:  # waits for query vectors
        return (await asyncio.to_thread(finder.search, query)).hits
    return finder.search(query).hits
