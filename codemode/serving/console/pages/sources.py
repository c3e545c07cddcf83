"""The sources: their health, their tools, and what differs from what was accepted or declared."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.routing import Route

from codemode.serving.console.roles import is_operator, require_operator
from codemode.serving.console.session import caller_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.service import CodeMode
    from codemode.serving.console.views import Console
    from codemode.sources.factory import LoadedSource

#: Warnings on the page of a source; further ones are counted.
MOST_WARNINGS = 500


def routes(console: Console) -> list[Route]:
    """Return the routes below `/sources`."""
    service = console.service

    async def list_(request: Request) -> Response:
        rows = await source_rows(request, service)
        is_for_operators = is_operator(request, service)
        data = {"sources": rows}
        return console.page(request, "sources/list.html", title="Sources", data=data, is_operator=is_for_operators)

    async def show(request: Request) -> Response:
        require_operator(request, service)
        name = request.path_params["name"]
        source = service.sources.get(name)
        if source is None:
            detail = f"there is no source {name!r}; the sources are {', '.join(service.sources)}"
            raise HTTPException(404, detail)
        settings = service.settings.sources.get(name)
        differences = service.knowledge.answer_checks.differences
        data = {
            **_brief(name, source, len(source.tools), for_operator=True),
            "is_mcp": settings is not None and settings.is_mcp,
            "digest": source.surface.digest,
            "description": source.surface.description,
            "location": settings.location if settings is not None else "",
            "base_url": str(settings.base_url or "") if settings is not None else "",
            "effects": dict(Counter(tool.effect for tool in source.tools)),
            "warnings": [
                {"place": one.pointer, "reason": one.reason}
                for one in source.warnings[:MOST_WARNINGS]
                if source.failure is None or one.reason != source.failure.message
            ],
            "differing": [
                {"tool": tool.id, "answers": differences[tool.id].number, "difference": differences[tool.id].last}
                for tool in source.tools
                if tool.id in differences
            ],
        }
        return console.page(
            request,
            "sources/source.html",
            title=f"Source {name}",
            data=data,
            more=max(0, len(source.warnings) - MOST_WARNINGS),
        )

    return [Route("/sources", list_), Route("/sources/{name}", show)]


async def source_rows(request: Request, service: CodeMode) -> list[dict[str, Any]]:
    """Return the sources that a person sees, as JSON data: all to operators, to others those with tools for them."""
    counts = (await service.view(caller_of(request))).catalog.namespaces
    for_operator = is_operator(request, service)
    rows = [
        _brief(name, source, counts.get(name, 0), for_operator=for_operator) for name, source in service.sources.items()
    ]
    return [row for row in rows if for_operator or row["tools"]]


def _brief(name: str, source: LoadedSource, tools: int, *, for_operator: bool) -> dict[str, Any]:
    """Return a source as JSON data. Messages for operators may name hosts and files."""
    failure = source.failure
    said = "" if failure is None else failure.message if for_operator else failure.told
    state = "ready" if failure is None else "stale" if source.tools else "unavailable"
    return {
        "name": name,
        "title": source.surface.title,
        "state": state,
        "failure": said,
        "tools": tools,
        "warning_count": len(source.warnings),
    }
