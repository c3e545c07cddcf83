"""The ledger of an execution: every call that the program made, in the order in which it made them."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from codemode.catalog.tool import Effect
from codemode.gateway.call import CallState
from codemode.gateway.redaction import Redaction, redacted

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.gateway.call import JudgedCall, ToolOutcome

#: Characters of an argument or an answer that the ledger shows. A line of a terminal.
PREVIEW_CHARACTERS = 120

#: Notes on repeated reads that one outcome carries.
_MOST_NOTES = 5


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One call. Times are seconds since the start of the execution, `size_bytes` is the answer as JSON.

    `path` is the call's place in the tree of the program's tasks; `arguments` are without secrets; `decision` and
    `rule` are the policy's ("" where it was not asked: no such tool, wrong arguments); `error` is the message that the
    program saw; `repeats` is the path of an earlier read that was the same; `progress` is what the service said last of
    how far it is; `reused` names the earlier execution and the path there of a call that was not made again;
    `question` is the id under which a person is asked about it.
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

    @property
    def is_progress(self) -> bool:
        """Whether it tells no more than how far a call is that was sent before and has not ended."""
        return self.state is CallState.UNKNOWN and bool(self.progress) and not self.duration_s


def unwatched(_: LedgerEntry) -> None:
    """Nobody looks on."""


class Ledger:
    """Collects entries while an execution runs. A call that was sent and never finished stays `unknown`.

    `watch` is given each entry when it is refused, when it is sent, when its service tells how far it is, and when it
    has ended. `mask` gives what stands for a secret argument, `elapsed_s` is how long the execution has run before.
    """

    def __init__(
        self,
        watch: Callable[[LedgerEntry], None] = unwatched,
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
        """Record a call that the program makes, before anything is sent."""
        call = judged.call
        arguments, redaction = Redaction(call.caller.secrets, self._mask).arguments(call.arguments, judged.tool)
        self._redactions[call.path] = redaction
        self._entries[call.path] = LedgerEntry(
            path=call.path,
            tool=judged.tool.id if judged.tool else call.tool,
            arguments=arguments,
            state=judged.state,
            start_s=self._now(),
            duration_s=0.0,
            decision=judged.ruling.decision if judged.ruling else "",
            rule=judged.ruling.rule if judged.ruling else "",
            error=redaction.text(judged.error.for_model()) if judged.error else "",
            repeats=self._earlier(judged),
        )
        if judged.error is not None:
            self._watch(self._entries[call.path])

    def send(self, path: str) -> None:
        """Record that a call is about to be sent: from now on it may have been done."""
        self._entries[path] = replace(self._entries[path], state=CallState.UNKNOWN, start_s=self._now())
        self._watch(self._entries[path])

    def progress(self, path: str, said: str) -> None:
        """Record what the service says of a call that it works on."""
        entry = self._entries[path]
        if entry.state is CallState.UNKNOWN:
            self._entries[path] = replace(entry, progress=self._redactions[path].text(said))
            self._watch(self._entries[path])

    def withdraw(self, path: str) -> None:
        """Record that a call ended before it was sent."""
        self._entries[path] = replace(self._entries[path], state=CallState.NOT_STARTED)

    def finish(self, path: str, outcome: ToolOutcome) -> None:
        """Record what became of it; a page counts as its whole answer."""
        entry = self._entries[path]
        redaction = self._redactions[path]
        value = getattr(outcome.value, "value", outcome.value)
        text = "" if outcome.error else _as_json(value)
        self._entries[path] = replace(
            entry,
            state=outcome.state,
            duration_s=self._now() - entry.start_s,
            size_bytes=len(text.encode("utf-8", "replace")),
            preview=preview(redaction.text(_readable(text[: PREVIEW_CHARACTERS * 4]))),
            error=redaction.text(outcome.error.for_model()) if outcome.error else "",
        )
        self._watch(self._entries[path])

    def __contains__(self, path: str) -> bool:
        return path in self._entries

    def entry(self, path: str) -> LedgerEntry:
        """What is known of a call."""
        return self._entries[path]

    def restore(self, entry: LedgerEntry) -> None:
        """Put in a call as it was recorded before."""
        self._entries[entry.path] = entry

    def amend(self, judged: JudgedCall) -> None:
        """Record another decision on a call than the policy's alone."""
        ruling = judged.ruling
        if ruling is not None:
            entry = self._entries[judged.call.path]
            self._entries[judged.call.path] = replace(
                entry, state=judged.state, decision=ruling.decision, rule=ruling.rule, error=""
            )

    def settle(self, path: str, state: CallState, **facts: Any) -> None:
        """Record what became of a call without its being sent now."""
        self._entries[path] = replace(self._entries[path], state=state, **facts)
        self._watch(self._entries[path])

    def pending(self) -> tuple[LedgerEntry, ...]:
        """The calls that wait for a person."""
        return tuple(entry for entry in self._entries.values() if entry.state is CallState.PENDING or entry.question)

    def has_sent(self) -> bool:
        """Whether a call was done, or may have been."""
        return any(entry.state in (CallState.COMMITTED, CallState.UNKNOWN) for entry in self._entries.values())

    def close(self, *, is_asked: bool = False) -> tuple[LedgerEntry, ...]:
        """All entries; those still under way end here, and whether they were done is unknown.

        Those that wait for a person do so only where one is asked: where that is why the program has ended.
        """
        now = self._now()
        for entry in () if is_asked else self.pending():
            state = CallState.NOT_STARTED if entry.state is CallState.PENDING else entry.state
            self._entries[entry.path] = replace(entry, state=state, question="")
        return tuple(
            replace(entry, duration_s=now - entry.start_s) if entry.state is CallState.UNKNOWN else entry
            for entry in self._entries.values()
        )

    def note(self, text: str) -> None:
        """Keep something that is to be said of the calls, once."""
        self._noted[text] = None

    def notes(self) -> tuple[str, ...]:
        """What is to be said of the calls, and what a program that repeats itself is told."""
        return *list(self._noted)[:_MOST_NOTES], *(
            f"{self._entries[path].tool} was read {count + 1} times with the same arguments: keep the answer"
            for path, count in self._repeated.most_common(_MOST_NOTES)
        )

    def _earlier(self, judged: JudgedCall) -> str:
        """The path of an earlier read of the same tool with the same arguments."""
        if judged.tool is None or judged.error is not None:
            return ""
        if judged.tool.effect is not Effect.READ:
            self._reads.clear()  # what is read after a write may have changed
            return ""
        text = json.dumps([judged.tool.id, judged.arguments], sort_keys=True, default=str)
        path = self._reads.setdefault(blake2b(text.encode(), digest_size=16).digest(), judged.call.path)
        if path == judged.call.path:
            return ""
        self._repeated[path] += 1
        return path

    def _now(self) -> float:
        return time.monotonic() - self._began


def _as_json(value: Any) -> str:
    """An answer as text; what cannot be written (a number of 5,000 digits) is the program's error, not the ledger's."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""


def _readable(text: str) -> str:
    """A text without halves of surrogate pairs, which a Python function may give."""
    return text.encode("utf-8", "replace").decode()


def preview(text: str) -> str:
    """The first characters of a text on one line, and whether there are more."""
    head = " ".join(text[: PREVIEW_CHARACTERS * 2].split())
    return head if len(text) <= PREVIEW_CHARACTERS else head[:PREVIEW_CHARACTERS] + "…"
