"""The audit file: who ran what, each call and each decision, newest first."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from codemode.errors import CodeModeError
from codemode.observing.audit_reader import AuditPage, read_back
from codemode.serving.console.roles import require_operator

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.service import CodeMode
    from codemode.serving.console.views import Console

ROWS = 100

#: Characters of a field without a column. The JSON of the page has the whole.
_LONGEST = 120

#: Fields that a filter compares as a whole; `day` is the beginning of `at`, and `tool` may be a part of the id.
_WHOLE = ("event", "decision", "execution", "caller", "state")
FILTERS = (*_WHOLE, "tool", "day")

#: Fields that have a column of their own.
_COLUMNS = frozenset(
    ("at", "event", "execution", "caller", "label", "tool", "decision", "rule", "state", "status", "by")
)

#: Fields that the page leaves out: its JSON has them.
_FOR_PROGRAMS = frozenset(("program_sha256",))


def routes(console: Console) -> list[Route]:
    """Return the route `/audit`."""

    async def audit(request: Request) -> Response:
        require_operator(request, console.service)
        asked = request.query_params
        path = console.service.settings.observe.audit_file
        wanted = {name: asked[name].strip() for name in FILTERS if asked.get(name, "").strip()}
        before = int(asked.get("before", "0")) if asked.get("before", "0").isdecimal() else 0
        found = AuditPage((), 0, is_cut=False)
        if path is not None:
            found = await asyncio.to_thread(read_back, path, partial(_fits, wanted), limit=ROWS, before=before)
        return console.page(
            request,
            "audit/list.html",
            title="Audit",
            data={"lines": found.lines, "older": found.before or None},
            recorded=await _recorded(console.service, found.lines),
            is_written=path is not None,
            is_cut=found.is_cut,
            asked=asked,
            rest_of=_rest,
        )

    return [Route("/audit", audit)]


async def _recorded(service: CodeMode, lines: Sequence[Mapping[str, Any]]) -> Collection[str]:
    """Return the executions of audit records that the journal has. Dry runs and old ones have none."""
    ids = {line["execution"] for line in lines if isinstance(line.get("execution"), str)}
    if not service.settings.keeps_journal:
        return ()
    try:
        return await service.executions.recorded(ids)
    except CodeModeError:
        return ()


def _fits(wanted: Mapping[str, str], line: Mapping[str, Any]) -> bool:
    return (
        all(str(line.get(name, "")) == wanted[name] for name in _WHOLE if name in wanted)
        and wanted.get("tool", "") in str(line.get("tool", ""))
        and str(line.get("at", "")).startswith(wanted.get("day", ""))
    )


def _rest(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a line without a column, long texts cut."""
    left_out = _COLUMNS | _FOR_PROGRAMS
    rest = {name: value for name, value in line.items() if name not in left_out and value not in (None, "", {})}
    return {name: _brief(value) for name, value in rest.items()}


def _brief(value: Any) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
