"""A hook of the site: pages for readers of the project itself are not in its search, and answers come first in it."""

from __future__ import annotations

from typing import Any

#: Folders whose pages are reached by the navigation and by links only.
NOT_SEARCHED = ("adr/", "benchmarks/", "contributing/")
#: Pages that answer what readers search for, before those that explain or list.
ANSWERS = ("questions.md", "how-to/", "tutorial/", "reference/policy.md")


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Exclude pages from the search, or put them first."""
    if page.file.src_uri.startswith(NOT_SEARCHED):
        page.meta["search"] = {"exclude": True}
    elif page.file.src_uri.startswith(ANSWERS):
        page.meta["search"] = {"boost": 2}
    return markdown
