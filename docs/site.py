"""A hook of the site: pages for readers of the project itself are not in its search."""

from __future__ import annotations

from typing import Any

#: Folders whose pages are reached by the navigation and by links only.
NOT_SEARCHED = ("adr/", "benchmarks/", "contributing/")


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Exclude pages of these folders from the search."""
    if page.file.src_uri.startswith(NOT_SEARCHED):
        page.meta["search"] = {"exclude": True}
    return markdown
