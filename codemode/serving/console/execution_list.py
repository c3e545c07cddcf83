"""Lists of executions: which are asked for, and what a row says of each."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codemode.catalog.tokens import estimate
from codemode.executions.life.feed import GOES_ON
from codemode.executions.run.ends import recorded_calls
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.records import CONVERSATION, LABEL, ExecutionStatus
from codemode.model.outcome_text import outcome_text
from codemode.serving.executions import summary_json
from codemode.text.program_title import program_title
from codemode.text.times import SECOND_US

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.executions.types.records import StoredExecution
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

#: Groups of statuses that a person asks for.
GROUPS: Mapping[str, tuple[ExecutionStatus, ...]] = {
    "running": ("queued", "running"),
    "waiting": ("paused",),
    "failed": ("failed", "refused", "timed_out", "out_of_memory", "crashed", "expired"),
    "completed": ("completed",),
    "cancelled": ("cancelled",),
}

#: Executions that one page looks through, and how many are read at once.
LOOKED_THROUGH, BATCH = 5_000, 500

#: Executions whose figures are remembered.
_REMEMBERED = 5_000

_HOUR_US, _DAY_US = 3_600 * SECOND_US, 86_400 * SECOND_US


@dataclass(frozen=True, slots=True)
class Period:
    """A time, in microseconds since 1970: from `since_us` until before `until_us`, 0 for no end."""

    since_us: int = 0
    until_us: int = 0

    @classmethod
    def named(cls, name: str, now_us: int) -> Period:
        """Return `hour`, `today`, `yesterday` or `week` as of now, days in UTC. Any other name is all of the time."""
        today = now_us - now_us % _DAY_US
        periods = {
            "hour": cls(now_us - _HOUR_US),
            "today": cls(today),
            "yesterday": cls(today - _DAY_US, today),
            "week": cls(now_us - 7 * _DAY_US),
        }
        return periods.get(name, cls())


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which executions are asked for. Empty fields ask for all.

    `text` is a part of the program or of the id, and `conversation` the digest of the id of a conversation.
    """

    statuses: tuple[ExecutionStatus, ...] = ()
    period: Period = Period()
    text: str = ""
    owner: str = ""
    conversation: str = ""

    def fits(self, stored: StoredExecution) -> bool:
        """Return whether an execution is asked for. Its owner is compared by the journal."""
        until_us, text = self.period.until_us, self.text.casefold()
        return (
            (not self.statuses or stored.status in self.statuses)
            and (not until_us or stored.created_us < until_us)
            and (text in stored.request.code.casefold() or text in stored.request.id)
            and (not self.conversation or stored.request.settings.get(CONVERSATION) == self.conversation)
        )


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of a list. `older` is the id after which the next page begins, "" at the end."""

    executions: tuple[StoredExecution, ...]
    older: str


async def list_executions(service: CodeMode, caller: Caller, wanted: Wanted, *, most: int, before: str = "") -> Listed:
    """Return the newest executions that are asked for and that a caller sees, newest first."""
    status = wanted.statuses[0] if len(wanted.statuses) == 1 else None
    shown: list[StoredExecution] = []
    for _ in range(LOOKED_THROUGH // BATCH):
        batch = await service.executions.list(caller, owner=wanted.owner, status=status, limit=BATCH, before=before)
        for stored in batch:
            if stored.created_us < wanted.period.since_us:
                return Listed(tuple(shown), "")
            if wanted.fits(stored):
                if len(shown) == most:
                    return Listed(tuple(shown), shown[-1].request.id)
                shown.append(stored)
        if len(batch) < BATCH:
            return Listed(tuple(shown), "")
        before = batch[-1].request.id
    return Listed(tuple(shown), before)


@dataclass(frozen=True, slots=True)
class Figures:
    """What an execution did: its calls, in all and by source, its mistake in one line, and the tools it waits for.

    Tokens are estimates of what a model wrote, the program, and of what it read, the answer.
    """

    calls: int = 0
    by_source: tuple[tuple[str, int], ...] = ()
    mistake: str = ""
    waits_for: tuple[str, ...] = ()
    written_tokens: int = 0
    read_tokens: int = 0


class FigureReader:
    """Reads figures of executions, and remembers those of executions that do not change."""

    def __init__(self, service: CodeMode) -> None:
        self._service = service
        self._known: OrderedDict[tuple[str, int], Figures] = OrderedDict()

    async def read(self, stored: StoredExecution, caller: Caller) -> Figures:
        """Return the figures of an execution that the caller sees. Raises ExecutionNotFound, JournalDamaged."""
        place = stored.request.id, stored.updated_us
        if stored.damage:
            return Figures()
        if stored.status in GOES_ON:
            record = await self._service.executions.record(stored.request.id, caller)
            counted = _counted(call.tool for call in recorded_calls(record))
            return Figures(*counted, written_tokens=estimate(stored.request.code))
        if place not in self._known:
            outcome = (await self._service.executions.get(stored.request.id, caller)).outcome or {}
            self._known[place] = _figures(stored, outcome)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return self._known[place]

    async def row(self, stored: StoredExecution, caller: Caller) -> dict[str, Any]:
        """Return what a list says of an execution, as JSON data."""
        figures = await self.read(stored, caller)
        return {
            **summary_json(stored),
            "title": program_title(stored.request.code),
            "label": stored.request.settings.get(LABEL) or stored.request.owner,
            "calls": figures.calls,
            "duration_s": duration_s(stored),
            "mistake": figures.mistake,
            "waits_for": list(figures.waits_for),
        }


def duration_s(stored: StoredExecution) -> float:
    """Return the seconds from the start of an execution to its end or pause, or until now."""
    until_us = stored.ended_us or (stored.updated_us if stored.status == "paused" else time.time_ns() // 1000)
    return round(max(0, until_us - stored.created_us) / SECOND_US, 3)


def _figures(stored: StoredExecution, outcome: Mapping[str, Any]) -> Figures:
    counted = _counted(call["tool"] for call in outcome.get("calls", ()))
    failure, is_paused = outcome.get("failure"), stored.status == "paused"
    return Figures(
        *counted,
        mistake="" if is_paused or stored.status == "cancelled" or not failure else _mistake(failure),
        waits_for=tuple({call["tool"]: None for call in outcome.get("pending", ())}) if is_paused else (),
        written_tokens=estimate(stored.request.code),
        read_tokens=estimate(outcome_text(ExecutionOutcome.from_json(outcome))) if outcome else 0,
    )


def _counted(tools: Iterable[str]) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the number of calls, in all and by source."""
    sources = Counter(tool.partition(".")[0] for tool in tools)
    return sources.total(), tuple(sources.most_common())


def _mistake(failure: Mapping[str, Any]) -> str:
    refusals = failure.get("refusals") or ()
    message = refusals[0]["message"] if refusals else failure.get("message", "")
    return f"{failure.get('type', '')}: {str(message).strip().partition(chr(10))[0]}".removeprefix(": ")
