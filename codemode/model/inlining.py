"""The signatures in the definition of `execute`, for each caller: `definitions` in the settings."""

from __future__ import annotations

import asyncio
import weakref
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING

from codemode.catalog.inline import NOTHING_INLINE, inline
from codemode.errors import ToolNotFound
from codemode.model.tool_usage import ToolUsage
from codemode.search.introduction import condensed, with_full_names

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.inline import Inline
    from codemode.catalog.observed import ObservedShapes
    from codemode.catalog.tool import Tool
    from codemode.gateway.caller import Caller
    from codemode.settings import DefinitionSettings
    from codemode.shared.values import SharedValue

#: The most callers whose text is kept.
_MOST = 256


class Inlining:
    """Makes the text of each caller, and keeps it until the catalog, the role's usage or a learned shape changes."""

    def __init__(self, value: SharedValue, shapes: ObservedShapes) -> None:
        #: What each role calls.
        self.usage = ToolUsage(value)
        self._shapes = shapes
        self._texts: OrderedDict[tuple[str, str], tuple[Hashable, Inline]] = OrderedDict()

    async def of(
        self, caller: Caller, catalog: Catalog, settings: DefinitionSettings, introductions: Mapping[str, str]
    ) -> Inline:
        """Return the signatures for a caller, whose view is `catalog`. `introductions` are texts by namespace."""
        if not settings.inline_tokens or not len(catalog):
            return NOTHING_INLINE
        names = settings.inline or self.usage.order(caller.role)
        key = (caller.id, caller.role)
        state = (weakref.ref(catalog), settings, names, self._shapes.revision, tuple(introductions.items()))
        known = self._texts.get(key)
        if known is None or known[0] != state:
            made = await asyncio.to_thread(self._made, caller, catalog, settings, names, introductions)
            known = self._texts[key] = (state, made)
        self._texts.move_to_end(key)
        if len(self._texts) > _MOST:
            self._texts.popitem(last=False)
        return known[1]

    def _made(
        self,
        caller: Caller,
        catalog: Catalog,
        settings: DefinitionSettings,
        names: Iterable[str],
        introductions: Mapping[str, str],
    ) -> Inline:
        def introduction(namespace: str, tokens: int) -> str:
            text = introductions.get(namespace, "")
            return condensed(with_full_names(text, namespace, catalog), tokens) if text else ""

        return inline(
            catalog,
            lambda: likely_tools(names, catalog),
            settings.inline_tokens,
            introduction=introduction,
            observed=lambda tool: self._shapes.schema(caller.id, tool),
        )


def likely_tools(names: Iterable[str], catalog: Catalog) -> list[Tool]:
    """Return the tools of names of tools, groups and sources, in their order, without those that the catalog lacks."""
    tools: dict[str, Tool] = {}
    for name in names:
        with suppress(ToolNotFound):
            tools |= {tool.id: tool for tool in catalog.members(name)}
    return list(tools.values())
