"""The catalog: the tools that a role sees, as a tree of groups with filters."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.routing import Route

from codemode.catalog.tool import Effect
from codemode.gateway.explanation import explain
from codemode.serving.console.pages.tool import tool_routes
from codemode.serving.console.paging import page_of
from codemode.serving.console.roles import looking_as, roles_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.serving.console.views import Console

#: Groups that a page lists. A flat API has thousands.
MOST_GROUPS = 200


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list of tools is limited to. `group` is a namespace or a group in it, `text` a part of id or summary."""

    group: str = ""
    text: str = ""
    effect: str = ""
    tier: str = ""

    @classmethod
    def of(cls, request: Request) -> Filter:
        """Return the filter of the query parameters. Raises HTTPException."""
        given = {name: request.query_params.get(name, "") for name in ("group", "effect", "tier")}
        if given["effect"] not in ("", *Effect):
            detail = f"effect: {given['effect'][:40]!r} is not one of {', '.join(Effect)}"
            raise HTTPException(422, detail)
        return cls(**given, text=request.query_params.get("q", "").strip().lower())

    def __call__(self, tool: Tool) -> bool:
        """Whether a tool of the group is kept."""
        return (
            (not self.effect or tool.effect == self.effect)
            and (not self.tier or tool.tier == self.tier)
            and (not self.text or self.text in tool.id.lower() or self.text in tool.summary.lower())
        )


def routes(console: Console) -> list[Route]:
    """Return the routes below `/catalog`."""
    service = console.service

    async def listing(request: Request) -> Response:
        caller = looking_as(request, service)
        catalog = (await service.view(caller)).catalog
        chosen = Filter.of(request)
        members = members_of(catalog, chosen.group)
        tools = members if chosen == Filter(chosen.group) else [tool for tool in members if chosen(tool)]
        page = page_of(request, len(tools))

        def row(tool: Tool) -> dict[str, Any]:
            ruled = explain(service.discovery.policy, tool, caller.role, None, read_only=caller.read_only)
            return {
                "id": tool.id,
                "source": tool.source,
                "summary": tool.summary,
                "effect": tool.effect.value,
                "tier": tool.tier,
                "decision": ruled.decision or "depends",
            }

        data = {
            "role": caller.role,
            "group": chosen.group,
            "groups": groups_of(chosen.group, members),
            "unavailable": dict(catalog.unavailable),
            "tools": [row(tool) for tool in page.rows(tools)],
            "total": len(tools),
        }
        return console.page(
            request,
            "catalog/list.html",
            title="Catalog",
            data=data,
            page=page,
            chosen=chosen,
            query=request.query_params.get("q", ""),
            tiers=sorted({tool.tier for tool in catalog} - {""}),
            roles=roles_for(request, service),
            most_groups=MOST_GROUPS,
        )

    return [Route("/catalog", listing), *tool_routes(console)]


def members_of(catalog: Catalog, group: str) -> Sequence[Tool]:
    """Return the tools of a namespace or group, all for "". Raises ToolNotFound, SourceUnavailable."""
    if not group:
        return catalog.tools
    tools = catalog.tools  # ordered by id
    start = bisect_left(tools, f"{group}.", key=lambda tool: tool.id)
    end = bisect_left(tools, f"{group}/", lo=start, key=lambda tool: tool.id)  # "/" follows "."
    if start == end:
        catalog.get(group)
        detail = f"group: {group[:80]!r} is a tool, not a group"
        raise HTTPException(422, detail)
    return tools[start:end]


def groups_of(group: str, members: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return the groups below a group with these members, two levels deep, with their numbers of tools."""
    depth = group.count(".") + 2 if group else 1
    upper: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    for tool in members:
        parts = tool.id.split(".", depth + 1)
        if len(parts) > depth:
            upper[".".join(parts[:depth])] += 1
        if len(parts) > depth + 1:
            lower[".".join(parts[: depth + 1])] += 1
    inner: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, count in sorted(lower.items()):
        inner[name.rpartition(".")[0]].append({"id": name, "tools": count})
    return [{"id": name, "tools": count, "groups": inner[name]} for name, count in sorted(upper.items())]
