"""The ledger of an execution: its calls, in the order in which the program made them."""

from __future__ import annotations

import json
import time
from collections import Counter
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.catalog.tool import Effect
from codemode.gateway.call import CallState, state_of
from codemode.gateway.redaction import Redaction, redacted
from codemode.shared.callbacks import ignore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.tool import Tool
    from codemode.gateway.call import JudgedCall, ToolOutcome


def in_signature_order(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as the signature lists them: the required ones first. Unknown names come last."""
    places: dict[str, int] = {}
    for place, parameter in enumerate(sorted(tool.parameters, key=lambda one: not one.required)):
        places[parameter.name] = place
        places.setdefault(parameter.wire_name, place)
    return dict(sorted(arguments.items(), key=lambda one: places.get(one[0], len(places))))


#: Characters of an argument or answer in the ledger: one line of a terminal.
PREVIEW_CHARACTERS = 120

# `json.dumps` would build an encoder for each call.
_canonical = json.JSONEncoder(sort_keys=True, default=str).encode
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)

#: Answers of so many bytes are not encoded again for their preview.
_LARGE = 1 << 16

_SENT = (CallState.COMMITTED, CallState.READ, CallState.RUNNING, CallState.UNKNOWN, CallState.CANCELLED)

#: Largest number of notes on repeated reads in one outcome.
_MOST_NOTES = 5


class LedgerEntry(NamedTuple):
    """One call. Times are seconds since the start of the execution; `size_bytes` is the size of the answer as JSON.

    It is a tuple because each call makes several, and changing a frozen dataclass takes four times as long.

    - `path`: the call's position in the tree of the program's tasks.
    - `arguments`: the arguments, without secrets.
    - `decision`, `rule`: the policy's, or "" if it was not asked (unknown tool, wrong arguments).
    - `error`: the message that the program saw.
    - `repeats`: the path of an earlier, equal read.
    - `progress`: the service's last progress message.
    - `reused`: the earlier execution, and the path in it, whose answer was used instead of a call.
    - `question`: the id of the pending approval.
    - `effect`: the effect of the tool, "" if it is unknown.
    - `account`: whose credentials were sent, where the source has several.
    """

    path: str
    tool: str
    arguments: dict[str, Any]
    state: CallState
    start_s: float
    duration_s: float
    decision: str = ""
    rule: str = ""
    size_bytes: int = 0
    preview: str = ""
    error: str = ""
    repeats: str = ""
    progress: str = ""
    reused: str = ""
    question: str = ""
    effect: str = ""
    account: str = ""

    @property
    def shown_state(self) -> str:
        """The state for people and models: an answer of an earlier run is `reused`."""
        return "reused" if self.reused else str(self.state)

    @property
    def is_progress(self) -> bool:
        """Whether the entry only reports progress of a call in flight."""
        return self.state is CallState.RUNNING and bool(self.progress)


class Ledger:
    """Collects entries while an execution runs. A write that was sent and never ended is `unknown`, a read `cancelled`.

    `watch` receives each entry when its call is refused, sent, reports progress, and ends. `mask` returns the
    replacement of a secret argument. `elapsed_s` is how long the execution ran before.
    """

    def __init__(
        self,
        watch: Callable[[LedgerEntry], None] = ignore,
        *,
        mask: Callable[[object], str] = redacted,
        elapsed_s: float = 0.0,
    ) -> None:
        self._watch = watch
        self._mask = mask
        self._began = time.monotonic() - elapsed_s
        self._entries: dict[str, LedgerEntry] = {}
        self._redactions: dict[str, Redaction] = {}
        self._reads: dict[bytes, str] = {}
        self._repeated: Counter[str] = Counter()
        self._noted: dict[str, None] = {}

    def take(self, judged: JudgedCall) -> None:
        """Record a call before anything is sent."""
        call, tool = judged.call, judged.tool
        given = call.arguments if tool is None else in_signature_order(tool, call.arguments)
        arguments, redaction = Redaction(call.caller.secrets, self._mask).arguments(given, tool)
        self._redactions[call.path] = redaction
        self._entries[call.path] = LedgerEntry(
            path=call.path,
            tool=judged.tool.id if judged.tool else call.tool,
            arguments=arguments,
            state=judged.state,
            start_s=self.elapsed_s(),
            duration_s=0.0,
            decision=judged.ruling.decision if judged.ruling else "",
            rule=judged.ruling.rule if judged.ruling else "",
            error=redaction.text(judged.error.for_model()) if judged.error else "",
            repeats=self._earlier(judged),
            effect=judged.tool.effect if judged.tool else "",
        )
        if judged.error is not None:
            self._watch(self._entries[call.path])

    def hides(self, path: str) -> tuple[str, ...]:
        """Return the names of a call's arguments that a person would see in part. See `Redaction.hides`."""
        return self._redactions[path].hides

    def send(self, path: str) -> None:
        """Record that a call is about to be sent. From now on it may have taken effect."""
        self._entries[path] = self._entries[path]._replace(state=CallState.RUNNING, start_s=self.elapsed_s())
        self._watch(self._entries[path])

    def progress(self, path: str, message: str) -> None:
        """Record a progress message of the service."""
        entry = self._entries[path]
        if entry.state is CallState.RUNNING:
            self._entries[path] = entry._replace(progress=self._redactions[path].text(message))
            self._watch(self._entries[path])

    def withdraw(self, path: str) -> None:
        """Record that a call ended before it was sent."""
        self._entries[path] = self._entries[path]._replace(state=CallState.NOT_STARTED)

    def finish(self, path: str, outcome: ToolOutcome) -> None:
        """Record how a call ended. A page counts with its whole answer."""
        entry = self._entries[path]
        redaction = self._redactions[path]
        value = getattr(outcome.value, "value", outcome.value)
        text, size = ("", 0) if outcome.error else _beginning(value)
        self._entries[path] = entry._replace(
            state=state_of(entry.effect, outcome.state),
            duration_s=self.elapsed_s() - entry.start_s,
            size_bytes=size,
            preview=preview(redaction.text(_readable(text[: PREVIEW_CHARACTERS * 4]))),
            error=redaction.text(outcome.error.for_model()) if outcome.error else "",
        )
        self._watch(self._entries[path])

    def __contains__(self, path: str) -> bool:
        return path in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def entry(self, path: str) -> LedgerEntry:
        """Return the entry of a call."""
        return self._entries[path]

    def restore(self, entry: LedgerEntry) -> None:
        """Add an entry from the record of an earlier run."""
        self._entries[entry.path] = entry

    def amend(self, judged: JudgedCall) -> None:
        """Replace the policy's decision on a call."""
        ruling, path = judged.ruling, judged.call.path
        if ruling is None:
            return
        error = self._redactions[path].text(judged.error.for_model()) if judged.error else ""
        self._entries[path] = self._entries[path]._replace(
            state=judged.state,
            decision=ruling.decision,
            rule=ruling.rule,
            error=error,
        )
        if judged.error is not None:
            self._watch(self._entries[path])

    def credit(self, judged: JudgedCall) -> None:
        """Record whose credentials a call uses."""
        shown = judged.account.shown if judged.account is not None else ""
        self._entries[judged.call.path] = self._entries[judged.call.path]._replace(account=shown)

    def settle(self, path: str, state: CallState, **facts: Any) -> None:
        """Record the end of a call that is not sent in this run."""
        entry = self._entries[path]
        self._entries[path] = entry._replace(state=state_of(entry.effect, state), **facts)
        self._watch(self._entries[path])

    def pending(self) -> tuple[LedgerEntry, ...]:
        """Return the calls that wait for a person."""
        return tuple(entry for entry in self._entries.values() if entry.state is CallState.PENDING or entry.question)

    def has_sent(self) -> bool:
        """Return whether a call was sent, and did not fail."""
        return any(entry.state in _SENT for entry in self._entries.values())

    def close(self, *, is_asked: bool = False) -> tuple[LedgerEntry, ...]:
        """Return all entries. Writes in flight end here as `unknown`, reads as `cancelled`.

        Calls stay pending only if `is_asked`: a person was asked, and the program was stopped for that.
        """
        now = self.elapsed_s()
        for entry in () if is_asked else self.pending():
            state = CallState.NOT_STARTED if entry.state is CallState.PENDING else entry.state
            self._entries[entry.path] = entry._replace(state=state, question="")
        return tuple(
            entry._replace(state=state_of(entry.effect, CallState.UNKNOWN), duration_s=now - entry.start_s)
            if entry.state is CallState.RUNNING
            else entry
            for entry in self._entries.values()
        )

    def note(self, text: str) -> None:
        """Add a note to the outcome, once."""
        self._noted[text] = None

    def notes(self) -> tuple[str, ...]:
        """Return the notes, with advice on repeated reads."""
        return *list(self._noted)[:_MOST_NOTES], *(
            f"{self._entries[path].tool} was read {count + 1} times with the same arguments: keep the answer"
            for path, count in self._repeated.most_common(_MOST_NOTES)
        )

    def _earlier(self, judged: JudgedCall) -> str:
        """Return the path of an earlier read of the same tool with the same arguments."""
        if judged.tool is None or judged.error is not None:
            return ""
        if judged.tool.effect is not Effect.READ:
            self._reads.clear()  # a write may change later reads
            return ""
        text = _canonical([judged.tool.id, judged.arguments])
        path = self._reads.setdefault(blake2b(text.encode(), digest_size=16).digest(), judged.call.path)
        if path == judged.call.path:
            return ""
        self._repeated[path] += 1
        return path

    def elapsed_s(self) -> float:
        """Return the seconds since the start of the execution."""
        return time.monotonic() - self._began


def _beginning(value: Any) -> tuple[str, int]:
    """Return the beginning of an answer as JSON, and its size in bytes.

    Both are empty for what JSON cannot encode, such as an integer of 5,000 digits. Only a fast encoder reads the whole
    of a large answer; the text comes from one that stops.
    """
    import orjson

    try:
        size = len(orjson.dumps(value))
    except (TypeError, ValueError, RecursionError):
        size = 0
    try:
        if size < _LARGE:
            text = _ENCODER.encode(value)
            return text, len(text if text.isascii() else text.encode("utf-8", "replace"))
        return "".join(islice(_ENCODER.iterencode(value), PREVIEW_CHARACTERS * 4)), size
    except (ValueError, RecursionError):
        return "", 0


def _readable(text: str) -> str:
    """Replace lone surrogates, which a Python function may return."""
    return text.encode("utf-8", "replace").decode()


def preview(text: str) -> str:
    """Return the first characters of a text on one line, with "…" if there are more."""
    head = " ".join(text[: PREVIEW_CHARACTERS * 2].split())
    return head if len(text) <= PREVIEW_CHARACTERS else head[:PREVIEW_CHARACTERS] + "…"
