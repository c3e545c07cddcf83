"""The outbox: messages about what waits for a person, kept until they are delivered (transactional outbox pattern).

A message is identified by its event, its question or execution, and its target, so that several servers add it once.
A server claims a message before it delivers it. If the server dies, another one delivers the message after the claim
has run out: the receiver gets it at least once, always under the same id.

Messages of questions are derived from the stored questions. Only `call.unknown` of an ended execution is added with the
end itself, as a message without a target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from codemode.executions.journal.sql.statements import Statement, Statements, Transaction, now_us
from codemode.text.times import SECOND_US

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from codemode.executions.journal.sql.tables import Carry

#: `noted`: something has happened, without a target yet. `waiting`: to be delivered at `due_us`. `gave_up`: after the
#: last attempt. `gone`: the receiver answered 410, and nothing more is sent to the target. `outdated`: it was decided
#: before the message was delivered.
MessageState = Literal["noted", "waiting", "delivered", "gave_up", "gone", "outdated"]

#: Added in one transaction.
_AT_ONCE = 200

#: Target of a message that only says what has happened, for each target to be derived from.
_NO_TARGET = ""

_COLUMNS = "id, execution, question, event, target, state, attempts, created_us, due_us, error"
_INSERT = (
    f"INSERT INTO outbox (project, {_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $8, '')"
    " ON CONFLICT (id) DO NOTHING"
)


class Message(NamedTuple):
    """One message in the outbox. `question` is "" for an ended execution. `error` is that of the last attempt."""

    id: str
    execution: str
    question: str
    event: str
    target: str
    state: MessageState
    attempts: int
    created_us: int
    due_us: int
    error: str


@dataclass(frozen=True, slots=True)
class MessageRequest:
    """Messages to add: those of an event, about waiting questions of these kinds, for a target.

    Only questions whose execution has not changed for `unchanged_us` are meant.
    """

    event: str
    target: str
    kinds: tuple[str, ...]
    unchanged_us: int = 0


class Sealing(Protocol):
    """The seals of one project, from which ids are made that nobody can guess."""

    project: str

    def seal(self, kind: bytes, *parts: str) -> bytes:
        """Return the seal over parts."""
        ...


class Outbox:
    """The outbox of one journal. `listeners` are set when this server has paused or ended an execution."""

    def __init__(self, write: Carry, read: Carry, seals: Sealing) -> None:
        self._write = write
        self._read = read
        self._seals = seals
        self.listeners: set[asyncio.Event] = set()

    def wake(self) -> None:
        """Set the listeners."""
        for listener in self.listeners:
            listener.set()

    async def add(self, wanted: Sequence[MessageRequest]) -> None:
        """Add the wanted messages that are not there yet. Targets that are gone get none."""
        for one in wanted:
            named = await self._read(_of_questions(self._seals, one))
            if one.event == "call.unknown":
                named += await self._read(_of_ends(self._seals, one))
            if named:
                await self._write(_insert(self._seals, one, named))

    async def claim(self, target: str, *, most: int, lease_s: float) -> tuple[Message, ...]:
        """Return messages to a target that are due, oldest first. No other server gets them for `lease_s` seconds.

        A target that is gone gets none.
        """
        return await self._write(_claim(self._seals.project, target, most, lease_s))

    async def settle(self, message: Message, state: MessageState, *, retry_s: float = 0.0, error: str = "") -> None:
        """Record an attempt: how it ended, or with `waiting` when to try again."""
        await self._write(_settle(message, state, retry_s, error))

    async def next_due_s(self, target: str) -> float | None:
        """Return the seconds until a message to the target is due, None without messages. Negative if it is overdue."""
        return await self._read(_next_due_s(self._seals.project, target))

    async def list(self, limit: int = 50) -> tuple[Message, ...]:
        """Return messages, newest first."""
        return await self._read(_list(self._seals.project, limit))

    async def gone(self) -> frozenset[str]:
        """Return the targets whose receiver answered 410."""
        return await self._read(_gone(self._seals.project))

    async def enable(self, target: str) -> None:
        """Send to a target again that was gone. Its undelivered messages stay as they are."""
        await self._write(_enable(self._seals.project, target))


def note_unknown(seals: Sealing, execution: str, outcome: object, now: int) -> Transaction[None]:
    """Note that an execution has ended with a call whose end is unknown. Part of the transaction that ends it."""
    calls = outcome.get("calls", ()) if isinstance(outcome, dict) else ()
    if any(call["state"] == "unknown" for call in calls):
        row = _row(seals, "call.unknown", _NO_TARGET, execution, "", now)
        yield Statement(_INSERT, (*row[:6], "noted", now))


def _row(seals: Sealing, event: str, target: str, execution: str, question: str, now: int) -> tuple[object, ...]:
    digest = seals.seal(b"message", event, target, execution, question).hex()
    return (seals.project, f"msg_{digest}", execution, question, event, target, "waiting", now)


#: The target's receiver has not answered 410.
_IS_THERE = (
    "NOT EXISTS (SELECT 1 FROM outbox AS other WHERE other.project = $1 AND other.state = 'gone' AND other.target = {})"
)


def _of_questions(seals: Sealing, wanted: MessageRequest) -> Transaction[list[tuple[str, str]]]:
    """Return (execution, question) of the first question of each pause that has no such message.

    A question belongs to the pause of an earlier one if no decision came between them.
    """
    now = yield from now_us()
    kinds = (*wanted.kinds, "", "")[:2]
    found = yield Statement(
        "SELECT execution, questions.id FROM questions JOIN executions ON executions.id = execution"
        " WHERE project = $1 AND status = 'paused' AND verdict = '' AND kind IN ($2, $3) AND updated_us <= $4"
        " AND NOT EXISTS (SELECT 1 FROM outbox JOIN questions AS told ON told.id = outbox.question"
        " WHERE outbox.execution = questions.execution AND event = $5 AND target = $6"
        " AND NOT EXISTS (SELECT 1 FROM questions AS decided WHERE decided.execution = questions.execution"
        " AND decided.verdict <> '' AND decided.asked_us >= told.asked_us"
        " AND decided.decided_us < questions.asked_us))"
        f" AND {_IS_THERE.format('$6')} ORDER BY asked_us LIMIT {_AT_ONCE}",
        (seals.project, *kinds, now - wanted.unchanged_us, wanted.event, wanted.target),
    )
    first: dict[str, str] = {}
    for execution, question in found:
        first.setdefault(execution, question)
    return list(first.items())


def _of_ends(seals: Sealing, wanted: MessageRequest) -> Transaction[list[tuple[str, str]]]:
    """Return (execution, "") of ended executions without this message."""
    found = yield Statement(
        "SELECT execution FROM outbox AS noted WHERE project = $1 AND state = 'noted' AND event = $2"
        " AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.execution = noted.execution AND outbox.question = ''"
        f" AND outbox.event = $2 AND outbox.target = $3) AND {_IS_THERE.format('$3')} LIMIT {_AT_ONCE}",
        (seals.project, wanted.event, wanted.target),
    )
    return [(execution, "") for (execution,) in found]


def _insert(seals: Sealing, wanted: MessageRequest, named: list[tuple[str, str]]) -> Transaction[None]:
    now = yield from now_us()
    added = tuple(_row(seals, wanted.event, wanted.target, execution, question, now) for execution, question in named)
    yield Statements(_INSERT, added)


def _claim(project: str, target: str, most: int, lease_s: float) -> Transaction[tuple[Message, ...]]:
    now = yield from now_us()
    due = yield Statement(
        f"SELECT {_COLUMNS} FROM outbox WHERE project = $1 AND state = 'waiting' AND due_us <= $2 AND target = $3"
        f" AND {_IS_THERE.format('$3')} ORDER BY due_us LIMIT {most:d}",
        (project, now, target),
    )
    claimed = []
    for row in due:
        message = Message(*row)
        mine = yield Statement(
            "UPDATE outbox SET due_us = $1 WHERE id = $2 AND state = 'waiting' AND due_us = $3 RETURNING id",
            (now + int(lease_s * SECOND_US), message.id, message.due_us),
        )
        if mine:
            claimed.append(message)
    return tuple(claimed)


def _settle(message: Message, state: MessageState, retry_s: float, error: str) -> Transaction[None]:
    now = yield from now_us()
    yield Statement(
        "UPDATE outbox SET state = $1, attempts = $2, due_us = $3, error = $4 WHERE id = $5 AND state = 'waiting'",
        (state, message.attempts + 1, now + int(retry_s * SECOND_US), error, message.id),
    )


def _next_due_s(project: str, target: str) -> Transaction[float | None]:
    now = yield from now_us()
    due = yield Statement(
        "SELECT min(due_us) FROM outbox WHERE project = $1 AND state = 'waiting' AND target = $2"
        f" AND {_IS_THERE.format('$2')}",
        (project, target),
    )
    return None if due[0][0] is None else (int(due[0][0]) - now) / SECOND_US


def _list(project: str, limit: int) -> Transaction[tuple[Message, ...]]:
    found = yield Statement(
        f"SELECT {_COLUMNS} FROM outbox WHERE project = $1 AND target <> '' ORDER BY created_us DESC, id LIMIT $2",
        (project, limit),
    )
    return tuple(Message(*row) for row in found)


def _gone(project: str) -> Transaction[frozenset[str]]:
    found = yield Statement("SELECT DISTINCT target FROM outbox WHERE project = $1 AND state = 'gone'", (project,))
    return frozenset(row[0] for row in found)


def _enable(project: str, target: str) -> Transaction[None]:
    yield Statement(
        "UPDATE outbox SET state = 'gave_up' WHERE project = $1 AND target = $2 AND state = 'gone'", (project, target)
    )
