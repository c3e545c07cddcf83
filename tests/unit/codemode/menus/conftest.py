"""Selectors over tools made in a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog.catalog import Catalog
from codemode.menus.conversation import Conversation
from codemode.menus.selection import Selector
from codemode.search.finder import Finder
from codemode.settings import MenuSettings
from codemode.settings.search import SearchSettings
from codemode.testing import make_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from codemode.catalog.tool import Tool
    from codemode.menus.menu import Menu

    Made = Callable[..., Selector]


def tools_in(groups: dict[str, int]) -> list[Tool]:
    """So many reading tools in each group, by number."""
    return [
        make_tool(f"app.{group}.do_{number:03}", summary=f"{group.capitalize()} number {number}")
        for group, count in groups.items()
        for number in range(count)
    ]


async def menu_for(selector: Selector, message: str, history: Iterable[Any] = (), **more: Any) -> Menu:
    return await selector.select(Conversation.of(message, history), **more)


@pytest.fixture
def make_selector(tmp_path: Path) -> Iterator[Made]:
    """A selector for tools and settings, with a search of its own."""
    finders = []

    def made(tools: Iterable[Tool] | Catalog, menu: dict[str, Any], search: dict[str, Any] | None = None) -> Selector:
        catalog = tools if isinstance(tools, Catalog) else Catalog(tools)
        finder = Finder(SearchSettings.model_validate(search or {}), tmp_path)
        finders.append(finder)
        finder.open(catalog, [""])
        return Selector(catalog, finder, MenuSettings.model_validate(menu))

    yield made
    for finder in finders:
        finder.close()
