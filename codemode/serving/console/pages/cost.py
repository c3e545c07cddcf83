"""What the catalog costs a model in tokens, in each mode, and how many programs each key ran on each day."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from markupsafe import Markup
from starlette.routing import Route

from codemode.catalog.cost_curve import cost_curve
from codemode.catalog.tokens import local_tokenizer
from codemode.composition.cost import cost_of
from codemode.serving.console.session import caller_of
from codemode.serving.cost_plot import cost_svg
from codemode.settings import tokenizer_folder
from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.catalog.catalog import Catalog
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.console.views import Console
    from codemode.settings import Settings

#: The newest executions that are counted, read in batches.
COUNTED, BATCH = 2_000, 500


def routes(console: Console) -> list[Route]:
    """Return the route `/cost`."""
    known: WeakKeyDictionary[Catalog, tuple[dict[str, Any], str]] = WeakKeyDictionary()

    async def cost(request: Request) -> Response:
        caller = caller_of(request)
        catalog = (await console.service.view(caller)).catalog
        if catalog not in known:
            known[catalog] = await asyncio.to_thread(_measured, catalog, console.service.settings)
        report, picture = known[catalog]
        days = await _by_day(console.service, caller) if console.service.settings.keeps_journal else []
        return console.page(
            request,
            "cost/cost.html",
            title="Cost",
            data={"catalog": report, "executions": days},
            picture=Markup(picture),  # noqa: S704 -- it escapes every text
            counted=COUNTED,
        )

    return [Route("/cost", cost)]


def _measured(catalog: Catalog, settings: Settings) -> tuple[dict[str, Any], str]:
    report = cost_of(catalog, settings)
    return report.to_json(), cost_svg(cost_curve(catalog, report, local_tokenizer(tokenizer_folder())))


async def _by_day(service: CodeMode, caller: Caller) -> list[dict[str, Any]]:
    """Return the number of the newest executions by day, key and status, newest day first."""
    counts: Counter[tuple[str, str]] = Counter()
    completed: Counter[tuple[str, str]] = Counter()
    before, read = "", 0
    while read < COUNTED:
        batch = await service.executions.list(caller, limit=BATCH, before=before)
        for stored in batch:
            place = rfc3339(stored.created_us)[:10], stored.request.owner
            counts[place] += 1
            completed[place] += stored.status == "completed"
        if len(batch) < BATCH:
            break
        before, read = batch[-1].request.id, read + len(batch)
    days = sorted(counts, key=lambda place: (place[0], counts[place]), reverse=True)
    return [
        {"day": day, "key": key, "programs": counts[day, key], "completed": completed[day, key]} for day, key in days
    ]
