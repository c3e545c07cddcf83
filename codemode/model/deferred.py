"""`tool_search`: native tools that a model finds by a search. The hits are offered for the rest of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from codemode.catalog.cost import LOADED
from codemode.catalog.definitions import TOOL_SEARCH, native_name
from codemode.errors import CodeModeError
from codemode.menus.conversation import Conversation
from codemode.model.answer import Answer
from codemode.search.request import MAX_QUERY, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.search.result import SearchAnswer

    Find = Callable[[SearchRequest], Awaitable[SearchAnswer]]

_NOTHING = "No tool was found: say in other words what it should do."


class ToolSearchArguments(BaseModel):
    """Arguments of `tool_search`."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1)


class DeferredTools:
    """The tools that the searches of one conversation have found, in this order: a prompt cache keeps its beginning."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._queries: set[str] = set()

    def tools(self, catalog: Catalog, most: int) -> list[Tool]:
        """Return the tools that the catalog still has, the last `most` of them."""
        return [catalog.get(id_) for id_ in self._ids if id_ in catalog][-most:]

    async def continued(self, history: Iterable[Any], find: Find) -> None:
        """Load what the searches in a history found that another object answered."""
        for call in Conversation.of("", history).calls:
            query = call.arguments.get("query")
            if call.name == TOOL_SEARCH and isinstance(query, str) and query and query not in self._queries:
                try:
                    await self._load(query, find)
                except CodeModeError:  # it was answered with the error
                    self._queries.add(query)

    async def answer(self, arguments: ToolSearchArguments, find: Find) -> Answer:
        """Answer a search, and load its hits. Raises CodeModeError."""
        hits = await self._load(arguments.query, find)
        names = ", ".join(map(native_name, hits))
        text = f"These functions can be called now: {names}." if hits else _NOTHING
        return Answer(text, loaded=tuple(tool.id for tool in hits))

    async def _load(self, query: str, find: Find) -> list[Tool]:
        self._queries.add(query)
        found = await find(SearchRequest(queries=[query[:MAX_QUERY]], limit=LOADED, introduce=False))
        self._ids |= {hit.tool.id: None for hit in found.hits}
        return [hit.tool for hit in found.hits]
