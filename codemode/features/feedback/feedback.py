"""The part of the feedback: it hears of searches and calls, stores what follows, and raises tools by it."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Self

from codemode.catalog.error_answers import text_reports_error
from codemode.executions.run.stage import Stage
from codemode.features.feature import FeaturePart
from codemode.features.feedback.evidence import Evidence
from codemode.features.feedback.record import Call, add, decoded, encoded, mark_of
from codemode.features.feedback.searches import Searches
from codemode.gateway.call import CallState
from codemode.shared.values import UNAVAILABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from codemode.executions.run.stage import Staging
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.features.feature import Core
    from codemode.gateway.caller import Caller
    from codemode.search.query import Hits, Learned
    from codemode.settings import Settings
    from codemode.shared.values import LockableValue, ValueStore

#: New calls are stored at once, but within so many seconds together.
_TOGETHER_S = 5.0

#: As many new calls are stored also before that.
_BATCH = 64

_DAY_S = 86_400

#: In the place of a version before the first look.
_NEVER = object()
_UNREAD = _NEVER, Evidence({})


class Feedback(FeaturePart):
    """What callers of each role called after their searches. `search.record_usage: false` forgets it.

    A `clock` returns seconds since 1970.
    """

    def __init__(self, current: Callable[[], Settings], store: ValueStore, clock: Callable[[], float] = time.time):
        self._current = current
        self._store = store
        self._clock = clock
        self._searches = Searches(clock)
        self._evidence: dict[str, tuple[object, Evidence]] = {}
        self._new: dict[str, list[Call]] = {}
        self._stored_at = 0.0

    @classmethod
    def of(cls, core: Core) -> Self:
        """See `FeaturePart.of`."""
        return cls(core.current, core.store)

    @property
    def _is_on(self) -> bool:
        return self._current().search.record_usage

    def refresh(self) -> None:
        """Forget what is stored if it is turned off. See `Part.refresh`."""
        if not self._is_on:
            with suppress(*UNAVAILABLE):
                for role in self._current().policy.known_roles():
                    self._value(role).remove()

    def searched(self, hits: Hits, caller: Caller, conversation: str) -> None:
        """See `Part.searched`."""
        if self._is_on:
            self._searches.add(hits, mark_of(caller.id, caller.role), conversation)

    async def learned(self, caller: Caller) -> Learned | None:
        """See `Part.learned`. Without the store, nothing is raised."""
        if not self._is_on:
            return None
        with suppress(*UNAVAILABLE):
            version, evidence = self._evidence.get(caller.role, _UNREAD)
            if version is _NEVER or version != self._value(caller.role).latest().version:
                await asyncio.to_thread(self._load, caller.role)
                _, evidence = self._evidence[caller.role]
            return partial(evidence.of, who=mark_of(caller.id, caller.role)) if len(evidence) else None
        return None

    def used(self) -> Sequence[tuple[str, str]]:
        """See `Part.used`. Queries without a call of their own are left out. Raises what `SharedValue` raises."""
        self._save(self._taken())
        roles = self._current().policy.known_roles() if self._is_on else ()
        stored = [decoded(self._value(role).read()) for role in roles]
        return [(row.query, row.tool) for rows in stored for row in rows.values() if row.direct]

    def stage(self, staging: Staging) -> Stage | None:
        """See `Part.stage`."""
        return _Listening(self, staging.run.caller, self._clock()) if self._is_on else None

    async def called(self, tools: Iterable[str], caller: Caller, since: float) -> None:
        """Learn from the calls of a program that began at `since`."""
        calls = self._searches.followed(tools, mark_of(caller.id, caller.role), since)
        if not calls:
            return
        self._new.setdefault(caller.role, []).extend(calls)
        if caller.role in self._evidence:
            self._evidence[caller.role][1].add(calls, self._day)
        if self._clock() - self._stored_at >= _TOGETHER_S or sum(map(len, self._new.values())) >= _BATCH:
            await asyncio.to_thread(self._save, self._taken())

    async def aclose(self) -> None:
        """Store the rest. See `Part.aclose`."""
        await asyncio.to_thread(self._save, self._taken())

    @property
    def _day(self) -> int:
        return int(self._clock() // _DAY_S)

    def _taken(self) -> Mapping[str, list[Call]]:
        """Return the new calls, which are stored once."""
        new, self._new, self._stored_at = self._new, {}, self._clock()
        return new

    def _save(self, new: Mapping[str, list[Call]]) -> None:
        """Add new calls to the stored ones. They are lost if the store fails."""
        for role, calls in new.items():
            with suppress(*UNAVAILABLE):
                self._value(role).change(partial(_with_calls, calls, self._day))

    def _load(self, role: str) -> None:
        latest = self._value(role).latest()
        evidence = Evidence(decoded(latest.data))
        evidence.add(self._new.get(role, ()), self._day)
        self._evidence[role] = latest.version, evidence

    def _value(self, role: str) -> LockableValue:
        return self._store.value("feedback", role)


class _Listening(Stage):
    """Hears how a program ends."""

    def __init__(self, feedback: Feedback, caller: Caller, since: float) -> None:
        self._feedback = feedback
        self._caller = caller
        self._since = since

    async def ended(self, outcome: ExecutionOutcome) -> None:
        """See `Stage.ended`. Calls that failed or answered with an error, and reused answers, teach nothing."""
        tools = [
            call.tool
            for call in outcome.calls
            if call.state in (CallState.COMMITTED, CallState.READ)
            and not (call.reused or text_reports_error(call.preview))
        ]
        await self._feedback.called(tools, self._caller, self._since)


def _with_calls(calls: Sequence[Call], day: int, data: bytes | None) -> bytes:
    rows = decoded(data)
    add(rows, calls, day)
    return encoded(rows)
