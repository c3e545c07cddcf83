"""The record of an execution: its journal entries, parsed for a replay.

The data of entries, by kind:

    started    call, tool, digest, arguments (as shown), effect, decision, rule, schema, key, approval, account, mark
               A call is about to be sent. `digest` is the digest of the tool and its exact arguments, `schema` that of
               the tool's definition, `key` the idempotency key, `approval` the id of a person's approval, or of a plan
               with the label of the call that the plan lists. `account` is whose credentials are sent, as people see
               it, and `mark` tells that account from others. Both are missing where a source has no choice.
    delivered  call, now, marks
               A message to the program. `call` is 0 for a clock tick. Other messages answer a call, and also have
               tool, digest, error (whether the program gets an error), state, start_s, duration_s, size_bytes,
               preview, message and reused; calls that were not sent have arguments, effect, decision and rule.
               The entry's value is the answer to the program, as JSON.
    printed    text
               Output since the previous `printed` entry, written together with the next entry.
    resumed    by
               Who continued the execution: `server` after the death of another server, `handover` after a server was
               stopped, else the id of the caller.
    ended      as `delivered`, without call, now and marks
               A page of a list. The program receives it as a part of the whole list.
    began      tool, version, arguments, effect, decision, rule, now
               A saved program is about to run. `now` is the start of its clock, and the entry's value its code, as
               JSON. What it is sent are `delivered` entries with `within`, the path of its call.

`call` is the id given by the guest, 0 for pages and for the calls of saved programs. A call with a `started` entry only
has an unknown end. The path of a page is that of its list, `/` and its number; the path of a saved program's call is
that of the program, `:` and its place there.
"""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

from codemode.executions.types.records import check_types, readable
from codemode.gateway.call import CallState
from codemode.transports.base import Page
from sandbox import Delivery

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.executions.types.records import JournalEntry, StoredExecution


#: Values of `by`: a server continued what another left, because that had died, or because it was told to stop.
BY_SERVER = "server"
HANDOVER = "handover"


@dataclass(frozen=True, slots=True)
class End:
    """The end of a recorded call. `answer` is JSON; `facts` are the fields of its ledger entry."""

    state: CallState
    answer: bytes
    is_error: bool
    facts: Mapping[str, Any]


@dataclass(slots=True)
class RecordedCall:
    """A call of the program. `attempts` counts its `started` entries."""

    path: str
    call: int
    tool: str
    digest: str
    effect: str = ""
    schema: str = ""
    decision: str = ""
    rule: str = ""
    approval: str = ""
    account: str = ""
    mark: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 0
    sequence: int = 0
    ended_us: int = 0
    end: End | None = None

    @property
    def parent(self) -> str:
        """The path of the task that made the call."""
        return self.path.rpartition(".")[0]

    @property
    def within(self) -> str:
        """The path of the saved program that made the call, "" for the execution's own program."""
        return self.path.rpartition(":")[0]

    @property
    def is_query(self) -> bool:
        """Whether the call asked the host, not a tool: it is in no ledger."""
        return not self.effect and self.end is not None and not self.end.facts

    @property
    def is_page(self) -> bool:
        """Whether the call is a page of a list."""
        return "/" in self.path


@dataclass(frozen=True, slots=True)
class SavedProgramStart:
    """The start of a saved program: its code, the start of its clock in µs since the epoch, and its effect then."""

    code: str
    now: int
    effect: str


