"""The front page: what runs, what waits for the person, what failed today, calls by hour, and the sources' health."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from codemode.executions.types.records import LABEL
from codemode.serving.console.execution_list import GROUPS, FigureReader, Period, Wanted, list_executions
from codemode.serving.console.pages.sources import source_rows
from codemode.serving.console.session import caller_of
from codemode.serving.console.waiting import waiting_calls
from codemode.text.times import SECOND_US, rfc3339

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.executions.types.records import StoredExecution
    from codemode.gateway.caller import Caller
    from codemode.serving.console.views import Console

#: Rows of each list, and executions whose calls are counted.
ROWS, COUNTED = 5, 300

_HOURS = 24
_HOUR_US = 3_600 * SECOND_US


def routes(console: Console) -> list[Route]:
    """Return the route `/overview`."""
    service, figures = console.service, FigureReader(console.service)

    async def overview(request: Request) -> Response:
        caller = caller_of(request)
        data: dict[str, Any] = {"sources": await source_rows(request, service)}
        if service.settings.keeps_journal:
            data |= await _executions(console, figures, caller)
        return console.page(
            request,
            "overview/overview.html",
            title="Overview",
            data=data,
            has_journal=service.settings.keeps_journal,
            decides=service.settings.keeps_journal and service.executions.sees_all(caller),
        )

    return [Route("/overview", overview)]


async def _executions(console: Console, figures: FigureReader, caller: Caller) -> dict[str, Any]:
    """Return what the front page says of executions. A day begins at midnight UTC."""
    service, now_us = console.service, time.time_ns() // 1000
    today = Period.named("today", now_us)

    async def newest(group: str, period: Period) -> tuple[StoredExecution, ...]:
        wanted = Wanted(GROUPS[group], period)
        return (await list_executions(service, caller, wanted, most=COUNTED)).executions

    running, failed = await newest("running", Period()), await newest("failed", today)
    completed = await newest("completed", today)
    waiting = await waiting_calls(service, caller)
    since = Wanted(period=Period(now_us - _HOURS * _HOUR_US))
    recent = (await list_executions(service, caller, since, most=COUNTED)).executions
    return {
        "running": [await figures.row(stored, caller) for stored in running[:ROWS]],
        "running_count": len(running),
        "failed": [await figures.row(stored, caller) for stored in failed[:ROWS]],
        "failed_count": len(failed),
        "completed_count": len(completed),
        "waiting_calls": [
            {"id": call.id, "tool": call.tool, "reason": call.reason, "asked": rfc3339(call.asked_us)}
            for call in waiting[:ROWS]
        ],
        "waiting_count": len(waiting),
        **await _calls(figures, caller, recent, now_us),
    }


async def _calls(
    figures: FigureReader, caller: Caller, recent: tuple[StoredExecution, ...], now_us: int
) -> dict[str, Any]:
    """Return the calls of executions by the hour of their start, by source and by key."""
    first_us = now_us - now_us % _HOUR_US - (_HOURS - 1) * _HOUR_US
    hours = [0] * _HOURS
    sources: Counter[str] = Counter()
    keys: Counter[str] = Counter()
    for stored in recent:
        one = await figures.read(stored, caller)
        hours[max(0, (stored.created_us - first_us) // _HOUR_US)] += one.calls
        sources.update(dict(one.by_source))
        keys[stored.request.settings.get(LABEL) or stored.request.owner] += one.calls
    return {
        "hours": [{"hour": rfc3339(first_us + at * _HOUR_US), "calls": calls} for at, calls in enumerate(hours)],
        "by_source": dict(sources.most_common(ROWS)),
        "by_key": dict(keys.most_common(ROWS)),
        "counted": len(recent),
        "is_cut": len(recent) == COUNTED,
    }
