"""What a conversation is searched by, and what the search gives."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codemode.menus.meta_tools import META_TOOLS
from codemode.search.query import Query

if TYPE_CHECKING:
    from codemode.menus.conversation import Conversation
    from codemode.search.finder import Finder
    from codemode.search.query import Hit

#: Hits among which tools are looked for; a search has no more.
HITS = 200

#: What is searched for, at most, in characters.
_LONGEST_QUERY = 1_000


def query_of(conversation: Conversation, calls: int = 0) -> str:
    """The message, the summary of the conversation, and names and arguments' names of the last `calls` calls."""
    made = [call for call in conversation.calls if call.name not in META_TOOLS]
    recent = made[len(made) - min(calls, len(made)) :]
    told = (f"{call.name} {' '.join(map(str, call.arguments))}".strip() for call in recent)
    return "\n".join(part for part in (conversation.message, conversation.summary, *told) if part)


async def hits_of(finder: Finder, text: str, limit: int = HITS) -> tuple[Hit, ...]:
    """The best hits for a text; none for an empty one."""
    if not text.strip():
        return ()
    query = Query((text[:_LONGEST_QUERY],), limit=limit)
    if finder.uses_embeddings:  # it may wait for them
        return (await asyncio.to_thread(finder.search, query)).hits
    return finder.search(query).hits
