"""The row format of journal data: ASCII JSON in text columns, which every database accepts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, Any

import msgspec

from codemode.errors import JournalDamaged
from codemode.executions.types.records import (
    JournalEntry,
    NewExecution,
    PendingCall,
    StoredExecution,
    check_types,
    readable,
)
from codemode.text.times import has_passed
from sandbox import JsonText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.seals import Seals
    from codemode.executions.types.records import Decision

from codemode.executions.journal.seals import NOT_AS_WRITTEN

#: Requests and questions above this many characters are listed by their beginning, of `HEAD` characters, alone.
MOST_LISTED, HEAD = 16_384, 2_048

#: The first members of a request and of a question, which the host wrote before those of the program.
_GIVEN_HEAD = re.compile(r'\{"id":"[^"\\]*","owner":"(?:[^"\\]|\\.)*+","role":("(?:[^"\\]|\\.)*+")')
_ASKED_HEAD = re.compile(r'\{"path":("(?:[^"\\]|\\.)*+"),"tool":("(?:[^"\\]|\\.)*+")')

#: Outcomes from this many characters on keep their value as unparsed text.
_LARGE = 1 << 16

#: An outcome with more calls takes about a millisecond to encode.
_MANY_CALLS = 100

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

#: Kind, content and value of an entry.
Line = tuple[str, str, bytes | None]

encode = json.JSONEncoder(separators=(",", ":")).encode


def given_text(execution: NewExecution) -> str:
    """Return the fixed facts of an execution as text."""
    fields = {name: getattr(execution, name) for name in NewExecution.__slots__}
    return encode({**fields, "seed": execution.seed.hex()})


_GIVEN: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("id", "owner", "role", "code", "seed", "resume_from", "request_key", "request_digest"), str),
    **dict.fromkeys(("settings", "digests"), dict),
    "start_us": int,
    "credentials": list,
}


def at(now: int, execution: StoredExecution, expire_us: int) -> StoredExecution:
    """Return an execution as it is at a time: a paused one expires `expire_us` after its last change."""
    if execution.status != "paused":
        return execution
    expires = execution.updated_us + expire_us
    if has_passed(expires, now):
        return replace(execution, status="expired", ended_us=expires)
    return replace(execution, expires_us=expires)


def stored(row: Sequence[Any], seals: Seals, *, has_outcome: bool = True) -> StoredExecution:
    """Parse (id, given, status, server, lease_until_us, created_us, updated_us, ended_us, outcome) and its seals.

    The seals are (seal, number, project, owner, request_key, request_digest, outcome_seal, sealed_to, seal of the last
    entry). Raises JournalDamaged.
    """
    execution, given, status, server, lease_until_us, created_us, updated_us, ended_us, outcome, *sealed = row
    with readable("the request", execution):
        is_sealed = seals.is_sealed(sealed[1], status)
        if is_sealed:
            seals.require_given((*sealed[:6], given))
        data = json.loads(given)
        check_types({"given": data}, {"given": dict})
        check_types(data, _GIVEN)
        data |= {"seed": bytes.fromhex(data["seed"]), "credentials": tuple(data["credentials"])}
        if data["id"] != execution:
            raise ValueError("it belongs to another execution")
        whole = NewExecution(**data)
    with readable("the outcome", execution):
        if is_sealed and has_outcome:
            outcome_seal, sealed_to, last = sealed[6:]
            seals.require_outcome(status, outcome, (outcome_seal, execution, sealed_to, last))
        ended = None if outcome is None else _outcome(outcome)
        check_types({"outcome": ended}, {"outcome": (dict, NoneType)})
    return StoredExecution(whole, status, server, lease_until_us, created_us, updated_us, ended_us, ended)


def outcome_text(outcome: Any) -> str:
    """Return an outcome as text. A large value stays as it is, and may not be ASCII."""
    value = outcome.get("value") if type(outcome) is dict else None
    if type(value) is not JsonText:
        return encode(outcome)
    rest = {name: part for name, part in outcome.items() if name != "value"}
    return f'{encode(rest)[:-1]},"value":{value.data.decode()}}}'


def is_brief(outcome: Any) -> bool:
    """Return whether an outcome takes well under a millisecond to write."""
    if type(outcome) is not dict:
        return outcome is None
    is_large = type(outcome.get("value")) is JsonText or len(outcome.get("output", "")) > _LARGE
    return not is_large and len(outcome.get("calls", ())) <= _MANY_CALLS


def _outcome(text: str) -> Any:
    """Parse an outcome, and leave a large value as text. Raises ValueError."""
    if len(text) < _LARGE:
        return json.loads(text)
    try:
        parts = _members(text.encode())
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return {
        name: JsonText(bytes(part)) if name == "value" and len(part) >= _LARGE else json.loads(bytes(part))
        for name, part in ((name, memoryview(raw)) for name, raw in parts.items())
    }


def listed(row: Sequence[Any], seals: Seals) -> StoredExecution:
    """Parse an owner, the size of the request, and the columns of `stored`, without the outcome.

    Of a large request only the role is known. Its seal is compared where it is read whole. Damage becomes a field of
    the result.
    """
    owner, size, *rest = row
    if size > MOST_LISTED:
        execution, given, status, server, lease_until_us, created_us, updated_us, ended_us, *_ = rest
        head = _GIVEN_HEAD.match(given)
        known = NewExecution(execution, owner, json.loads(head[1]) if head else "", "", seed=b"", start_us=created_us)
        return StoredExecution(known, status, server, lease_until_us, created_us, updated_us, ended_us)
    try:
        return stored(rest, seals, has_outcome=False)
    except JournalDamaged as error:
        execution, _, status, server, lease_until_us, created_us, updated_us, ended_us, *_ = rest
        known = NewExecution(execution, owner, role="", code="", seed=b"", start_us=created_us)
        times = (lease_until_us, created_us, updated_us, ended_us)
        return StoredExecution(known, status, server, *times, damage=str(error))


def line(entry: JournalEntry) -> Line:
    """Return an entry as a row. Raises TypeError if its data is not JSON."""
    return entry.kind, encode((entry.path, entry.data)), entry.value


def entry(row: Sequence[Any], execution: str) -> JournalEntry:
    """Parse (sequence, kind, at_us, content, value). Raises JournalDamaged."""
    sequence, kind, at_us, content, value = row
    with readable(f"entry {sequence}", execution):
        path, data = json.loads(content)
        check_types({"path": path, "data": data}, {"path": str, "data": dict})
    return JournalEntry(kind, path, data, value, sequence, at_us)


def require_chain(entry_rows: Sequence[Sequence[Any]], seals: Seals, before: bytes, execution: str) -> None:
    """Check rows of `entry`, each followed by its seal, against their seals. Raises JournalDamaged."""
    for sequence, kind, _, content, value, seal, *_ in entry_rows:
        with readable(f"entry {sequence}", execution):
            if not seals.holds(seal, b"entry", before, sequence, kind, content, value):
                raise ValueError(NOT_AS_WRITTEN)
        before = bytes(seal)


def asked_text(call: PendingCall) -> str:
    """Return the question as shown to a person."""
    asked = {"path": call.path, "tool": call.tool, "arguments": dict(call.arguments), "reason": call.reason}
    described: dict[str, Any] = {"summary": call.summary, "effect": call.effect, "operation": call.operation}
    if call.within:
        described["within"] = call.within
    if call.account:
        described["account"] = call.account
    if call.planned is not None:
        described["planned"] = dict(call.planned)
    if call.asks is not None:
        described["asks"] = dict(call.asks)
    return encode(asked | {"host": call.host} | described)


def answer_text(decision: Decision) -> str:
    """Return the answer without its verdict."""
    answer = {"by": decision.by, "note": decision.note, "value": decision.value, "via": decision.via}
    return encode(answer | {"up_to": decision.up_to, "grant": decision.grant})


def pending_call(row: Sequence[Any], seals: Seals, expire_us: int) -> PendingCall:
    """Parse (id, execution, asked_us, digest, kind, asked, verdict, answer, decided_us) and its seals.

    The seals are (seal, verdict_seal, number of the execution, its status). A decision is good for `expire_us`. Raises
    JournalDamaged.
    """
    identity, execution, asked_us, digest, kind, asked, verdict, answer, decided_us, *sealed = row
    seal, verdict_seal, number, status, *_ = sealed
    with readable(f"question {identity}", execution):
        if seals.is_sealed(number, status):
            seals.require(seal, b"question", *row[:6])
            if verdict:
                seals.require(verdict_seal, b"verdict", identity, seal, verdict, answer, decided_us)
        return PendingCall(
            id=identity,
            execution=execution,
            digest=digest,
            kind=kind,
            asked_us=asked_us,
            verdict=verdict or None,
            decided_us=decided_us,
            expires_us=decided_us + expire_us if verdict else 0,
            **json.loads(asked),
            **json.loads(answer),
        )


def brief_call(row: Sequence[Any], seals: Seals, expire_us: int) -> PendingCall:
    """Parse the columns of `pending_call` and the size of the question.

    Of a large question only path and tool are known. Its seal is compared where it is read whole.
    """
    *columns, size = row
    if size <= MOST_LISTED:
        return listed_call(columns, seals, expire_us)
    identity, execution, asked_us, digest, kind, asked, *_ = columns
    head = _ASKED_HEAD.match(asked)
    path, tool = (json.loads(head[1]), json.loads(head[2])) if head else ("", "")
    return PendingCall(identity, execution, path, tool, {}, digest, "", kind, asked_us, omitted=size)


def listed_call(row: Sequence[Any], seals: Seals, expire_us: int) -> PendingCall:
    """Parse the columns of `pending_call`. Damage becomes a field of the result."""
    try:
        return pending_call(row, seals, expire_us)
    except JournalDamaged as error:
        identity, execution, asked_us, digest, kind, *_ = row
        return PendingCall(identity, execution, "", "", {}, digest, "", kind, asked_us, damage=str(error))
