"""`tool_search`: native tools that a model finds by a search. The hits are offered for the rest of the conversation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from codemode.catalog.cost import LOADED
from codemode.catalog.definitions import TOOL_SEARCH, native_name
from codemode.errors import CodeModeError
from codemode.menus.conversation import read_turn
from codemode.model.answer import Answer
from codemode.model.names import tool_of
from codemode.search.render import with_doubt
from codemode.search.request import MAX_QUERY, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.menus.conversation import Turn
    from codemode.search.result import SearchAnswer

    Find = Callable[[SearchRequest], Awaitable[SearchAnswer]]

_NOW = "These functions can be called now: "
_LISTED = re.compile(r"hese functions can be called now: ([\w\-, ]{1,2000})")


class ToolSearchArguments(BaseModel):
    """Arguments of `tool_search`."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1)


class DeferredTools:
    """The tools that the searches of one conversation have found, in this order: a prompt cache keeps its beginning."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._queries: set[str] = set()
        self._listed: set[str] = set()

    def tools(self, catalog: Catalog, most: int) -> list[Tool]:
        """Return the tools that the catalog still has, the last `most` of them."""
        return [catalog.get(id_) for id_ in self._ids if id_ in catalog][-most:]

    async def continued(self, history: Iterable[Any], find: Find, catalog: Catalog) -> None:
        """Load what the searches in a history found that another object answered."""
        turns = tuple(map(read_turn, history))
        listed = [name for text in _answers(turns) for names in _LISTED.findall(text) for name in names.split(", ")]
        for tool in (tool_of(name, catalog) for name in dict.fromkeys(listed) if name not in self._listed):
            self._ids |= {} if tool is None else {tool.id: None}
        self._listed.update(listed)
        for call in (call for turn in turns for call in turn.calls):
            query = call.arguments.get("query")
            if call.name == TOOL_SEARCH and isinstance(query, str) and query and query not in self._queries:
                try:
                    await self._load(query, find)
                except CodeModeError:  # it was answered with the error
                    self._queries.add(query)

    async def answer(self, arguments: ToolSearchArguments, find: Find, pins: Iterable[str] = ()) -> Answer:
        """Answer a search, and load its hits. `pins` are the ids of tools that are always offered.

        Raises CodeModeError.
        """
        before = {*self._ids, *pins}
        found = await self._load(arguments.query, find)
        tools = [hit.tool for hit in found.hits]
        names = [native_name(tool) for tool in tools if tool.id not in before]
        shown = [native_name(tool) for tool in tools if tool.id in before]
        parts = [f"{_NOW}{', '.join(names)}" if names else "Nothing new"]
        parts += [f"shown before: {', '.join(shown)}"] if shown else []
        text = with_doubt("; ".join(parts) if tools else "", found.doubt)
        return Answer(f"{text}.", loaded=tuple(tool.id for tool in tools))

    async def _load(self, query: str, find: Find) -> SearchAnswer:
        self._queries.add(query)
        found = await find(SearchRequest(queries=[query[:MAX_QUERY]], limit=LOADED, introduce=False))
        self._ids |= {hit.tool.id: None for hit in found.hits}
        return found


def _answers(turns: Sequence[Turn]) -> Iterator[str]:
    """Return the answers of searches. Other results may hold what an outsider wrote."""
    searches = {call.id for turn in turns for call in turn.calls if call.name == TOOL_SEARCH}
    return (turn.text for turn in turns if turn.answers and turn.answers in searches)
