"""What an earlier execution has done, for a corrected program that does the same again.

A call is matched by tool and exact arguments, in the order in which the same task made them; a write also where another
task made it, since a program that is put together differently must not do it twice. Each is used once. A read is not
matched before a write that has been matched already: what it said may have been true no more. A write of which nobody
knows whether it was done is matched too: it is a person who decides whether it is made again. One that was done and
whose answer could not be used gives the same error again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.catalog.tool import Effect
from codemode.executions.replay.record import End
from codemode.gateway.call import CallState

if TYPE_CHECKING:
    from codemode.executions.replay.record import Record, RecordedCall


class Reuse:
    """What one execution has done, or may have. With `fresh_reads` only what changed something."""

    def __init__(self, record: Record, *, fresh_reads: bool = False) -> None:
        self._execution = record.execution
        self._calls: dict[tuple[str, str], list[RecordedCall]] = {}
        self._last_write: dict[str, int] = {}
        for call in sorted(record.calls.values(), key=lambda one: one.sequence):
            if _is_of_use(call, fresh_reads=fresh_reads):
                self._calls.setdefault((call.tool, call.digest), []).append(call)

    def without(self, record: Record) -> Reuse:
        """The same for a run that goes on: what its record has taken is taken."""
        taken = {call.end.facts.get("reused") for call in record.calls.values() if call.end is not None}
        for calls in self._calls.values():
            for call in [one for one in calls if self._named(one) in taken]:
                calls.remove(call)
                self._note(call)
        return self

    def take(self, path: str, tool: str, digest: str) -> End | None:
        """The end of a call that was made before, if there is one that was not taken yet."""
        parent = path.rpartition(".")[0]
        waiting = self._calls.get((tool, digest), [])
        found = next((call for call in waiting if self._fits(call, parent)), None)
        if found is None:
            return None
        waiting.remove(found)
        self._note(found)
        if found.end is None or found.end.state is CallState.UNKNOWN:
            return End(CallState.UNKNOWN, b"null", is_error=False, facts={})
        facts = {name: found.end.facts[name] for name in ("size_bytes", "preview") if name in found.end.facts}
        return End(
            CallState.COMMITTED,
            found.end.answer,
            is_error=found.end.is_error,
            facts={**facts, "reused": self._named(found)},
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
    if not call.effect:  # it never left
        return False
    is_read = call.effect == Effect.READ
    if call.end is None or call.end.state is CallState.UNKNOWN:
        return not is_read
    return call.end.state is CallState.COMMITTED and not (is_read and (fresh_reads or call.end.is_error))
