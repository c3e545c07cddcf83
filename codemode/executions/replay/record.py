"""What the journal has of an execution, read so that its program can be run again.

The data of its entries, by kind:

    started    call, tool, digest, arguments (as shown), effect, decision, rule, schema, key, approval
               a call is about to leave; `digest` is that of tool and exact arguments, `schema` that of the tool's
               definition, `key` the idempotency key it goes out with, `approval` the id of a person's yes
    delivered  call, now, marks                                                a tick, where `call` is 0; else also
               tool, digest, error (whether the program gets an error), state, start_s, duration_s, size_bytes,
               preview, message, reused, and of what did not leave arguments, effect, decision, rule;
               `value` is the answer as the program gets it, JSON
    printed    text                                              printed since the last one, told with what comes next
    resumed    by                  `server` where a server took it up from a dead one, else who let it go on after that
    ended      the same without call, now and marks: a page of a list, which the program gets as a part of the whole

`call` is the id that the guest gave; 0 for pages. What became of a call that has `started` alone nobody knows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

from codemode.executions.journal.base import check_types, readable
from codemode.gateway.call import CallState
from codemode.transports.base import Page
from sandbox import Delivery

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.executions.journal.base import JournalEntry, StoredExecution


@dataclass(frozen=True, slots=True)
class End:
    """How a recorded call ended; `answer` is JSON, `facts` are what the ledger says of it."""

    state: CallState
    answer: bytes
    is_error: bool
    facts: Mapping[str, Any]


@dataclass(slots=True)
class RecordedCall:
    """One call that the program made; `attempts` counts how often it was about to leave."""

    path: str
    call: int
    tool: str
    digest: str
    effect: str = ""
    schema: str = ""
    decision: str = ""
    rule: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 0
    sequence: int = 0
    end: End | None = None

    @property
    def parent(self) -> str:
        """The task that made it: the path without its last event."""
        return self.path.rpartition(".")[0]


class Record:
    """Everything that was recorded of one execution. Raises JournalDamaged for entries that make no sense."""

    def __init__(self, execution: str, entries: Iterable[JournalEntry] = ()) -> None:
        self.execution = execution
        self.calls: dict[str, RecordedCall] = {}
        self.deliveries: list[Delivery] = []
        #: Characters of output that were told.
        self.printed = 0
        #: How often a server took it up from a dead one since a person let it go on.
        self.taken_up = 0
        for number, entry in enumerate(entries, start=1):
            with readable(f"entry {number}", execution):
                if entry.sequence != number:
                    raise ValueError("it is missing")
                check_types(entry.data, _TYPES)
                self._take(entry)

    def complete(self, stored: StoredExecution) -> Self:
        """Itself. Raises JournalDamaged where the outcome has a call that left, and the entries end before it.

        What a repair has not sent itself its outcome does not tell apart.
        """
        with readable("what was recorded", self.execution):
            for call in () if stored.given.resume_from else (stored.outcome or {}).get("calls", ()):
                if call["state"] in _LEFT and call["path"] not in self.calls:
                    message = f"call {call['path']} of {call['tool']} is in its outcome alone"
                    raise ValueError(message)
        return self

    @property
    def schemas(self) -> dict[str, str]:
        """The digests of the definitions of the tools that were called."""
        return {call.tool: call.schema for call in self.calls.values() if call.schema}

    def _take(self, entry: JournalEntry) -> None:
        data = entry.data
        if entry.kind == "started":
            self._started(entry)
        elif entry.kind == "ended":
            self._ended(entry)
        elif entry.kind == "printed":
            self.printed += len(data["text"])
        elif entry.kind == "resumed":
            self.taken_up = self.taken_up + 1 if data.get("by") == "server" else 0
        elif entry.kind == "delivered":
            if data["call"]:
                self._ended(entry)
            answer = entry.value or b""
            marks = tuple(int(mark) for mark in data["marks"])
            is_error = bool(data.get("error"))
            self.deliveries.append(Delivery(int(data["call"]), int(data["now"]), marks, answer, is_error=is_error))

    def _started(self, entry: JournalEntry) -> None:
        data = entry.data
        known = self.calls.get(entry.path)
        self.calls[entry.path] = RecordedCall(
            path=entry.path,
            call=int(data["call"]),
            tool=data["tool"],
            digest=data["digest"],
            effect=data["effect"],
            schema=data["schema"],
            decision=data["decision"],
            rule=data["rule"],
            arguments=data["arguments"],
            attempts=known.attempts + 1 if known else 1,
            sequence=entry.sequence,
        )

    def _ended(self, entry: JournalEntry) -> None:
        data = entry.data
        call = self.calls.get(entry.path)
        if call is None:
            call = self.calls[entry.path] = RecordedCall(
                entry.path,
                int(data.get("call", 0)),
                data["tool"],
                data["digest"],
                effect=data.get("effect", ""),
                decision=data.get("decision", ""),
                rule=data.get("rule", ""),
                arguments=data.get("arguments", {}),
                sequence=entry.sequence,
            )
        facts = {name: data[name] for name in FACTS if name in data}
        answer = _checked(entry.value, _fields(entry.path, is_error=data["error"]))
        call.end = End(CallState(data["state"]), answer, data["error"], facts)


#: What the ledger says of a call that has ended.
FACTS = ("start_s", "duration_s", "size_bytes", "preview", "message", "reused")


#: States of calls that were about to leave.
_LEFT = (CallState.COMMITTED, CallState.UNKNOWN)

_TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("tool", "digest", "effect", "schema", "decision", "rule", "key", "approval", "state"), str),
    **dict.fromkeys(("preview", "message", "reused", "text"), str),
    **dict.fromkeys(("call", "now", "size_bytes"), int),
    **dict.fromkeys(("start_s", "duration_s"), (int, float)),
    "arguments": dict,
    "marks": list,
    "error": bool,
}
_OF_ERRORS = frozenset(("message", "kind", "status", "body", "retry_after_s"))
_OF_PAGES = frozenset(each.name for each in fields(Page))


def _fields(path: str, *, is_error: bool) -> frozenset[str]:
    """What an answer must have: that of a call any JSON, an error and a page of a list their fields."""
    return _OF_ERRORS if is_error else _OF_PAGES if "/" in path else frozenset()


def _checked(value: bytes | None, names: frozenset[str]) -> bytes:
    if value is None:
        raise ValueError("the answer is missing")
    answer = json.loads(value)
    if names and (not isinstance(answer, dict) or answer.keys() != names):
        raise ValueError("the answer has other fields than its own")
    return value
