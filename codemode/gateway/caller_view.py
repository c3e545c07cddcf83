"""The view of a role: its tools, search and gateway. Other tools are not in it, so no argument can reach them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from codemode.gateway.gateway import Gateway

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.observed import ObservedShapes
    from codemode.gateway.answer_checks import AnswerChecks
    from codemode.gateway.policy import AccessPolicy
    from codemode.search.finder import Finder
    from codemode.sources.destination import Destination
    from codemode.transports.base import Transport
    from codemode.transports.content import ContentStore


@dataclass(frozen=True, slots=True)
class View:
    """The catalog, search and gateway of a role."""

    catalog: Catalog
    finder: Finder
    gateway: Gateway


class Visible(NamedTuple):
    """How many tools a role may use, and of which sources."""

    tools: int
    sources: frozenset[str]


class Views:
    """The view of each role, created on first use. Roles with the same tools share one."""

    def __init__(
        self,
        catalog: Catalog,
        finder: Finder,
        transports: Mapping[str, Transport],
        shapes: ObservedShapes,
        policy: AccessPolicy,
        destinations: Mapping[str, Destination] = MappingProxyType({}),
        checks: AnswerChecks | None = None,
        contents: ContentStore | None = None,
    ) -> None:
        self._policy = policy
        self._gateway_of = partial(
            Gateway,
            transports=transports,
            shapes=shapes,
            policy=policy,
            destinations=destinations,
            checks=checks,
            contents=contents,
        )
        self._whole = View(catalog, finder, self._gateway_of(catalog))
        self._of_role: dict[str, View] = {}
        self._visible: dict[str, Visible] = {}
        self._of_tools: dict[tuple[frozenset[str], frozenset[str]], View] = {}
        self._making = asyncio.Lock()

    def visible(self, role: str) -> Visible | None:
        """Return how much a role may use, None while the sources are unread."""
        if role not in self._visible and len(self._whole.catalog):
            made = self._of_role.get(role)
            tools = (
                [tool for tool in self._whole.catalog if self._policy.may_use(tool, role)]
                if made is None
                else made.catalog
            )
            self._visible[role] = Visible(len(tools), frozenset(tool.source for tool in tools))
        return self._visible.get(role)

    async def of(self, role: str) -> View:
        """Return the view of a role."""
        view = self._of_role.get(role)
        if view is not None:
            return view
        async with self._making:
            if role not in self._of_role:
                self._of_role[role] = await asyncio.to_thread(self._made, role)
        return self._of_role[role]

    def _made(self, role: str) -> View:
        whole = self._whole
        visible = frozenset(tool.id for tool in whole.catalog if self._policy.may_use(tool, role))
        absent = frozenset(name for name in whole.catalog.unavailable if self._policy.may_know(name, role))
        if len(visible) == len(whole.catalog) and len(absent) == len(whole.catalog.unavailable):
            return whole
        if (visible, absent) not in self._of_tools:
            catalog = whole.catalog.restricted(lambda tool: tool.id in visible, absent)
            self._of_tools[visible, absent] = View(catalog, whole.finder.narrowed(catalog), self._gateway_of(catalog))
        return self._of_tools[visible, absent]
