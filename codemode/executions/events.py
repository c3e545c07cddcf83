"""What happens to an execution, as those who look on are told: the entries of its journal without what is inside."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codemode.executions.journal.base import JournalEntry

#: What is told of a call that was sent, and of one that has ended.
_OF_START = ("tool", "arguments", "effect", "decision", "rule")
_OF_END = ("tool", "state", "duration_s", "size_bytes", "preview", "message", "reused")


@dataclass(frozen=True)
class ExecutionEvent:
    """One thing that happened.

    `call_started`, `call_ended`, `output`, `paused`, `resumed`, `decided`, `expired`, or `status`.

    `sequence` grows; whoever was cut off asks for what came `after` the last one. `status` is the last event.
    """

    sequence: int
    type: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The event as JSON data."""
        return {"sequence": self.sequence, "type": self.type, **self.data}

    @cached_property
    def text(self) -> str:
        """The event as JSON text: one for all who follow the execution."""
        return json.dumps(self.to_json())


def events_of(entries: Iterable[JournalEntry]) -> Iterator[ExecutionEvent]:
    """The events of these entries; ticks and answers to questions of the program are none."""
    for entry in entries:
        if entry.kind == "started":
            yield ExecutionEvent(entry.sequence, "call_started", _told(entry, _OF_START))
        elif entry.kind in ("delivered", "ended"):
            if "start_s" in entry.data:
                yield ExecutionEvent(entry.sequence, "call_ended", _told(entry, _OF_END))
        elif entry.kind == "printed":
            yield ExecutionEvent(entry.sequence, "output", {"text": entry.data["text"]})
        else:
            yield ExecutionEvent(entry.sequence, entry.kind, dict(entry.data))


def _told(entry: JournalEntry, names: Iterable[str]) -> dict[str, Any]:
    return {"path": entry.path} | {name: entry.data[name] for name in names if name in entry.data}
