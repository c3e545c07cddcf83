"""The sections of the console, in the order of the navigation. A page module adds one line to `SECTIONS`."""

from __future__ import annotations

from dataclasses import dataclass
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
    server,
    sources,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.routing import BaseRoute

    from codemode.service import CodeMode
    from codemode.serving.console.views import Console


def always(_: CodeMode) -> bool:
    """Show a section on every server."""
    return True


def with_journal(service: CodeMode) -> bool:
    """Show a section where executions are recorded."""
    return service.settings.keeps_journal


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the navigation: the routes below `/console`, of which `/{name}` is the first page."""

    name: str
    label: str
    routes: Callable[[Console], Sequence[BaseRoute]]
    is_shown: Callable[[CodeMode], bool] = always


def _no_routes(_: Console) -> Sequence[BaseRoute]:
    """Return no routes: those of the section before include them."""
    return ()


def _executions(console: Console) -> Sequence[BaseRoute]:
    return [*executions.routes(console), *execution_control.routes(console)]


SECTIONS: tuple[Section, ...] = (
    Section("catalog", "Catalog", catalog.routes),
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
