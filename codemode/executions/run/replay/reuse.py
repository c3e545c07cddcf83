"""Reuse of an earlier execution's calls by a corrected program.

A call is matched by tool, exact arguments and account, in the order in which one task made the calls. Each call is
reused once.

- A write is also matched if another task made it: a restructured program must not repeat it.
- A read is not matched if it precedes a write that was already matched: its answer may be outdated.
- A write with an unknown end is matched too, and a person decides whether to make it again.
- A committed call whose answer was unusable raises the same error again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.catalog.tool import Effect
from codemode.executions.types.record import End
from codemode.gateway.call import CallState

if TYPE_CHECKING:
    from codemode.executions.types.record import Record, RecordedCall


class Reuse:
    """The calls of one execution that were made, or may have been. `fresh_reads` excludes reads."""

    def __init__(self, record: Record, *, fresh_reads: bool = False) -> None:
        self._execution = record.execution
        self._calls: dict[tuple[str, str, str], list[RecordedCall]] = {}
        self._last_write: dict[str, int] = {}
        for call in sorted(record.calls.values(), key=lambda one: one.sequence):
            if _is_of_use(call, fresh_reads=fresh_reads):
                self._calls.setdefault((call.tool, call.digest, call.mark), []).append(call)

    def without(self, record: Record) -> Reuse:
        """Remove the calls that the record of a resumed run has already reused, and return the rest."""
        reused = {call.end.facts.get("reused") for call in record.calls.values() if call.end is not None}
        for calls in self._calls.values():
            for call in [one for one in calls if self._named(one) in reused]:
                calls.remove(call)
                self._note(call)
        return self

    def take(self, path: str, tool: str, digest: str, mark: str = "") -> End | None:
        """Return the end of a matching earlier call and remove the call. Return None if there is none.

        `mark` is that of the account of the call.
        """
        parent = path.rpartition(".")[0]
        waiting = self._calls.get((tool, digest, mark), [])
        match = next((call for call in waiting if self._fits(call, parent)), None)
        if match is None:
            return None
        waiting.remove(match)
        self._note(match)
        if match.end is None or match.end.state is CallState.UNKNOWN:
            return End(CallState.UNKNOWN, b"null", is_error=False, facts={})
        facts = {name: match.end.facts[name] for name in ("size_bytes", "preview") if name in match.end.facts}
        return End(
            CallState.COMMITTED,
            match.end.answer,
            is_error=match.end.is_error,
            facts={**facts, "reused": self._named(match)},
        )

    def _named(self, call: RecordedCall) -> str:
        return f"{self._execution} {call.path}"

    def _note(self, call: RecordedCall) -> None:
        if call.effect != Effect.READ:
            self._last_write[call.parent] = max(call.sequence, self._last_write.get(call.parent, 0))

    def _fits(self, call: RecordedCall, parent: str) -> bool:
        if call.effect != Effect.READ:
            return True
        return call.parent == parent and call.sequence > self._last_write.get(parent, 0)


def _is_of_use(call: RecordedCall, *, fresh_reads: bool) -> bool:
    if not call.effect:  # it was not sent
        return False
    is_read = call.effect == Effect.READ
    if call.end is None or call.end.state is CallState.UNKNOWN:
        return not is_read
    return call.end.state is CallState.COMMITTED and not (is_read and (fresh_reads or call.end.is_error))
