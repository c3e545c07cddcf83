"""How what the journal holds is written in rows: ASCII JSON in text columns, which no database objects to."""

from __future__ import annotations

import json
from dataclasses import asdict
from types import NoneType
from typing import TYPE_CHECKING, Any

import msgspec

from codemode.errors import JournalDamaged
from codemode.executions.journal import JournalEntry, NewExecution, PendingCall, StoredExecution, check_types, readable
from sandbox import JsonText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal import Decision

#: From this many characters on the value of an outcome is not parsed.
_LARGE = 1 << 16

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

encode = json.JSONEncoder(separators=(",", ":")).encode


def given_text(execution: NewExecution) -> str:
    """What never changes of an execution."""
    return encode({**asdict(execution), "seed": execution.seed.hex()})


_GIVEN: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("id", "owner", "role", "code", "seed", "resume_from", "request_key", "request_digest"), str),
    **dict.fromkeys(("settings", "digests"), dict),
    "start_us": int,
    "credentials": list,
}


def stored(row: Sequence[Any]) -> StoredExecution:
    """From (id, given, status, server, lease_until_us, created_us, updated_us, ended_us, outcome).

    Raises JournalDamaged.
    """
    execution, given, status, server, lease_until_us, created_us, updated_us, ended_us, outcome = row
    with readable("what was given", execution):
        data = json.loads(given)
        check_types({"given": data}, {"given": dict})
        check_types(data, _GIVEN)
        data |= {"seed": bytes.fromhex(data["seed"]), "credentials": tuple(data["credentials"])}
        if data["id"] != execution:
            raise ValueError("it is that of another execution")
        whole = NewExecution(**data)
    with readable("the outcome", execution):
        ended = None if outcome is None else _outcome(outcome)
        check_types({"outcome": ended}, {"outcome": (dict, NoneType)})
    return StoredExecution(whole, status, server, lease_until_us, created_us, updated_us, ended_us, ended)


def outcome_text(outcome: Any) -> str:
    """An outcome as it is written: a large value in it stays the text that it is, which is not ASCII alone."""
    value = outcome.get("value") if type(outcome) is dict else None
    if type(value) is not JsonText:
        return encode(outcome)
    rest = {name: part for name, part in outcome.items() if name != "value"}
    return f'{encode(rest)[:-1]},"value":{value.data.decode()}}}'


def _outcome(text: str) -> Any:
    """An outcome as it was written, a large value in it as text. Raises ValueError."""
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


def listed(row: Sequence[Any]) -> StoredExecution:
    """From an owner and what `stored` takes; what is damaged is said in it."""
    owner, *rest = row
    try:
        return stored(rest)
    except JournalDamaged as error:
        execution, _, status, server, lease_until_us, created_us, updated_us, ended_us, _ = rest
        known = NewExecution(execution, owner, role="", code="", seed=b"", start_us=created_us)
        times = (lease_until_us, created_us, updated_us, ended_us)
        return StoredExecution(known, status, server, *times, damage=str(error))


def line(entry: JournalEntry) -> tuple[str, str, bytes | None]:
    """(kind, content, value) of an entry. Raises TypeError where its data is not JSON."""
    return entry.kind, encode((entry.path, entry.data)), entry.value


def entry(row: Sequence[Any], execution: str) -> JournalEntry:
    """From (sequence, kind, at_us, content, value). Raises JournalDamaged."""
    sequence, kind, at_us, content, value = row
    with readable(f"entry {sequence}", execution):
        path, data = json.loads(content)
        check_types({"path": path, "data": data}, {"path": str, "data": dict})
    return JournalEntry(kind, path, data, value, sequence, at_us)


def asked_text(call: PendingCall) -> str:
    """The question, as a person sees it."""
    return encode({"path": call.path, "tool": call.tool, "arguments": dict(call.arguments), "reason": call.reason})


def answer_text(decision: Decision) -> str:
    """The answer, besides its verdict."""
    return encode({"by": decision.by, "note": decision.note, "value": decision.value})


def pending_call(row: Sequence[Any]) -> PendingCall:
    """From (id, execution, asked_us, digest, kind, asked, verdict, answer, decided_us). Raises JournalDamaged."""
    identity, execution, asked_us, digest, kind, asked, verdict, answer, decided_us = row
    with readable(f"question {identity}", execution):
        return PendingCall(
            id=identity,
            execution=execution,
            digest=digest,
            kind=kind,
            asked_us=asked_us,
            verdict=verdict or None,
            decided_us=decided_us,
            **json.loads(asked),
            **json.loads(answer),
        )


def listed_call(row: Sequence[Any]) -> PendingCall:
    """From what `pending_call` takes; what is damaged is said in it."""
    try:
        return pending_call(row)
    except JournalDamaged as error:
        identity, execution, asked_us, digest, kind, *_ = row
        return PendingCall(identity, execution, "", "", {}, digest, "", kind, asked_us, damage=str(error))
