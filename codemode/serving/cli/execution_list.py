"""Which executions a list shows, and whole ids for their beginnings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, ExecutionNotFound
from codemode.executions.types.ids import may_be_execution
from codemode.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from codemode.executions.types.records import ExecutionStatus, StoredExecution

    #: Returns one page of executions, newest first: those after an id, "" for the first page.
    ReadPage = Callable[[str], Awaitable[tuple[StoredExecution, ...]]]

#: Executions in a page, and the most that are read for a beginning of an id.
PAGE, MOST = 500, 20_000

#: How executions end that did not do what their program says.
FAILED: tuple[ExecutionStatus, ...] = ("failed", "refused", "timed_out", "out_of_memory", "crashed", "expired")

#: The beginning of an id, with or without `ex_`: so few digits name one of thousands.
_BEGINNING = re.compile(r"(?:ex_)?([0-9a-f]{4,32})")
_AGO = re.compile(r"(\d{1,6})\s*([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Shown:
    """Which executions are shown: those with one of these statuses (empty: any) that began at or after a time in µs."""

    statuses: tuple[ExecutionStatus, ...] = ()
    since_us: int = 0

    async def of(self, read: ReadPage, most: int) -> list[StoredExecution]:
        """Return at most so many executions, newest first."""
        chosen: list[StoredExecution] = []
        async for one in _all(read):
            if one.created_us < self.since_us or len(chosen) == most:
                break
            if not self.statuses or one.status in self.statuses:
                chosen.append(one)
        return chosen


def since(text: str, now: datetime) -> int:
    """Return the time that a word, a date or a duration before `now` names, in µs since the epoch.

    Words are `today` and `yesterday`, in the time zone of `now`. Raises ConfigurationError.
    """
    word = text.strip().lower()
    if word in ("today", "yesterday"):
        begin = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=word == "yesterday")
    elif ago := _AGO.fullmatch(word):
        begin = now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    else:
        try:
            begin = datetime.fromisoformat(text.strip())
        except ValueError:
            message = f"--since: {text!r} is no time; write today, yesterday, 90m, 3h, 2d, or 2026-11-27T08:00"
            raise ConfigurationError(message) from None
        begin = begin if begin.tzinfo else begin.replace(tzinfo=now.tzinfo)
    return int(begin.timestamp() * 1_000_000)


async def whole_id(read: ReadPage, text: str) -> str:
    """Return the id of the one execution that begins with a text of at least four digits, or the id itself.

    Raises ExecutionNotFound, and ConfigurationError with the candidates if there are several.
    """
    if may_be_execution(text):
        return text
    beginning = _BEGINNING.fullmatch(text.strip().lower())
    if beginning is None:
        raise ExecutionNotFound(text)
    candidates = [one async for one in _all(read) if one.request.id.startswith(f"ex_{beginning[1]}")]
    if not candidates:
        raise ExecutionNotFound(text)
    if len(candidates) > 1:
        named = ", ".join(one.request.id for one in candidates[:_MOST_NAMED])
        more = f" and {len(candidates) - _MOST_NAMED:,} more" if len(candidates) > _MOST_NAMED else ""
        message = f"{text!r} is the beginning of {counted(len(candidates), 'execution')}: {named}{more}"
        raise ConfigurationError(message)
    return candidates[0].request.id


async def _all(read: ReadPage) -> AsyncIterator[StoredExecution]:
    before, seen = "", 0
    while seen < MOST:
        page = await read(before)
        for one in page:
            yield one
        if len(page) < PAGE:
            return
        before, seen = page[-1].request.id, seen + len(page)
