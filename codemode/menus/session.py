"""A conversation that is offered menus: it answers the meta-tools, and keeps what was asked for by them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.definitions import native_name
from codemode.menus.conversation import AskedCall, Conversation, read_arguments, read_call
from codemode.menus.menu import Reason
from codemode.menus.meta_tools import META_TOOLS, MOST_ENUMERATED, NOTHING_NEW, REQUEST_MORE_TOOLS, MetaAnswer
from codemode.menus.prompt import skills_of
from codemode.menus.retrieval import hits_of
from codemode.parameters import MESSAGES, TEXT, Kind, takes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from codemode.catalog.tool import Tool
    from codemode.menus.menu import Menu, RunTool
    from codemode.menus.selection import Selector

#: Tools that a `request_tool` with a description loads.
_DESCRIBED = 5

_CALL = Kind(
    "a tool call of a model, or None",
    lambda value: not isinstance(value, (str, bytes, int, float, list, tuple)),
    lambda value: "a name is given as name=" if isinstance(value, str) else "",
)

#: What a tool that was asked for counts among those that were not: more than any of them.
_ASKED_FOR = 1_000.0


class MenuSession:
    """Menus for one conversation, over whatever view there is when one is asked for.

        menu = await session.offer(message, history)     # before each request to a model
        answer = await session.handle(call)              # None: no meta-tool, so call session.tool(name)

    What was asked for in the history counts as well: a session made anew goes on where the last one ended. `answers` is
    whether meta-tools are answered: then they are offered unless the settings forbid it, else only if these ask for it.
    `run` calls a tool for whoever holds a menu, `offered` is told of each.
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
        self._at_hand: set[str] = set()  # ids that are offered, or loaded since
        self._found: dict[str, dict[str, Reason]] = {}  # what each call that was made asks for

    @takes(message=TEXT, history=MESSAGES, summary=TEXT)
    async def offer(self, message: str = "", history: Iterable[Any] = (), summary: str = "") -> Menu:
        """The menu for a message, with what was asked for so far.

        `history` are the messages before it, and where its answer is under way those after it as well; without a
        message the last human one of the history counts.
        """
        selector = self._selector = await self._selector_of()
        conversation = Conversation.of(message, history, summary)
        meta = selector.meta(answered=self._answers)
        for call in conversation.calls:
            if call.name in meta:
                self._take(await self._requested_by(selector, call))
        known = {id_: why for id_, why in self._requested.items() if id_ in selector.catalog}
        menu = await selector.select(conversation, requested=known, meta=meta)
        self._at_hand = {tool.id for tool in menu.tools}
        self._offered(menu)
        return menu if self._run is None else replace(menu, run=self._run)

    @staticmethod
    @takes(name=TEXT)
    def is_meta(name: str) -> bool:
        """Whether a function of that name is answered here."""
        return name in META_TOOLS

    @takes(name=TEXT)
    def tool(self, name: str) -> Tool | None:
        """The tool of the caller's whole view by function name, id or exact alias, offered or not; None without one.

        Before the first offer there is none.
        """
        return None if self._selector is None else self._selector.tool(name)

    @takes(call=_CALL, name=TEXT)
    async def handle(self, call: Any = None, *, name: str = "", arguments: Any = None) -> MetaAnswer | None:
        """Answer a call of a meta-tool, given as a model's tool call or by name and arguments; None for other calls.

        What is wrong with the call is said in the answer.
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
        new = [id_ for id_ in found if id_ not in self._at_hand]
        loaded = new[: max(0, selector.settings.cap - len(meta) - len(selector.core))]
        self._at_hand.update(loaded)
        self._take({id_: why for id_, why in found.items() if id_ in self._at_hand})
        return self._answer(selector, asked, found, loaded, left=len(new) - len(loaded))

    async def _requested_by(self, selector: Selector, call: AskedCall) -> dict[str, Reason]:
        """The tools that a call asks for, which it goes on to do each time that it stands in a history."""
        key = f"{call.name} {json.dumps(dict(call.arguments), sort_keys=True, default=str)}"
        if key not in self._found:
            self._found[key] = await requested_by(selector, call)
        return {id_: why for id_, why in self._found[key].items() if id_ in selector.catalog}

    def _take(self, found: Mapping[str, Reason]) -> None:
        """Keep what was asked for; the latest comes last."""
        for id_, why in found.items():
            self._requested.pop(id_, None)
            self._requested[id_] = why

    def _answer(
        self, selector: Selector, asked: AskedCall, found: Mapping[str, Reason], loaded: Sequence[str], *, left: int
    ) -> MetaAnswer:
        names = ", ".join(native_name(selector.catalog.get(id_)) for id_ in loaded)
        tools = "tool" if len(loaded) == 1 else "tools"
        if loaded:
            rest = f" There is no room for {left} more: ask for one of them with what it should do." if left else ""
            unknown = _no_category(selector, asked)
            text = f"Loaded {len(loaded)} {tools}: {names}.{rest}" + (f" There is {unknown}." if unknown else "")
        elif found:
            text = f"{NOTHING_NEW}: they are at hand already."
        else:
            text = f"{NOTHING_NEW}: {_unknown(selector, asked)}"
        offered = dict.fromkeys(found[id_].category for id_ in loaded)
        categories = [selector.categories.by_name[name] for name in offered if name]
        skills = skills_of(categories, selector.settings)
        return MetaAnswer(asked.id, asked.name, asked.arguments, text, tuple(loaded), skills)


def _read(arguments: Any) -> tuple[Mapping[str, Any], str, str]:
    read, problem = read_arguments(arguments)
    return read, "", problem


async def requested_by(selector: Selector, call: AskedCall) -> dict[str, Reason]:
    """The tools that a call of a meta-tool asks for, by id, each with why."""
    if call.name == REQUEST_MORE_TOOLS:
        return {
            tool.id: Reason("requested", name, _ASKED_FOR)
            for wanted in _listed(call.arguments.get("categories"))
            for name in selector.categories.of(wanted)
            for tool in selector.categories.by_name[name].tools
        }
    wanted = str(call.arguments.get("name_or_description") or "").strip()
    named = selector.tool(wanted)
    tools = [named] if named else [hit.tool for hit in await hits_of(selector.finder, wanted, _DESCRIBED)]
    return {tool.id: Reason("requested", selector.category_of(tool), _ASKED_FOR, repr(wanted)) for tool in tools}


def _listed(categories: Any) -> list[str]:
    """The names in a list; models give one as a text as well."""
    if isinstance(categories, str):
        return [categories]
    return [str(name) for name in categories] if isinstance(categories, list) else []


def _no_category(selector: Selector, asked: AskedCall) -> str:
    """What of the categories that were asked for there is not."""
    named = _listed(asked.arguments.get("categories")) if asked.name == REQUEST_MORE_TOOLS else []
    unknown = [name for name in named if not selector.categories.of(name)]
    return f"no category {', '.join(map(repr, unknown))}" if unknown else ""


def _unknown(selector: Selector, asked: AskedCall) -> str:
    if asked.name != REQUEST_MORE_TOOLS:
        return "no tool is called so, or does that."
    names = sorted(selector.categories.by_name)
    there = ", ".join(names[:MOST_ENUMERATED]) + ("" if len(names) <= MOST_ENUMERATED else " …")
    unknown = _no_category(selector, asked)
    return f"{f'there is {unknown}' if unknown else 'name the categories'}; there are: {there}"
