"""Repeated programs: they run again, with a note on the previous outcome."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.gateway.caller import Caller

#: Largest number of remembered programs, for all callers together; 100 bytes each.
REMEMBERED = 10_000


class Repetition:
    """Remembers the outcomes of each caller's latest programs."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, bytes], tuple[str, str]] = OrderedDict()

    def note(self, code: str, caller: Caller, outcome: ExecutionOutcome) -> str:
        """Return the note for a program, or for the native call that it makes; "" the first time."""
        key = (caller.id, blake2b(code.encode("utf-8", "surrogatepass"), digest_size=16).digest())
        before = self._known.pop(key, None)
        self._known[key] = (outcome.id, str(outcome.status))
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        if before is None or before[0] == outcome.id:  # the same execution, which still waits
            return ""
        id_, status = before
        advice = "use its result unless the data has changed" if outcome.ok else "change it before the next attempt"
        return f"this ran before ({id_}: {status}); {advice}"
