"""Executions: the list, the page of one with its calls on one clock, and their events for the picture."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, get_args

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route

from codemode.executions.life.feed import GOES_ON
from codemode.executions.life.repeats import repeats
from codemode.executions.report.html_report import outcome_page
from codemode.executions.run.ends import recorded_calls
from codemode.executions.types.ledger import LedgerEntry
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.outcome_lines import failure_text
from codemode.executions.types.records import CONVERSATION, LABEL, OPEN, ExecutionStatus
from codemode.executions.types.waterfall import waterfall_svg
from codemode.gateway.call import CallState
from codemode.serving.console.execution_list import GROUPS, FigureReader, Period, Wanted, list_executions
from codemode.serving.console.paging import Page, page_of
from codemode.serving.console.program_lines import program_lines, searches_of
from codemode.serving.console.session import caller_of
from codemode.serving.executions import read_execution
from codemode.serving.web.event_stream import event_stream
from codemode.text.program_title import program_title
from codemode.text.shrunk_json import shrink
from sandbox import JsonText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.gateway.caller import Caller
    from codemode.serving.console.views import Console
    from codemode.settings import LimitSettings

MIB = 1024 * 1024

#: Rows of the list.
ROWS = 50
#: Characters of a result on the page; the whole has a link.
MAX_RESULT = 20_000
#: Characters of output on the page.
MAX_OUTPUT = 200_000

#: The times that a person asks for, with their labels.
PERIODS = (
    ("", "any time"),
    ("hour", "last hour"),
    ("today", "today"),
    ("yesterday", "yesterday"),
    ("week", "last 7 days"),
)

STATUSES: tuple[ExecutionStatus, ...] = get_args(ExecutionStatus)


def routes(console: Console) -> list[Route]:
    """Return the routes below `/executions` that only read."""
    service, figures = console.service, FigureReader(console.service)

    async def list_(request: Request) -> Response:
        caller, asked = caller_of(request), request.query_params
        period = Period.named(asked.get("when", ""), time.time_ns() // 1000)
        text, owner = asked.get("text", "").strip(), asked.get("owner", "").strip()
        wanted = Wanted(_statuses(asked.get("status", "")), period, text, owner)
        listed = await list_executions(service, caller, wanted, most=ROWS, before=asked.get("before", ""))
        return console.page(
            request,
            "executions/list.html",
            title="Executions",
            data={"executions": [await figures.row(stored, caller) for stored in listed.executions]},
            statuses=[("", "all"), *((name, name) for name in GROUPS)],
            periods=PERIODS,
            asked=asked,
            sees_all=service.executions.sees_all(caller),
            older=listed.older,
        )

    async def show(request: Request) -> Response:
        caller, id_ = caller_of(request), request.path_params["id"]
        found = await read_execution(service, id_, caller)
        stored = await service.executions.get(id_, caller)
        calls = await _calls(console, found, caller)
        view = execution_view(found, calls, page_of(request, len(calls)), service.settings.limits)
        return console.page(
            request,
            "executions/execution.html",
            title=program_title(found["code"]) or f"Execution {id_}",
            data={"execution": found, "calls": [call._asdict() for call in calls]},
            lines=program_lines(stored),
            searches=searches_of(stored.request.code),
            label=stored.request.settings.get(LABEL) or found["owner"],
            is_own=found["owner"] == caller.id,
            conversation=stored.request.settings.get(CONVERSATION, ""),
            **view,
        )

    async def events(request: Request) -> Response:
        caller, id_ = caller_of(request), request.path_params["id"]
        await service.executions.get(id_, caller)  # 404 before the stream begins
        batches = service.executions.batches(id_, caller, _sequence(request))
        return StreamingResponse(
            event_stream(batches, caller), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    async def file(request: Request) -> Response:
        caller, id_ = caller_of(request), request.path_params["id"]
        stored = await service.executions.get(id_, caller)
        outcome = ExecutionOutcome.of_stored(stored)
        disposition = {"Content-Disposition": f'attachment; filename="{id_}.html"'}
        return HTMLResponse(outcome_page(stored.request.code, outcome), headers=disposition)

    return [
        Route("/executions", list_),
        Route("/executions/{id}", show),
        Route("/executions/{id}/events", events),
        Route("/executions/{id}/file", file),
    ]


def _statuses(name: str) -> tuple[ExecutionStatus, ...]:
    """Return the statuses of a group or of one name, all for any other text."""
    return GROUPS.get(name, tuple(one for one in STATUSES if one == name))


def execution_view(
    found: dict[str, Any], calls: Sequence[LedgerEntry], page: Page, limits: LimitSettings
) -> dict[str, Any]:
    """Return what the page of one execution shows, beside the execution itself."""
    return {
        "outcome": found["outcome"],
        "outcome_sections": _sections(found["outcome"]),
        "failure": failure_lines(found),
        "used": used(found["outcome"], limits),
        "groups": repeats(calls),
        "page": page,
        "rows": page.rows(calls),
        "picture": Markup(waterfall_svg(calls)) if calls else "",  # noqa: S704 -- it escapes every text
        "is_live": found["status"] in GOES_ON,
        "can_end": found["status"] in OPEN or found["status"] in GOES_ON,
        "most_output": MAX_OUTPUT,
    }


def failure_lines(found: dict[str, Any]) -> str:
    """Return what failed, where, and what to do next, "" for an execution that did not fail."""
    if found["outcome"] is None or found["status"] in ("paused", "completed"):
        return ""
    return failure_text(ExecutionOutcome.from_json(found["outcome"]).failure)


async def _calls(console: Console, found: dict[str, Any], caller: Caller) -> list[LedgerEntry]:
    """Return the calls of the outcome. While a program runs, they are read from its record."""
    if found["outcome"] is not None and found["status"] not in GOES_ON:
        return [LedgerEntry(**{**call, "state": CallState(call["state"])}) for call in found["outcome"]["calls"]]
    record = await console.service.executions.record(found["id"], caller)
    return list(recorded_calls(record))


def _sections(outcome: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return the texts of an outcome. Its output, its failure and its pending calls have places of their own."""
    if outcome is None:
        return []
    ended = ExecutionOutcome.from_json({**outcome, "calls": (), "output": "", "pending": (), "failure": None})
    return ended.sections(_shortened(ended.result) if ended.has_value else "")


