"""The editor: write a program with completion and checks, run it, or see what it would change."""

from __future__ import annotations

import json
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from codemode.catalog.stubs import one_liner
from codemode.errors import ProgramWaiting
from codemode.executions.life.programs import Request as ExecutionRequest
from codemode.serving.console.forms import form_of
from codemode.serving.console.session import caller_of
from codemode.serving.web.outgoing import DataResponse
from codemode.serving.web.program_requests import keep_turn, until_disconnect
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.catalog.catalog import Catalog
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.gateway.caller import Caller
    from codemode.serving.console.views import Console
    from sandbox import Failure

#: Completions of one prefix.
MOST = 50


def routes(console: Console) -> list[Route]:
    """Return the routes below `/editor`, and `/execute`, which runs programs of every page."""
    service = console.service

    def page(
        request: Request, code: str, outcome: ExecutionOutcome | None = None, *, is_from_link: bool = False
    ) -> Response:
        data = {"code": code, "outcome": None if outcome is None else outcome.to_json(), "is_from_link": is_from_link}
        result = json.dumps(outcome.value, ensure_ascii=False, indent=2) if outcome and outcome.has_value else ""
        return console.page(request, "editor/editor.html", title="Editor", data=data, result=result)

    async def editor(request: Request) -> Response:
        """Show the editor. A program that another site's link brings is shown first, and opened by a click."""
        code = request.query_params.get("code", "")
        is_from_link = bool(code) and request.headers.get("sec-fetch-site") != "same-origin"
        return page(request, code, is_from_link=is_from_link)

    async def use(request: Request) -> Response:
        return page(request, (await form_of(request)).get("code", ""))

    async def execute(request: Request) -> Response:
        caller, given = caller_of(request), await form_of(request)
        is_dry = bool(given.get("dry_run"))
        if is_dry or not service.settings.keeps_journal:
            work = service.execute(given.get("code", ""), caller=caller, dry_run=is_dry)
            return page(request, given.get("code", ""), await until_disconnect(request, work))
        return await _start(console, request, caller, given)

    async def complete(request: Request) -> Response:
        catalog = (await service.view(caller_of(request))).catalog
        return DataResponse({"options": list(completions(catalog, request.query_params.get("prefix", "")))})

    async def check(request: Request) -> Response:
        failure = await service.check((await form_of(request)).get("code", ""), caller=caller_of(request))
        return DataResponse({"mistakes": [] if failure is None else _mistakes(failure)})

    return [
        Route("/editor", editor, methods=["GET"]),
        Route("/editor", use, methods=["POST"]),
        Route("/editor/complete", complete),
        Route("/editor/check", check, methods=["POST"]),
        Route("/execute", execute, methods=["POST"]),
    ]


async def _start(console: Console, request: Request, caller: Caller, given: Mapping[str, str]) -> Response:
    """Start a recorded execution, and go to its page."""
    wanted = ExecutionRequest(
        given.get("code", ""), resume_from=given.get("resume_from", ""), fresh_reads=bool(given.get("fresh_reads"))
    )
    await console.service.start_sandbox()
    try:
        started = await console.service.programs.begin(wanted, caller)
    except ProgramWaiting as twin:
        return console.redirect(request, "executions", twin.execution, message=str(twin))
    keep_turn(request, console.service, started.execution, caller)
    return console.redirect(request, "executions", started.execution)


def completions(catalog: Catalog, prefix: str) -> Iterator[dict[str, str]]:
    """Yield names that continue `prefix`: groups up to their next point, and tools with their signatures."""
    tools = catalog.tools  # sorted by id
    seen: set[str] = set()
    for place in range(bisect_left(tools, prefix, key=lambda tool: tool.id), len(tools)):
        tool = tools[place]
        if not tool.id.startswith(prefix) or len(seen) == MOST:
            return
        point = tool.id.find(".", len(prefix))
        label = tool.id if point < 0 else tool.id[:point]
        if label not in seen:
            seen.add(label)
            yield (
                {"label": label, "kind": "group", "detail": "", "info": ""}
                if point >= 0
                else {
                    "label": label,
                    "kind": "tool",
                    "detail": visible(one_liner(tool)).removeprefix(tool.id),
                    "info": visible(tool.summary),
                }
            )


def _mistakes(failure: Failure) -> list[dict[str, Any]]:
    """Return the mistakes with their places: lines from 1, columns from 0."""
    found = failure.refusals or (failure,)
    return [
        {"line": one.line or 1, "column": one.column or 0, "message": one.message, "hint": one.hint} for one in found
    ]
