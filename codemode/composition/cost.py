"""What a catalog costs a model with the settings of a service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.catalog.cost import MENU_SIZE, measure
from codemode.catalog.inline import inline
from codemode.catalog.tokens import local_tokenizer
from codemode.settings import tokenizer_folder

if TYPE_CHECKING:
    from codemode.catalog.catalog import Catalog
    from codemode.catalog.cost import CostReport
    from codemode.settings import Settings
    from codemode.settings.menu import MenuSettings


def cost_of(catalog: Catalog, settings: Settings) -> CostReport:
    """Measure a catalog with the signatures, menus and search answers that these settings make."""
    return measure(
        catalog,
        local_tokenizer(tokenizer_folder()),
        inline(catalog, tuple, settings.definitions.inline_tokens),
        menu_size=_menu_size(settings.menu),
        answer_tokens=settings.search.budget_tokens,
    )


def _menu_size(menu: MenuSettings) -> int:
    """Return how many tools a menu has: those that retrieval chooses, else whole categories up to the cap."""
    chosen = menu.retrieval.k
    if chosen is None and not any(category.keywords for category in menu.categories.values()):
        chosen = MENU_SIZE
    return min(chosen or menu.cap, menu.max_tools or menu.cap, menu.cap)
