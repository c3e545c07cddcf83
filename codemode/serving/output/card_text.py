"""An approval card as plain text, for terminals, chats and protocols that show text.

Every text of a service or a model is on one line and visible, so that none can imitate a line of the card.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codemode.text.counted import counted
from codemode.text.times import rfc3339
from codemode.text.visible import visible_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.executions.types.card import ApprovalCard, CallsMade, CardArgument, EarlierApproval

#: Characters of a value, and of a short fact.
_VALUE, _FACT = 500, 200
#: Characters of a value where the reader decides at once: at a terminal, or in a client's form.
WHOLE = 100_000
#: Tools listed in what the program has done.
_MOST_TOOLS = 20

_WAYS = {
    "approve": "to approve",
    "reject": "to reject",
    "approve_all": "to approve N",
    "decide": "to answer",
}


_TITLES = {"unknown": "What happened to", "login": "Log in for"}


def card_text(card: ApprovalCard, *, with_answers: bool = True, most: int = _VALUE) -> str:
    """Return a card as lines of plain text. Leave out the answers where the reader answers in another way.

    Each argument has at most `most` characters.
    """
    return "\n".join(_lines(card, with_answers=with_answers, most=most))


def _lines(card: ApprovalCard, *, with_answers: bool, most: int) -> Iterator[str]:
    call = card.call
    yield f"{_TITLES.get(call.kind, 'Approve')} {_fact(call.tool)}?  [{_fact(call.id)}]"
    if call.damage:
        yield f"  damaged in the journal: {_fact(call.damage)}"
    if call.summary:
        yield f"  {_text(call.summary)}"
    yield "  " + ", ".join(filter(None, (_where(card), _fact(call.effect), _fact(call.reason))))
    yield from _askers(card)
    if card.twins:
        yield f"  ! the same call also waits as {', '.join(card.twins)}: approving both makes it twice"
    yield from _arguments(card, most)
    if card.so_far:
        more = [f"and {counted(len(card.so_far) - _MOST_TOOLS, 'more tool')}"] if len(card.so_far) > _MOST_TOOLS else []
        made = [_made(one) for one in card.so_far[:_MOST_TOOLS]]
        yield f"  so far: {', '.join([*made, *more])}"
    if card.earlier is not None:
        yield from _earlier(card.earlier)
    if call.verdict is not None:
        yield f"  decided: {_decision(card)}"
    if with_answers:
        width = max((len(_WAYS.get(name, name)) for name in card.answers), default=0)
        yield from (f"  {_WAYS.get(name, name):<{width}}  {_text(way)}" for name, way in card.answers.items())


def _arguments(card: ApprovalCard, most: int) -> Iterator[str]:
    call = card.call
    if card.arguments or call.arguments:
        yield "  arguments:"
    for argument in card.arguments:
        yield from _argument(argument, most)
    if not card.arguments:
        yield from (f"    {_fact(name)} = {_value(value, most)}" for name, value in call.arguments.items())
    for name, value in (call.planned or {}).items():
        yield f"    ! the plan lists {_fact(name)} = {_value(value)}"


def _made(calls: CallsMade) -> str:
    times = f" ({calls.count} times)" if calls.count > 1 else ""
    return f"{_fact(calls.tool)} {_fact(calls.state)}{times}"


def _where(card: ApprovalCard) -> str:
    at = f"at {_fact(card.call.host)}" if card.call.host else ""
    whose = f"as {_fact(card.call.account)}" if card.call.account else ""
    return " ".join(filter(None, (_fact(card.call.operation), at, whose)))


def _askers(card: ApprovalCard) -> Iterator[str]:
    yield f"  asked by {_requester(card)}{_times(card)}"
    if card.call.within:
        yield f"  made by {_fact(card.call.within)}"


def _requester(card: ApprovalCard) -> str:
    who = card.requester
    named = f"{_fact(who.label)} ({_fact(who.id)})" if who.label else _fact(who.id)
    return f"{named}, role {_fact(who.role)}" if who.role else named


def _times(card: ApprovalCard) -> str:
    asked = f" at {rfc3339(card.call.asked_us)}" if card.call.asked_us else ""
    return asked + (f", expires {rfc3339(card.expires_us)}" if card.expires_us else "")


def _argument(argument: CardArgument, most: int) -> Iterator[str]:
    yield f"    {_fact(argument.name)} = {_value(argument.value, most)}"
    record = argument.record
    if record is not None:
        named = ", ".join(f"{_fact(name)} {_value(value)}" for name, value in record.fields.items())
        yield f"      is: {named or 'a record without a name'}"
        yield f"      read earlier in this execution by {_fact(record.tool)}, {rfc3339(record.read_us)}"
    if argument.contrast is not None:
        yield f"      ! it is {_value(argument.contrast)} in the record that was read"


def _earlier(earlier: EarlierApproval) -> Iterator[str]:
    yield f"  approved before: {_fact(earlier.id)} by {_fact(earlier.by)}, {rfc3339(earlier.decided_us)}"
    for change in earlier.changes:
        yield f"    {_fact(change.name)}: {_value(change.before)} then, {_value(change.now)} now"
    if not earlier.changes:
        yield "    with the same arguments"


def _decision(card: ApprovalCard) -> str:
    call = card.call
    via = f" ({_fact(call.via)})" if card.shows_via and call.via else ""
    under = f" under grant {_fact(call.grant)}" if call.grant else ""
    up_to = f", up to {call.up_to} calls of this tool" if call.up_to > 1 else ""
    note = f": {_text(call.note)}" if call.note else ""
    return f"{call.verdict}{under} by {_fact(call.by)}{via}, {rfc3339(call.decided_us)}{up_to}{note}"


def _value(value: Any, most: int = _VALUE) -> str:
    return visible_text(json.dumps(value, ensure_ascii=False, default=str), most)


def _text(text: str) -> str:
    return visible_text(text, _VALUE)


def _fact(text: str) -> str:
    return visible_text(text, _FACT)
