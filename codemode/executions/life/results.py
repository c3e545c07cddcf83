"""Whole results by handle. A model sees a large result in part, and its next program loads the whole.

Recorded results are in the journal, under its retention. The others are kept in memory.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.errors import ExecutionNotFound, ResultNotFound
from codemode.executions.types.handles import execution_of, is_handle
from sandbox import JsonText, value_of

if TYPE_CHECKING:
    from codemode.executions.life.executions import Executions
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.gateway.caller import Caller

#: Results in memory: their number of bytes in all, and the seconds for which each is kept.
_MOST_BYTES = 64 * 1024 * 1024
_KEPT_S = 3600.0

#: What a result counts that is no `sandbox.JsonText`; it has less than 64 KiB as JSON.
_SMALL = 64 * 1024


class _Kept(NamedTuple):
    owner: str
    result: Any
    until_s: float

    @property
    def size(self) -> int:
        return len(self.result.data) if isinstance(self.result, JsonText) else _SMALL


class Results:
    """The results of one service, each for the caller whose program returned it.

    In memory, the newest 64 MiB of results are kept for an hour.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._bytes = 0

    def keep(self, outcome: ExecutionOutcome, caller: Caller) -> None:
        """Keep the result of an unrecorded execution."""
        if not outcome.has_value:
            return
        kept = self._kept[outcome.id] = _Kept(caller.id, outcome.result, time.monotonic() + _KEPT_S)
        self._bytes += kept.size
        while self._bytes > _MOST_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= oldest.size

    async def load(self, handle: str, caller: Caller, executions: Executions | None) -> Any:
        """Return a result as JSON data. Raises ResultNotFound for an unknown handle or another caller's."""
        execution = execution_of(handle)
        kept = self._kept.get(execution)
        if kept is not None and kept.owner == caller.id and kept.until_s > time.monotonic():
            return value_of(kept.result)
        if executions is None or not is_handle(handle):
            raise ResultNotFound(handle)
        try:
            outcome = await executions.outcome(execution, caller)
        except ExecutionNotFound:
            raise ResultNotFound(handle) from None
        if not outcome.get("has_value"):
            raise ResultNotFound(handle)
        return value_of(outcome["value"])
