"""The tools that a search for the first message of a conversation finds, so that the model often needs no search."""

from __future__ import annotations

import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from codemode.errors import CodeModeError
from codemode.menus.conversation import read_turn
from codemode.search.request import MAX_QUERY, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from codemode.catalog.catalog import Catalog
    from codemode.search.result import SearchAnswer

#: Signatures in the prompt.
_SIGNATURES = 5

_HEADING = "Tools that a search for the first message finds. Call them without another search, if they suffice:"


def first_message(message: str, history: Iterable[Any]) -> str:
    """Return the first text of the user, cut to the length of a query. `message` is used if the history has none."""
    said = (turn.text for turn in map(read_turn, history) if turn.role == "human" and turn.text.strip())
    return next(said, message).strip()[:MAX_QUERY]


class FirstMessage:
    """Searches once for the first message. The text stays the same for the conversation, so that prompts are cached."""

    def __init__(self) -> None:
        self._known: tuple[str, weakref.ref[Catalog], str] | None = None

    def forget(self) -> None:
        """Search again: another conversation begins."""
        self._known = None

    async def prompt(
        self, message: str, catalog: Catalog, find: Callable[[SearchRequest], Awaitable[SearchAnswer]], told: set[str]
    ) -> str:
        """Return signatures and conventions for the system prompt, "" if the search is not sure of them.

        `find` searches. `told` are the introduced namespaces: those of the answer are added.
        """
        if not message:
            return ""
        if self._known is None or self._known[0] != message or self._known[1]() is not catalog:
            self._known = message, weakref.ref(catalog), await self._searched(message, find, told)
        return self._known[2]

    @staticmethod
    async def _searched(message: str, find: Callable[[SearchRequest], Awaitable[SearchAnswer]], told: set[str]) -> str:
        with suppress(CodeModeError):  # the model searches itself
            answer = await find(SearchRequest(queries=[message], limit=_SIGNATURES, introduce=False))
            if answer.hits and not answer.unsure:
                return f"{_HEADING}\n{answer.introduced(told)}"
        return ""
