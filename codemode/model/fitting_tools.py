"""The tools that a search for a user's message finds, so that the model often needs no search.

Those of the first message of a conversation are in the system prompt. Those of a later message follow that message, so
that the beginning of the request stays the same for prompt caches.
"""

from __future__ import annotations

import weakref
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codemode.errors import CodeModeError
from codemode.menus.conversation import read_turn
from codemode.search.request import MAX_QUERY, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from codemode.catalog.catalog import Catalog
    from codemode.menus.conversation import Turn
    from codemode.search.query import Hit
    from codemode.search.result import Accepts, SearchAnswer

    #: Searches. The answer has only the hits that a function accepts.
    FindSome = Callable[[SearchRequest, Accepts], Awaitable[SearchAnswer]]

#: Signatures for each message.
_SIGNATURES = 5

_FIRST = "Tools that a search for the first message finds. Call them without another search, if they suffice:"
_LATER = "(Further tools that a search for this message finds:"


@dataclass(frozen=True, slots=True)
class LaterMessage:
    """A message after the first, the one before it, and what the model has read since the beginning."""

    message: str
    before: str
    read: tuple[str, ...]


def first_message(message: str, history: Iterable[Any]) -> str:
    """Return the first text of the user, cut to the length of a query. `message` is used if the history has none."""
    said = (turn.text for turn in map(read_turn, history) if turn.role == "human" and turn.text.strip())
    return next(said, message).strip()[:MAX_QUERY]


def has_answers(history: Iterable[Any]) -> bool:
    """Return whether anything in a history is not from the user."""
    return any(turn.role != "human" for turn in map(read_turn, history))


def later_message(message: str, history: Iterable[Any]) -> LaterMessage | None:
    """Return a message that is not the first of its conversation, and to which nothing was answered yet; else None.

    The history may end with the message, or lack it.
    """
    turns = [turn for turn in map(read_turn, history) if turn.text.strip()]
    said = [_said(turn) for turn in turns if turn.role == "human"]
    if turns and turns[-1].role == "human":
        if _LATER in turns[-1].text or message not in ("", said[-1]):
            return None
        message = said.pop()
    elif message in ("", *said):
        return None
    if not said:
        return None
    return LaterMessage(message, said[-1], tuple(turn.text for turn in turns if turn.role != "assistant"))


def _said(turn: Turn) -> str:
    """Return what the user said, without the tools that follow it."""
    return turn.text.partition(f"\n\n{_LATER}")[0]


class FittingTools:
    """Searches for the messages of one conversation. The text for the first one stays the same."""

    def __init__(self) -> None:
        self._known: tuple[str, weakref.ref[Catalog], str] | None = None

    async def prompt(self, message: str, catalog: Catalog, find: FindSome, told: set[str], *, inline: str = "") -> str:
        """Return signatures and conventions for the system prompt, "" if the search is not sure of them.

        `find` searches. `told` are the introduced namespaces: those of the answer are added. Tools of the text `inline`
        are left out.
        """
        if not message:
            return ""
        if self._known is None or self._known[0] != message or self._known[1]() is not catalog:
            found = await _fitting(message, find, told, (inline,))
            self._known = message, weakref.ref(catalog), f"{_FIRST}\n{found}" if found else ""
        return self._known[2]

    async def addition(self, later: LaterMessage, find: FindSome, told: set[str], *, inline: str = "") -> str:
        """Return signatures of tools that the model has not seen, to be added to a later message, or "".

        The message before it is searched for again, because its tools may be new.
        """
        prompt = "" if self._known is None else self._known[2]
        texts = [inline, prompt, *later.read]
        found: list[str] = []
        for query in (later.message, later.before):
            found += filter(None, [await _fitting(query.strip()[:MAX_QUERY], find, told, (*texts, *found))])
        return "\n".join([_LATER, *found]) + ")" if found else ""


async def _fitting(query: str, find: FindSome, told: set[str], read: Iterable[str]) -> str:
    """Return the signatures of the first hits that are in none of the texts that the model has read."""
    text = "\n".join(read)

    def is_new(hit: Hit) -> bool:
        return not any(f"{hit.tool.id}({start}" in text for start in ("*", ")"))

    with suppress(CodeModeError):  # the model searches itself
        answer = await find(SearchRequest(queries=[query], limit=_SIGNATURES, introduce=False), is_new)
        return answer.introduced(told) if answer.hits else ""
    return ""
