"""Select a menu: the steps from a conversation to the offered tools.

texts     the last human messages
keywords  categories whose keywords occur in the texts
router    categories that no keyword matched
relations categories related to those found
defaults  categories for messages without a match
retrieval the best tools of these categories
slots     the tools that fit under the cap
requests  tools requested by the model, in place of the least relevant
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING

from codemode.catalog.cost import MENU_SIZE
from codemode.catalog.definitions import native_name
from codemode.errors import ConfigurationError, ToolNotFound
from codemode.menus.categories import Categories, categories_of
from codemode.menus.keywords import Keywords
from codemode.menus.menu import CORE, Definitions, Menu, MenuEntry, Reason
from codemode.menus.meta_tools import REQUEST_MORE_TOOLS, REQUEST_TOOL, more_tools, one_tool
from codemode.menus.prompt import prompt_of
from codemode.menus.retrieval import HITS, NOT_SURE, CommonWords, RankedHits, query_of, ranked
from codemode.menus.routers import Router
from codemode.menus.slots import balanced, proportional
from codemode.search.analysis.text import terms

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.menus.conversation import Conversation
    from codemode.search.finder import Finder
    from codemode.settings.menu import MenuSettings

#: Tools that fit the message for each one that the latest calls add.
_FOR_A_CALL = 3

#: A related category's share of the relevance; defaults have none.
_OF_RELATED = 0.5


@dataclass(slots=True)
class _Chosen:
    """The chosen categories with reasons, in slot order."""

    reasons: dict[str, Reason] = field(default_factory=dict)
    related: dict[str, Reason] = field(default_factory=dict)
    is_default: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def all(self) -> dict[str, Reason]:
        return {**self.reasons, **self.related}


class Selector:
    """Selects menus from one view with the settings of one role.

    `only` restricts the categories, `instructions` come from the sources. Raises ConfigurationError if the core
    exceeds the cap, or if the router lacks its model.
    """

    def __init__(
        self,
        catalog: Catalog,
        finder: Finder,
        settings: MenuSettings,
        *,
        only: Collection[str] | None = None,
        instructions: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.catalog = catalog
        self.settings = settings
        self.finder = finder
        self._instructions = {name: text for name, text in instructions.items() if text}
        self.categories: Categories = categories_of(catalog, settings, only=only)
        self.core = self.categories.core
        if len(self.core) > settings.cap:
            message = f"menu.core: {len(self.core)} tools are always offered, and menu.cap is {settings.cap}"
            raise ConfigurationError(message)
        keywords = {name: category.keywords for name, category in self.categories.by_name.items()}
        self._keywords = Keywords(keywords, whole_words=settings.match == "word")
        k = settings.retrieval.k
        retrieves = settings.router.kind == "auto" if k is None else k > 0
        self._router = Router(self.categories, finder, settings.router, retrieves=retrieves)
        self._category_of = {
            tool.id: category.name for category in self.categories.by_name.values() for tool in category.tools
        }
        self._is_disjoint = len(self._category_of) == sum(
            len(category.tools) for category in self.categories.by_name.values()
        )
        self._meta = {REQUEST_MORE_TOOLS: more_tools(tuple(self.categories.by_name)), REQUEST_TOOL: one_tool()}
        self._common_words = CommonWords()
        self._definitions = Definitions(catalog)
        self._names = {native_name(tool): tool for tool in catalog}
        self._core = tuple(MenuEntry(tool, CORE) for tool in self.core)

    def tool(self, name: str) -> Tool | None:
        """Return the tool that a call names by function name, id or alias of its source, offered or not, or None."""
        if name in self._names:
            return self._names[name]
        try:
            return self.catalog.get(name)
        except ToolNotFound:
            return None

    def lookup(self, name: str) -> Tool | None:
        """Return the tool that a model or a person looks up by a name that a call may have, or any alias, or None."""
        try:
            return self.tool(name) or self.catalog.find(name)
        except ToolNotFound:
            return None

    def category_of(self, tool: Tool) -> str:
        """Return the tool's category, the last of several, or ""."""
        return self._category_of.get(tool.id, "")

    def meta(self, *, answered: bool) -> tuple[str, ...]:
        """Return the meta-tools to offer; none if the core leaves no room."""
        wanted = ((REQUEST_MORE_TOOLS, self.settings.request_more_tools), (REQUEST_TOOL, self.settings.request_tool))
        names = tuple(name for name, setting in wanted if (answered if setting is None else setting))
        return names if len(self.core) + len(names) <= self.settings.cap else ()

    async def select(
        self, conversation: Conversation, *, requested: Mapping[str, Reason] | None = None, meta: Sequence[str] = ()
    ) -> Menu:
        """Return the menu for a conversation, with `requested` tools (reason by id) and these meta-tools."""
        chosen = self._by_keywords(conversation)
        await self._by_router(conversation, chosen)
        self._with_related(chosen)
        self._or_defaults(chosen)
        tools = await self._retrieved(conversation, chosen)
        room = self.settings.cap - len(meta) - len(self._core)
        offered, cut = self._shared_out(tools, chosen.all, room, conversation.message)
        if requested:
            offered, evicted = await self._with_requested(offered, requested, room, conversation)
            there = {native_name(one.tool) for one in offered}
            cut = [name for name in dict.fromkeys((*cut, *evicted)) if name not in there]
        if not offered and not self._core:
            chosen.notes.append(self._why_empty(conversation))
        return self._menu(offered, cut, chosen, meta)

    def _texts(self, conversation: Conversation) -> list[str]:
        history = self.settings.history
        return conversation.human(history.human_messages, history.messages_scanned)

    def _by_keywords(self, conversation: Conversation) -> _Chosen:
        texts = self._texts(conversation)
        if self.settings.scores == "binary":
            found = self._keywords.find(texts)
        else:
            found = self._keywords.weigh(texts, self.settings.history.decay)
        least = self.settings.threshold
        return _Chosen(
            {
                name: Reason("keyword", name, match.score, repr(match.keyword))
                for name, match in found.items()
                if match.score >= least
            }
        )

    async def _by_router(self, conversation: Conversation, chosen: _Chosen) -> None:
        if not conversation.message or not self._router.is_needed(chosen.reasons):
            return
        found = await self._router.find(conversation, self._texts(conversation), chosen.reasons)
        chosen.notes += found.notes
        chosen.reasons.update(found.reasons)

    def _with_related(self, chosen: _Chosen) -> None:
        if self.settings.relations == "none" or not chosen.reasons:
            return
        found = self.categories.related(chosen.reasons, transitive=self.settings.relations == "transitive")
        for name, brought_by in found.items():
            score = chosen.all[brought_by].score * _OF_RELATED
            chosen.related[name] = Reason("related", name, score, f"to {brought_by}")

    def _or_defaults(self, chosen: _Chosen) -> None:
        if not chosen.reasons:
            names = [part for name in self.settings.defaults for part in self.categories.of(name)]
            chosen.reasons = {name: Reason("default", name, 0.0) for name in names}
            chosen.is_default = bool(names)

    async def _retrieved(self, conversation: Conversation, chosen: _Chosen) -> dict[str, tuple[Tool, ...]]:
        """Return the tools of the chosen categories: all, or those that fit the conversation best.

        Those that fit the message stay until it is answered, and the latest calls add a few.
        """
        whole = {name: self.categories.by_name[name].tools for name in chosen.all}
        k = self.settings.retrieval.k
        names = list(whole)
        if k is None:
            k = MENU_SIZE
            names = [name for name, reason in chosen.reasons.items() if self._router.is_automatic(reason)]
        if not k or sum(len(whole[name]) for name in names) <= k:
            return whole
        found = await self._ranked(replace(conversation, calls=()))
        if found.is_unsure:
            chosen.notes.append(NOT_SURE)
        rank = _places(found)
        shares = balanced([len(whole[name]) for name in names], k)
        inside = [(name, tool, place) for name in names for place, tool in enumerate(whole[name])]
        reserve = dict(zip(names, shares, strict=True))  # tools without a search hit: some of each category
        inside.sort(key=lambda one: (rank.get(one[1].id, HITS), one[2] >= reserve[one[0]], one[2]))
        best = {tool.id for _, tool, _ in inside[:k]}
        if conversation.calls and self.settings.retrieval.calls:
            later = (hit.tool.id for hit in (await self._ranked(conversation)).hits)
            there = {tool.id for _, tool, _ in inside}
            best |= set(islice((id_ for id_ in later if id_ in there), math.ceil(k / _FOR_A_CALL)))
        return {
            name: tuple(tool for tool in tools if name not in names or tool.id in best) for name, tools in whole.items()
        }

    def _shared_out(
        self, tools: Mapping[str, Sequence[Tool]], reasons: Mapping[str, Reason], room: int, message: str
    ) -> tuple[list[MenuEntry], list[str]]:
        """Return each category's tools up to its slots, without duplicates, in category order.

        A cut category keeps the tools closest to the message; with the proportional strategy, the first ones.
        """
        slots = room if self.settings.max_tools is None else min(room, self.settings.max_tools)
        own = tools if self._is_disjoint else _each_once(tools)
        kept = self._kept(own, self._shares(own, reasons, slots), message)
        offered = [
            MenuEntry(tool, reasons[name]) for name in self.categories.by_name if name in own for tool in kept[name]
        ]
        if len(offered) == sum(map(len, own.values())):
            return offered, []
        there = {one.tool.id for one in offered}
        return offered, [native_name(tool) for members in own.values() for tool in members if tool.id not in there]

    def _shares(self, own: Mapping[str, Sequence[Tool]], reasons: Mapping[str, Reason], slots: int) -> list[int]:
        sizes = [len(members) for members in own.values()]
        if self.settings.strategy == "proportional":
            return proportional(sizes, slots)
        is_weighted = self.settings.scores == "weighted"
        return balanced(sizes, slots, [reasons[name].score for name in own] if is_weighted else ())

    def _kept(
        self, own: Mapping[str, Sequence[Tool]], shares: Sequence[int], message: str
    ) -> dict[str, Sequence[Tool]]:
        by_order = self.settings.strategy == "proportional"
        asked: frozenset[str] | None = None
        kept: dict[str, Sequence[Tool]] = {}
        for (name, members), share in zip(own.items(), shares, strict=True):
            if share in (0, len(members)) or by_order:
                kept[name] = members[:share]
                continue
            if asked is None:  # computed only if something is cut
                asked = frozenset(terms(message))
            kept[name] = self._common_words.best(asked, members, share)
        return kept

    async def _with_requested(
        self, offered: list[MenuEntry], requested: Mapping[str, Reason], room: int, conversation: Conversation
    ) -> tuple[list[MenuEntry], list[str]]:
        """Return the tools plus requested ones, newest request first in priority, and the tools removed for them."""
        core = {one.tool.id for one in self._core}
        asked = [MenuEntry(self.catalog.get(id_), why) for id_, why in requested.items() if id_ not in core]
        asked, dropped = asked[max(0, len(asked) - room) :], asked[: max(0, len(asked) - room)]
        ids = {one.tool.id for one in asked}
        others = [one for one in offered if one.tool.id not in ids]
        excess = len(others) + len(asked) - room
        if excess > 0:
            rank = _places(await self._ranked(conversation))
            order = {
                id(one): (one.reason.score, -rank.get(one.tool.id, HITS), -place) for place, one in enumerate(others)
            }
            evicted = {id(one) for one in sorted(others, key=lambda one: order[id(one)])[:excess]}
            dropped += [one for one in others if id(one) in evicted]
            others = [one for one in others if id(one) not in evicted]
        return [*others, *asked], [native_name(one.tool) for one in dropped]

    async def _ranked(self, conversation: Conversation) -> RankedHits:
        query = query_of(conversation, self.settings.retrieval.calls)
        return await ranked(self.finder, query, self._texts(conversation)[1:])

    def _why_empty(self, conversation: Conversation) -> str:
        """Return why no tool is offered."""
        if not len(self.catalog):
            return "the catalog has no tools for this caller"
        if not any(self._texts(conversation)):
            return "there is no message to select by, and menu.defaults is empty"
        advice = "set menu.defaults to offer tools to such messages"
        if self._router.is_configured:
            return f"nothing fits the messages; {advice}"
        return f"no keyword occurs in the messages; {advice}, or menu.router to find categories without keywords"

    def _prompt(self, offered: Sequence[MenuEntry], meta: Sequence[str]) -> str:
        names = {one.reason.category for one in offered}
        sources = {one.tool.source for one in offered}
        return prompt_of(
            self.categories,
            [category for name, category in self.categories.by_name.items() if name in names],
            self.settings,
            meta,
            {name: text for name, text in self._instructions.items() if name in sources},
        )

    def _menu(self, offered: list[MenuEntry], cut: list[str], chosen: _Chosen, meta: Sequence[str]) -> Menu:
        whole = (*self._core, *offered)
        return Menu(
            offered=whole,
            total=len(self.catalog),
            definitions=self._definitions,
            meta=tuple(self._meta[name] for name in meta),
            activated=() if chosen.is_default else tuple(chosen.reasons.values()),
            related=tuple(chosen.related.values()),
            is_default=chosen.is_default,
            cut=tuple(cut),
            notes=tuple(dict.fromkeys(chosen.notes)),
            prompt=self._prompt(offered, meta),
        )


def _each_once(tools: Mapping[str, Sequence[Tool]]) -> dict[str, Sequence[Tool]]:
    """Return the tools of categories, each in its first category."""
    seen: set[str] = set()
    own: dict[str, Sequence[Tool]] = {}
    for name, members in tools.items():
        own[name] = [tool for tool in members if tool.id not in seen]
        seen.update(tool.id for tool in own[name])
    return own


def _places(found: RankedHits) -> dict[str, int]:
    """Return the rank of each tool by id, from 0."""
    return {hit.tool.id: place for place, hit in enumerate(found.hits)}
