"""The front page: what runs, what waits for the person, what failed today, calls and money by hour, and the
sources' health."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from codemode.serving.console.activity import HOURS, activity_of
from codemode.serving.console.execution_list import GROUPS, FigureReader, Period, Wanted, list_executions
from codemode.serving.console.pages.sources import source_rows
from codemode.serving.console.session import caller_of
from codemode.serving.console.waiting import waiting_calls
from codemode.text.times import SECOND_US, rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.executions.types.records import PendingCall, StoredExecution
    from codemode.gateway.caller import Caller
    from codemode.serving.console.views import Console

#: Rows of each list, and executions whose calls are counted.
ROWS, COUNTED = 5, 300

_DAY_US = HOURS * 3_600 * SECOND_US


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
    since = Wanted(period=Period(now_us - _DAY_US))
    recent = (await list_executions(service, caller, since, most=COUNTED)).executions
    price = service.settings.agent.price
    activity = await activity_of(figures, caller, recent, price, now_us)
    return {
        "running": [await figures.row(stored, caller) for stored in running[:ROWS]],
        "running_count": len(running),
        "failed": [await figures.row(stored, caller) for stored in failed[:ROWS]],
        "failed_count": len(failed),
        "completed_count": len(completed),
        "waiting_calls": _grouped(waiting)[:ROWS],
        "waiting_count": len(waiting),
        "price": None if price is None else price.model_dump(),
        **activity.to_json(ROWS, has_prices=price is not None),
        "counted": len(recent),
        "is_cut": len(recent) == COUNTED,
    }


def _grouped(waiting: Iterable[PendingCall]) -> list[dict[str, Any]]:
    """Return the calls that wait, those of one tool and execution together, oldest first."""
    groups: dict[tuple[str, str], list[PendingCall]] = {}
    for call in waiting:
        groups.setdefault((call.tool, call.execution), []).append(call)
    return [
        {"tool": tool, "calls": len(calls), "id": calls[0].id, "asked": rfc3339(calls[0].asked_us)}
        for (tool, _), calls in groups.items()
    ]
