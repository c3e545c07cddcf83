"""The ledger of an execution: every call that the program made, in the order in which it made them."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from codemode.gateway.call import CallState

if TYPE_CHECKING:
    from codemode.gateway.call import ToolCall, ToolOutcome

#: Characters of an argument or an answer that the ledger shows. A line of a terminal.
PREVIEW_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One call. Times are seconds since the start of the execution, `size_bytes` is the answer as JSON.

    `path` is the call's place in the tree of the program's tasks; `error` is the message that the program saw.
    """

    path: str
    tool: str
    arguments: dict[str, Any]
    state: CallState
    start_s: float
    duration_s: float
    size_bytes: int = 0
    preview: str = ""
    error: str = ""


class Ledger:
    """Collects entries while an execution runs. A call that is never finished stays `unknown`."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._entries: dict[str, LedgerEntry] = {}

    def start(self, call: ToolCall) -> None:
        """Record that a call is about to be made."""
        self._entries[call.path] = LedgerEntry(
            path=call.path,
            tool=call.tool,
            arguments=call.arguments,
            state=CallState.UNKNOWN,
            start_s=self._now(),
            duration_s=0.0,
        )

    def finish(self, call: ToolCall, outcome: ToolOutcome) -> None:
        """Record what became of it; a page counts as its whole answer."""
        entry = self._entries[call.path]
        text = (
            ""
            if outcome.error
            else json.dumps(getattr(outcome.value, "value", outcome.value), ensure_ascii=False, default=str)
        )
        self._entries[call.path] = replace(
            entry,
            tool=outcome.tool,
            state=outcome.state,
            duration_s=self._now() - entry.start_s,
            size_bytes=len(text.encode()),
            preview=preview(text),
            error=outcome.error.for_model() if outcome.error else "",
        )

    def close(self) -> tuple[LedgerEntry, ...]:
        """All entries; those still under way end here, and whether they were done is unknown."""
        now = self._now()
        return tuple(
            replace(entry, duration_s=now - entry.start_s) if entry.state is CallState.UNKNOWN else entry
            for entry in self._entries.values()
        )

    def _now(self) -> float:
        return time.monotonic() - self._began


def preview(text: str) -> str:
    """The first characters of a text on one line, and whether there are more."""
    head = " ".join(text[: PREVIEW_CHARACTERS * 2].split())
    return head if len(text) <= PREVIEW_CHARACTERS else head[:PREVIEW_CHARACTERS] + "…"
