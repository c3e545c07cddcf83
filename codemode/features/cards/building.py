"""Builds approval cards from the journal: from the question, the execution's record, and earlier approvals."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from codemode.executions.types.card import (
    ApprovalCard,
    CallsMade,
    CardArgument,
    Change,
    EarlierApproval,
    KnownRecord,
    Requester,
)
from codemode.executions.types.records import LABEL
from codemode.gateway.call import CallState, state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codemode.executions.types.card import Scalar
    from codemode.executions.types.record import Record
    from codemode.executions.types.records import PendingCall, StoredExecution
    from codemode.features.cards.readings import Reading, Readings

#: Argument values that a card lists one by one. More are shown together.
_MOST_ARGUMENTS = 60
_DEEPEST = 4


def brief_card(call: PendingCall, stored: StoredExecution, *, public_url: str = "") -> ApprovalCard:
    """Return the card of a call without what takes reading its execution. `public_url` is "" if it is unknown."""
    request = stored.request
    waits = stored.status == "paused" and call.verdict is None
    return ApprovalCard(
        call=call,
        requester=Requester(request.owner, str(request.settings.get(LABEL, "")), request.role),
        expires_us=stored.expires_us if waits else 0,
        answers=_answers(call, public_url) if waits else {},
    )


def arguments_of(call: PendingCall, readings: Readings) -> tuple[CardArgument, ...]:
    """Return the arguments of a call with what is known of them."""
    flat = _flat(call.arguments)
    records = {name: found for name, value in flat.items() if (found := readings.find(_last(name), value, call.tool))}
    return tuple(
        CardArgument(name, value, _known(records.get(name), readings), _contrast(name, value, records, readings))
        for name, value in flat.items()
    )


def calls_made(record: Record, stored: StoredExecution) -> tuple[CallsMade, ...]:
    """Return the calls that an execution has made, counted by tool and state, in the order of the first of each."""
    effects = {path: call.effect for path, call in record.calls.items()}
    made = Counter(
        (call["tool"], str(state_of(effects.get(call["path"], ""), CallState(call["state"]))))
        for call in (stored.outcome or {}).get("calls", ())
        if call["state"] not in (CallState.PENDING, CallState.NOT_STARTED)
    )
    return tuple(CallsMade(tool, state, count) for (tool, state), count in made.items())


def earlier_approval(call: PendingCall, approved: Iterable[PendingCall]) -> EarlierApproval | None:
    """Return the first of the approved calls that has the tool and the argument names of a call, or None."""
    now = _flat(call.arguments)
    for one in approved:
        if one.id != call.id and one.tool == call.tool and one.arguments.keys() == call.arguments.keys():
            before = _flat(one.arguments)
            changes = tuple(
                Change(name, before.get(name), now.get(name))
                for name in dict.fromkeys((*now, *before))
                if before.get(name) != now.get(name)
            )
            return EarlierApproval(one.id, one.execution, one.by, one.decided_us, changes)
    return None


def _known(reading: Reading | None, readings: Readings) -> KnownRecord | None:
    if reading is None:
        return None
    return KnownRecord(reading.call.tool, reading.call.path, reading.call.ended_us, readings.naming(reading))


def _contrast(name: str, value: Any, records: Mapping[str, Reading], readings: Readings) -> Scalar | None:
    """Return another value that a record of another argument has under the name of this argument."""
    for owner, reading in records.items():
        found = readings.same_field(reading, _last(name)) if owner != name else None
        if found is not None and not isinstance(value, (dict, list)) and not _equal(found, value):
            return found
    return None


def _equal(found: Scalar, value: Any) -> bool:
    return bool(found == value) or str(found) == str(value)


def _answers(call: PendingCall, public_url: str) -> dict[str, str]:
    base = public_url.rstrip("/")
    if call.kind == "unknown":
        ways = {"decide": f"codemode executions decide {call.id} committed|failed|send_again"}
    elif call.kind == "login" and call.asks is not None:
        ways = {"log_in": call.asks["url"]}
    else:
        ways = {
            "approve": f"codemode approvals approve {call.id}",
            "reject": f"codemode approvals reject {call.id}",
            "approve_all": f"codemode approvals approve {call.id} --up-to N",
        }
    return {**ways, "http": f"POST {base}/v1/approvals/{call.id}", "console": f"{base}/console/approvals/{call.id}"}


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _flat(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with the fields of objects as names of their own, or unchanged if there are too many."""
    flat = dict(_leaves(arguments, "", _DEEPEST))
    return flat if len(flat) <= _MOST_ARGUMENTS else dict(arguments)


def _leaves(value: Mapping[str, Any], prefix: str, deep: int) -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        part = json.dumps(name, ensure_ascii=False) if "." in name or '"' in name else name  # each path has one name
        if isinstance(inner, dict) and inner and deep:
            yield from _leaves(inner, f"{prefix}{part}.", deep - 1)
        else:
            yield f"{prefix}{part}", inner
