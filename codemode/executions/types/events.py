"""Execution events for followers: the entries of a journal without internal fields."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codemode.executions.types.records import JournalEntry

#: Fields shown for a call that was sent, and for a call that has ended.
_OF_START = ("tool", "version", "arguments", "effect", "decision", "rule", "start_s", "account")
#: A call that was not sent has no start, so its end has the fields of both.
_OF_END = (*_OF_START, "state", "duration_s", "size_bytes", "preview", "message", "reused")


@dataclass(frozen=True)
class ExecutionEvent:
    """One event of an execution.

    `type` is one of `call_started`, `call_ended`, `output`, `paused`, `resumed`, `decided`, `expired` and `status`. The
    `status` event is the last.

    `sequence` increases. After a disconnect, a follower continues `after` the last sequence that it received.
    """

    sequence: int
    type: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON data."""
        return {"sequence": self.sequence, "type": self.type, **self.data}

    @cached_property
    def text(self) -> str:
        """The event as JSON text, encoded once for all followers."""
        return json.dumps(self.to_json())


def events_of(entries: Iterable[JournalEntry]) -> Iterator[ExecutionEvent]:
    """Return the events of journal entries. Clock ticks and answers to the program's queries yield none."""
    for entry in entries:
        if entry.kind in ("started", "began"):
            yield ExecutionEvent(entry.sequence, "call_started", _shown(entry, _OF_START))
        elif entry.kind in ("delivered", "ended"):
            if "start_s" in entry.data:
                yield ExecutionEvent(entry.sequence, "call_ended", _shown(entry, _OF_END))
        elif entry.kind == "printed":
            yield ExecutionEvent(entry.sequence, "output", {"text": entry.data["text"]})
        elif entry.kind == "decided":  # `via` may be the address of the person
            shown = {name: value for name, value in entry.data.items() if name != "via"}
            yield ExecutionEvent(entry.sequence, entry.kind, shown)
        else:
            yield ExecutionEvent(entry.sequence, entry.kind, dict(entry.data))


def _shown(entry: JournalEntry, names: Iterable[str]) -> dict[str, Any]:
    return {"path": entry.path} | {name: entry.data[name] for name in names if name in entry.data}
