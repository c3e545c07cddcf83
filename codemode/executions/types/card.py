"""The approval card: one structure from which every interface shows a pending call."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 -- `json_form` reads the types of fields
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codemode.executions.types.json_form import json_of
from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from codemode.executions.types.records import PendingCall


Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Requester:
    """The caller who started the execution."""

    id: str
    label: str
    role: str


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """The record that an id argument means, as the execution read it: by which tool, when, and what names it."""

    tool: str
    path: str
    read_us: int
    fields: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class CardArgument:
    """One argument, or a part of one: `body.amount`.

    `record` is what is known of an id. `contrast` is another value that the record of another argument has under this
    name, None if there is none.
    """

    name: str
    value: Any
    record: KnownRecord | None = None
    contrast: Scalar | None = None


@dataclass(frozen=True, slots=True)
class CallsMade:
    """Calls of one tool that the program has made so far. `state` is `read` for reads that were answered."""

    tool: str
    state: str
    count: int


@dataclass(frozen=True, slots=True)
class Change:
    """An argument that differs from an earlier approved call. None: it was, or is, absent."""

    name: str
    before: Any
    now: Any


@dataclass(frozen=True, slots=True)
class EarlierApproval:
    """The last approved call of the same tool with the same argument names, and what differs now."""

    id: str
    execution: str
    by: str
    decided_us: int
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class ApprovalCard:
    """What a person needs to know of a call to decide on it.

    `call` holds the call itself: its tool, arguments, effect, operation, host and reason, and later the decision.
    Secret arguments are digests. `expires_us` is 0 once it is decided. `answers` are the commands and addresses by
    which it is answered. `twins` are the ids under which the same call of the same key waits in other executions.
    """

    call: PendingCall
    requester: Requester
    expires_us: int
    answers: Mapping[str, str]
    arguments: tuple[CardArgument, ...] = ()
    so_far: tuple[CallsMade, ...] = ()
    earlier: EarlierApproval | None = None
    twins: tuple[str, ...] = ()
    shows_via: bool = False

    def brief(self) -> dict[str, Any]:
        """Return the card as JSON data without what takes reading the execution: the form of lists."""
        return {
            **self.call.to_json(),
            "requester": json_of(self.requester),
            "expires": rfc3339(self.expires_us) if self.expires_us else None,
            "answers": dict(self.answers),
        }

    def to_json(self) -> dict[str, Any]:
        """Return the whole card as JSON data. Times are RFC 3339. Only approvers get `via`, how it was decided."""
        return {
            **self.brief(),
            "via": self.call.via if self.shows_via else "",
            "details": [json_of(one) for one in self.arguments],
            "so_far": [json_of(one) for one in self.so_far],
            "twins": list(self.twins),
            "earlier": None if self.earlier is None else json_of(self.earlier),
        }
