"""The sections of the console, in the order of the navigation. A page module adds one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.serving.console.pages import (
    approvals,
    audit,
    catalog,
    cost,
    editor,
    execution_control,
    executions,
    menus,
    policy,
    rollback,
    search,
    server,
    sources,
)
from codemode.serving.console.views import Section, with_journal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.routing import BaseRoute

    from codemode.serving.console.views import Console


def _no_routes(_: Console) -> Sequence[BaseRoute]:
    """Return no routes: those of the section before include them."""
    return ()


def _executions(console: Console) -> Sequence[BaseRoute]:
    return [*executions.routes(console), *execution_control.routes(console), *rollback.routes(console)]


SECTIONS: tuple[Section, ...] = (
    Section("catalog", "Catalog", catalog.routes),  # the first one is the home page
    Section("search", "Search", search.routes),
    Section("editor", "Editor", editor.routes),
    Section("executions", "Executions", _executions, with_journal),
    Section("approvals", "Approvals", approvals.routes, with_journal),
    Section("unknown", "Unknown calls", _no_routes, with_journal),
    Section("menus", "Menus", menus.routes),
    Section("cost", "Cost", cost.routes),
    Section("policy", "Policy", policy.routes),
    Section("sources", "Sources", sources.routes),
    Section("audit", "Audit", audit.routes),
    Section("server", "Server", server.routes),
)
