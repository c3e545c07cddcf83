"""The sections of the console, in the order of the navigation. A page module adds one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.serving.console.pages import (
    accounts,
    approvals,
    audit,
    catalog,
    conversations,
    cost,
    decisions,
    editor,
    execution_control,
    executions,
    files,
    keys,
    menus,
    notifications,
    overview,
    plans,
    policy,
    rollback,
    saved,
    search,
    server,
    sources,
)
from codemode.serving.console.roles import is_operator
from codemode.serving.console.views import Section, with_journal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from codemode.service import CodeMode
    from codemode.serving.console.views import Console


def _no_routes(_: Console) -> Sequence[BaseRoute]:
    """Return no routes: those of the section before include them."""
    return ()


def _with_audit(request: Request, service: CodeMode) -> bool:
    """Show the audit records to operators, where they are written."""
    return service.settings.observe.audit_file is not None and is_operator(request, service)


def _executions(console: Console) -> Sequence[BaseRoute]:
    return [*executions.routes(console), *execution_control.routes(console), *rollback.routes(console)]


def _approvals(console: Console) -> Sequence[BaseRoute]:
    return [*approvals.routes(console), *decisions.routes(console)]


SECTIONS: tuple[Section, ...] = (
    Section("overview", "Overview", overview.routes),  # the first one is the home page
    Section("executions", "Executions", _executions, with_journal, "Work"),
    Section("approvals", "Approvals", _approvals, with_journal, "Work"),
    Section("unknown", "Unknown calls", _no_routes, with_journal, "Work"),
    Section("plans", "Plans", plans.routes, plans.has_plans, "Work"),
    Section("conversations", "Conversations", conversations.routes, conversations.has_conversations, "Work"),
    Section("files", "Files", files.routes, files.keeps_files, "Work"),
    Section("accounts", "Accounts", accounts.routes, accounts.has_accounts, "Work"),
    Section("editor", "Editor", editor.routes, group="Work"),
    Section("catalog", "Catalog", catalog.routes, group="Tools"),
    Section("search", "Search", search.routes, group="Tools"),
    Section("saved", "Saved programs", saved.routes, saved.has_programs, "Tools"),
    Section("sources", "Sources", sources.routes, group="Tools"),
    Section("menus", "Menus", menus.routes, group="Tools"),
    Section("cost", "Cost", cost.routes, group="Tools"),
    Section("policy", "Policy", policy.routes, is_operator, "Operate"),
    Section("keys", "Keys", keys.routes, group="Operate"),
    Section("notifications", "Notifications", notifications.routes, notifications.notifies, "Operate"),
    Section("audit", "Audit", audit.routes, _with_audit, "Operate"),
    Section("server", "Server", server.routes, is_operator, "Operate"),
)
