"""The menus of a service: one selector per role, and a check for unknown names in the settings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError
from codemode.menus.categories import categories_of
from codemode.menus.selection import Selector
from codemode.settings import RoleMenuSettings
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.search.finder import Finder
    from codemode.settings import Settings
    from codemode.settings.menu import MenuSettings

#: Settings that a role may override.
_DIFFERING = ("core", "defaults", "cap")


class Menus:
    """Selectors by role, built at first use and rebuilt when the role's view changes.

    `instructions` come from the sources.
    """

    def __init__(self, settings: MenuSettings, instructions: Mapping[str, str]) -> None:
        self._settings = settings
        self._instructions = instructions
        self._selectors: dict[str, Selector] = {}

    async def selector(self, role: str, catalog: Catalog, finder: Finder) -> Selector:
        """Return the selector for a role and its view. Raises ConfigurationError for unusable settings."""
        made = self._selectors.get(role)
        if made is None or made.catalog is not catalog:  # 0.2 s for 20,000 tools
            made = self._selectors[role] = await asyncio.to_thread(self._made, role, catalog, finder)
        return made

    def _made(self, role: str, catalog: Catalog, finder: Finder) -> Selector:
        own = self._settings.roles.get(role, RoleMenuSettings())
        changes = {name: value for name in _DIFFERING if (value := getattr(own, name)) is not None}
        settings = self._settings.model_copy(update=changes)
        return Selector(catalog, finder, settings, only=own.categories, instructions=self._instructions)


def require_known_names(settings: Settings, catalog: Catalog) -> None:
    """Raise ConfigurationError for unknown tools and categories in the section.

    Skipped while a source is unavailable, because its tools may be meant.
    """
    menu = settings.menu
    names_something = menu.core or menu.categories or menu.defaults or menu.roles
    if not names_something or set(settings.sources) - set(catalog.namespaces):
        return
    categories = categories_of(catalog, settings.menu)
    known = [*categories.by_name, *(tool.id for tool in catalog)]
    mistakes = []
    for place, kind, name in categories.unknown:
        hint = did_you_mean(name, known)
        mistakes.append(f"{settings.place('menu', *place)}: there is no {kind} {name!r}{hint}")
    if mistakes:
        raise ConfigurationError("\n".join(mistakes))
