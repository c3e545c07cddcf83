"""A conversation with menus: answers meta-tools and remembers the requested tools."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.definitions import native_name
from codemode.menus.conversation import AskedCall, Conversation, read_arguments, read_call
from codemode.menus.menu import Reason
from codemode.menus.meta_tools import META_TOOLS, MOST_ENUMERATED, NOTHING_NEW, REQUEST_MORE_TOOLS, MetaAnswer
from codemode.menus.prompt import skills_of
from codemode.menus.retrieval import hits_of
from codemode.search.render import with_doubt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from codemode.catalog.tool import Tool
    from codemode.menus.menu import Menu, RunTool
    from codemode.menus.selection import Selector

#: Tools loaded by a `request_tool` with a description.
_DESCRIBED = 5


#: Relevance of a requested tool: more than any other.
_ASKED_FOR = 1_000.0


class MenuSession:
    """Menus for one conversation, always from the current view.

        menu = await session.offer(message, history)     # before each request to a model
        answer = await session.handle(call)              # None: not a meta-tool, so call session.tool(name)

    Requests in the history count too, so a new session continues where the last one ended. If meta-tools are answered
    (`answers`), they are offered unless the settings forbid it; otherwise only if the settings require them. `run`
    calls a tool for the holder of a menu, and `offered` receives each menu.
    """

    def __init__(
        self,
        selector: Callable[[], Awaitable[Selector]],
        *,
        answers: bool = True,
        run: RunTool | None = None,
        offered: Callable[[Menu], None] = lambda _: None,
    ) -> None:
        self._selector_of = selector
        self._run = run
        self._offered = offered
        self._answers = answers
        self._selector: Selector | None = None
        self._requested: dict[str, Reason] = {}
        self._at_hand: set[str] = set()  # offered ids, and ids loaded since
        self._found: dict[str, Requested] = {}  # what each call requests

    async def offer(self, message: str = "", history: Iterable[Any] = (), summary: str = "") -> Menu:
        """Return the menu for a message, with the tools requested so far.

        `history` holds the messages before it, and those after it while its answer is in progress. Without a message,
        the last human message of the history is used.
        """
        selector = self._selector = await self._selector_of()
        conversation = Conversation.of(message, history, summary)
        meta = selector.meta(answered=self._answers)
        for call in conversation.calls:
            if call.name in meta:
                self._take((await self._requested_by(selector, call)).tools)
        known = {id_: why for id_, why in self._requested.items() if id_ in selector.catalog}
        menu = await selector.select(conversation, requested=known, meta=meta)
        self._at_hand = {tool.id for tool in menu.tools}
        self._offered(menu)
        return menu if self._run is None else replace(menu, run=self._run)

    @staticmethod
    def is_meta(name: str) -> bool:
        """Return whether this session answers that function."""
        return name in META_TOOLS

    def tool(self, name: str) -> Tool | None:
        """Return the tool with that function name, id or exact alias, offered or not, or None.

        Returns None before the first offer.
        """
        return None if self._selector is None else self._selector.tool(name)

    async def handle(self, call: Any = None, *, name: str = "", arguments: Any = None) -> MetaAnswer | None:
        """Answer a meta-tool call, given as a tool call or by name and arguments; None for other calls.

        The answer reports any mistake in the call.
        """
        asked = AskedCall(name, *_read(arguments)) if call is None else read_call(call)
        if asked.name not in META_TOOLS:
            return None
        if self._selector is None:
            await self.offer()
        selector = self._selector = await self._selector_of()
        meta = selector.meta(answered=self._answers)
        problem = asked.problem if asked.name in meta else f"{asked.name} is switched off"
        if problem:
            return MetaAnswer(asked.id, asked.name, asked.arguments, f"{NOTHING_NEW}: {problem}")
        found = await self._requested_by(selector, asked)
        new = [id_ for id_ in found.tools if id_ not in self._at_hand]
        loaded = new[: max(0, selector.settings.cap - len(meta) - len(selector.core))]
        self._at_hand.update(loaded)
        self._take({id_: why for id_, why in found.tools.items() if id_ in self._at_hand})
        return self._answer(selector, asked, found, loaded, left=len(new) - len(loaded))

    async def _requested_by(self, selector: Selector, call: AskedCall) -> Requested:
        """Return what a call requests. The request stays in force while the call is in the history."""
        key = f"{call.name} {json.dumps(dict(call.arguments), sort_keys=True, default=str)}"
        if key not in self._found:
            self._found[key] = await requested_by(selector, call)
        found = self._found[key]
        return replace(found, tools={id_: why for id_, why in found.tools.items() if id_ in selector.catalog})

    def _take(self, found: Mapping[str, Reason]) -> None:
        """Remember requested tools, the newest last."""
        for id_, why in found.items():
            self._requested.pop(id_, None)
            self._requested[id_] = why

    def _answer(
        self, selector: Selector, asked: AskedCall, found: Requested, loaded: Sequence[str], *, left: int
    ) -> MetaAnswer:
        names = ", ".join(native_name(selector.catalog.get(id_)) for id_ in loaded or found.tools)
        tools = "tool" if len(loaded) == 1 else "tools"
        if loaded:
            rest = f" There is no room for {left} more: ask for one of them with what it should do." if left else ""
            unknown = _no_category(selector, asked)
            text = f"Loaded {len(loaded)} {tools}: {names}.{rest}" + (f" There is {unknown}." if unknown else "")
        elif found.tools:
            are = "they are" if asked.name == REQUEST_MORE_TOOLS else f"{names} {'are' if ', ' in names else 'is'}"
            text = f"{NOTHING_NEW}: {are} loaded already."
        else:
            text = f"{NOTHING_NEW}: {f'{found.doubt}.' if found.doubt else _unknown(selector, asked)}"
        text = with_doubt(text, found.doubt) if found.tools else text
        offered = dict.fromkeys(found.tools[id_].category for id_ in loaded)
        categories = [selector.categories.by_name[name] for name in offered if name]
        skills = skills_of(categories, selector.settings)
        return MetaAnswer(asked.id, asked.name, asked.arguments, text, tuple(loaded), skills)


def _read(arguments: Any) -> tuple[Mapping[str, Any], str, str]:
    read, problem = read_arguments(arguments)
    return read, "", problem


@dataclass(frozen=True, slots=True)
class Requested:
    """The requested tools by id, each with the reason. `doubt` is what speaks against those of a search."""

    tools: Mapping[str, Reason]
    doubt: str = ""


async def requested_by(selector: Selector, call: AskedCall) -> Requested:
    """Return what a call requests."""
    if call.name == REQUEST_MORE_TOOLS:
        return Requested(
            {
                tool.id: Reason("requested", name, _ASKED_FOR)
                for wanted in _listed(call.arguments.get("categories"))
                for name in selector.categories.of(wanted)
                for tool in selector.categories.by_name[name].tools
            }
        )
    wanted = str(call.arguments.get("name_or_description") or "").strip()
    named = selector.lookup(wanted)
    hits, doubt = ((), "") if named else await hits_of(selector.finder, wanted, _DESCRIBED)
    tools = [named] if named else [hit.tool for hit in hits]
    why = {tool.id: Reason("requested", selector.category_of(tool), _ASKED_FOR, repr(wanted)) for tool in tools}
    return Requested(why, doubt)


def _listed(categories: Any) -> list[str]:
    """Return the names in a list; a model may send a single string."""
    if isinstance(categories, str):
        return [categories]
    return [str(name) for name in categories] if isinstance(categories, list) else []


def _no_category(selector: Selector, asked: AskedCall) -> str:
    """Return a message about unknown categories."""
    named = _listed(asked.arguments.get("categories")) if asked.name == REQUEST_MORE_TOOLS else []
    unknown = [name for name in named if not selector.categories.of(name)]
    return f"no category {', '.join(map(repr, unknown))}" if unknown else ""


def _unknown(selector: Selector, asked: AskedCall) -> str:
    if asked.name != REQUEST_MORE_TOOLS:
        return "no tool has that name or purpose."
    names = sorted(selector.categories.by_name)
    there = ", ".join(names[:MOST_ENUMERATED]) + ("" if len(names) <= MOST_ENUMERATED else " …")
    unknown = _no_category(selector, asked)
    return f"{f'there is {unknown}' if unknown else 'name the categories'}; there are: {there}"
