"""The sections of the console, in the order of the navigation. A page module adds one line."""

from __future__ import annotations

from codemode.serving.console.pages import catalog, search
from codemode.serving.console.views import Section

SECTIONS: tuple[Section, ...] = (
    Section("catalog", "Catalog", catalog.routes),  # the first one is the home page
    Section("search", "Search", search.routes),
)
