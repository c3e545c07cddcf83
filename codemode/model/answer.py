"""The answer to a model's call."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from codemode.catalog.error_answers import text_reports_error
from codemode.catalog.tool import Effect
from codemode.gateway.call import CallState
from sandbox import JsonText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.records import ExecutionStatus
    from codemode.search.query import Hit
    from codemode.transports.content import Content

    #: The status of the execution; `answered` for a call that ran no program, `rejected` for one that was not made.
    AnswerStatus = ExecutionStatus | Literal["answered", "rejected"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a model's call.

    `text` is what the model reads. `data` holds the same of a program's outcome as JSON data, for clients that show
    structured content instead, and is empty for other calls. `content` are the images and files that the result refers
    to. `waiting` are the ids of calls that need a decision. `loaded` are the ids of tools that a meta-tool loaded, and
    None for other calls. `changes_offer` says that another tool is offered from now on. `hits` are those of a search. A
    `malformed` call was not made, and the model may correct and repeat it.
    """

    text: str
    status: AnswerStatus = "answered"
    data: dict[str, Any] = field(default_factory=dict)
    outcome: ExecutionOutcome | None = None
    content: tuple[Content, ...] = ()
    waiting: tuple[str, ...] = ()
    loaded: tuple[str, ...] | None = None
    hits: tuple[Hit, ...] = ()
    changes_offer: bool = False
    malformed: bool = False

    @property
    def ok(self) -> bool:
        """Whether the call did what was asked, or still does."""
        return self.status in ("answered", "completed", "queued", "running")

    @property
    def execution(self) -> str:
        """The id of the execution, "" without one."""
        return "" if self.outcome is None else self.outcome.id

    @property
    def did_nothing(self) -> bool:
        """Whether the call was malformed, or a program that was refused or failed before its first call."""
        ended = self.outcome
        return self.malformed or (ended is not None and ended.status in ("refused", "failed") and not ended.calls)

    @property
    def changed_something(self) -> bool:
        """Whether the call did something at a service, or may have done so.

        Reads do not count, nor calls that were answered with an error.
        """
        return any(True for _ in self._changes())

    def _changes(self) -> Iterator[LedgerEntry]:
        """Yield the calls that did something, or may have done so."""
        for call in () if self.outcome is None else self.outcome.calls:
            is_sent = call.state in (CallState.COMMITTED, CallState.UNKNOWN) and call.effect != Effect.READ
            if is_sent and not text_reports_error(call.preview):
                yield call

    @property
    def unshown(self) -> tuple[str, ...]:
        """What a text may lack: the whole result, the beginnings of what calls answered, and what changes were told."""
        ended = self.outcome
        if ended is None:
            return ()
        whole = ended.result
        data = whole.data if isinstance(whole, JsonText) else json.dumps(whole).encode() if ended.has_value else b""
        told = (json.dumps(call.arguments, default=str) for call in self._changes())
        shown = (data[:_READ].decode("utf-8", "replace"), *(call.preview for call in ended.calls), *told)
        return tuple(filter(None, shown))

    @property
    def result(self) -> object:
        """What identifies a repeated answer. Notes about repetition are left out."""
        ended = self.outcome
        return self.text if ended is None else (ended.status, repr(ended.value), ended.output, ended.failure)


#: Bytes of a whole result that are read.
_READ = 1 << 20


def rejected(text: str, *, malformed: bool = False) -> Answer:
    """Return the answer to a call that was not made."""
    return Answer(text, "rejected", malformed=malformed)