class Record:
    """The record of one execution. Raises JournalDamaged for inconsistent entries."""

    def __init__(self, execution: str, entries: Iterable[JournalEntry] = ()) -> None:
        self.execution = execution
        self.calls: dict[str, RecordedCall] = {}
        self.deliveries: list[Delivery] = []
        #: The starts of saved programs and what they were sent, by the paths of their calls.
        self.began: dict[str, SavedProgramStart] = {}
        self.inner_deliveries: dict[str, list[Delivery]] = {}
        #: Characters of recorded output.
        self.printed = 0
        #: Number of recoveries since a person last resumed the execution.
        self.taken_up = 0
        #: When the last entry was written, in µs since the epoch.
        self.last_us = 0
        #: Whether the store lost its last moments while the execution ran.
        self.has_gap = False
        for number, entry in enumerate(entries, start=1):
            with readable(f"entry {number}", execution):
                if entry.sequence != number:
                    raise ValueError("it is missing")
                check_types(entry.data, _TYPES)
                self._take(entry)

    def complete(self, stored: StoredExecution) -> Self:
        """Return the record itself.

        Raises JournalDamaged if the outcome lists a sent call that the entries lack. Repairs are exempt: their outcomes
        do not distinguish the calls that they reused.
        """
        with readable("the record", self.execution):
            for call in () if stored.request.resume_from else (stored.outcome or {}).get("calls", ()):
                if call["state"] in _SENT and not self.has_begun(call["path"]):
                    message = f"call {call['path']} of {call['tool']} is in the outcome, but not in the entries"
                    raise ValueError(message)
        return self

    def has_begun(self, path: str) -> bool:
        """Return whether the start of a call, or of a saved program, is recorded."""
        return path in self.calls or path in self.began

    @property
    def schemas(self) -> dict[str, str]:
        """Digests of the definitions of the called tools."""
        return {call.tool: call.schema for call in self.calls.values() if call.schema}

    def effect(self, path: str) -> str:
        """Return the effect that a sent call, or a saved program, had when it began, "" for any other call."""
        return self.began[path].effect if path in self.began else self.calls[path].effect

    def attempts(self, path: str) -> int:
        """Return how often a call was sent."""
        return self.calls[path].attempts if path in self.calls else 0

    def parts(self) -> dict[str, list[RecordedCall]]:
        """Return the pages of lists and the calls of saved programs, by the path of the call around them."""
        parts: dict[str, list[RecordedCall]] = {}
        for call in self.calls.values():
            for end in _ENDS_OF_PATHS.finditer(call.path):
                parts.setdefault(call.path[: end.start()], []).append(call)
        return parts

    def _take(self, entry: JournalEntry) -> None:
        data = entry.data
        self.last_us = entry.at_us
        if entry.kind == "started":
            self._started(entry)
        elif entry.kind == "ended":
            self._ended(entry)
        elif entry.kind == "printed":
            self.printed += len(data["text"])
        elif entry.kind == "resumed":
            self._resumed(data.get("by"))
            self.has_gap = self.has_gap or data.get("gap", False)
        elif entry.kind == "began":
            self.began[entry.path] = SavedProgramStart(
                str(json.loads(entry.value or b"")), int(data["now"]), data["effect"]
            )
        elif entry.kind == "delivered":
            if data["call"]:
                self._ended(entry)
            answer = entry.value or b""
            marks = tuple(int(mark) for mark in data["marks"])
            is_error = bool(data.get("error"))
            within = data.get("within", "")
            deliveries = self.inner_deliveries.setdefault(within, []) if within else self.deliveries
            deliveries.append(Delivery(int(data["call"]), int(data["now"]), marks, answer, is_error=is_error))

    def _resumed(self, by: Any) -> None:
        if by == BY_SERVER:
            self.taken_up += 1
        elif by != HANDOVER:
            self.taken_up = 0

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
            approval=data.get("approval", ""),
            account=data.get("account", ""),
            mark=data.get("mark", ""),
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
                0 if data.get("within") else int(data.get("call", 0)),
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
        call.ended_us = entry.at_us
        state = CallState.COMMITTED if data["state"] == CallState.READ else CallState(data["state"])
        call.end = End(state, answer, data["error"], facts)


#: Where the path of a page or of a saved program's call goes beyond that of the call around it.
_ENDS_OF_PATHS = re.compile("[/:]")

#: Fields of the ledger entry of an ended call.
FACTS = ("start_s", "duration_s", "size_bytes", "preview", "message", "reused")


#: States of calls that were sent.
_SENT = (CallState.COMMITTED, CallState.READ, CallState.UNKNOWN, CallState.CANCELLED)

_TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("tool", "digest", "effect", "schema", "decision", "rule", "key", "approval", "state"), str),
    **dict.fromkeys(("preview", "message", "reused", "text", "within", "account", "mark"), str),
    **dict.fromkeys(("call", "now", "size_bytes"), int),
    **dict.fromkeys(("start_s", "duration_s"), (int, float)),
    "arguments": dict,
    "marks": list,
    "error": bool,
    "gap": bool,
}
_OF_ERRORS = frozenset(("message", "kind", "status", "body", "retry_after_s"))
_OF_PAGES = frozenset(each.name for each in fields(Page) if each.default is each.default_factory is MISSING)

_MORE_OF_PAGES = frozenset(each.name for each in fields(Page)) - _OF_PAGES


def _fields(path: str, *, is_error: bool) -> frozenset[str]:
    """Return the required fields of an answer. Errors have no others, pages some, and other answers are any JSON."""
    return _OF_ERRORS if is_error else _OF_PAGES if "/" in path else frozenset()


def _checked(value: bytes | None, names: frozenset[str]) -> bytes:
    if value is None:
        raise ValueError("the answer is missing")
    answer = json.loads(value)
    optional = _MORE_OF_PAGES if names is _OF_PAGES else frozenset()
    if names and not (isinstance(answer, dict) and names <= answer.keys() <= names | optional):
        raise ValueError("the answer has unexpected or missing fields")
    return value