def _shortened(value: Any) -> str:
    data = value.data if isinstance(value, JsonText) else json.dumps(value, ensure_ascii=False, indent=2).encode()
    text, cuts = shrink(data, MAX_RESULT)
    return "\n".join((text, *cuts))


def used(outcome: dict[str, Any] | None, limits: LimitSettings) -> list[dict[str, Any]]:
    """Return what an execution used of its limits."""
    if outcome is None:
        return []
    usage = outcome["usage"]
    rows = (
        ("wall_s", "Time", "s", usage["wall_s"], limits.wall_s),
        ("cpu_s", "Processor time", "s", usage["cpu_s"], limits.cpu_s),
        ("memory_bytes", "Memory", "MiB", usage["peak_memory_bytes"] / MIB, limits.memory_mib),
        ("calls", "Calls", "", usage["calls"], limits.calls),
        ("output_bytes", "Output", "bytes", usage["output_bytes"], limits.output_bytes),
    )
    return [
        {
            "name": name,
            "label": label,
            "used": f"{value:,.2f} {unit}" if isinstance(value, float) else f"{value:,} {unit}",
            "most": f"{most:,} {unit}",
            "share": min(value / most, 1.0) if most else 0.0,
        }
        for name, label, unit, value, most in rows
    ]


def _sequence(request: Request) -> int:
    """Return the number of the last event that the browser has."""
    text = request.headers.get("last-event-id") or request.query_params.get("after", "0")
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        detail = f"after: {text[:40]!r} is not the number of an event"
        raise HTTPException(422, detail)
    return int(text)
