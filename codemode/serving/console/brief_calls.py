"""The arguments of a call in a list of calls: each on one line, cut by itself.

A call of which anything is cut is not decided on in a list, because what is cut may be what matters.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.text.visible import visible_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.executions.types.card import ApprovalCard
    from codemode.executions.types.records import PendingCall

#: Characters of one value, and of one name.
_VALUE, _NAME = 200, 80
#: Arguments of one call.
_MOST = 20

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class BriefArgument(NamedTuple):
    """One argument as it is shown: without line breaks, marked, and cut."""

    name: str
    value: str


class BriefCall(NamedTuple):
    """The arguments of a call in the order of the signature. `more` is the number of those that are left out."""

    arguments: tuple[BriefArgument, ...]
    more: int
    is_whole: bool


def twins_among(calls: Iterable[tuple[str, PendingCall]]) -> frozenset[str]:
    """Return the ids of calls that wait twice: the same call of the same owner in two executions."""
    places: dict[tuple[str, str], dict[str, str]] = {}
    for owner, call in calls:
        places.setdefault((owner, call.digest), {})[call.id] = call.execution
    return frozenset(id_ for ids in places.values() if len(set(ids.values())) > 1 for id_ in ids)


def brief_call(call: PendingCall) -> BriefCall:
    """Return the arguments of a call for a list."""
    shown = [(name, value if isinstance(value, str) else _json(value)) for name, value in call.arguments.items()]
    arguments = (BriefArgument(visible_text(name, _NAME), visible_text(value, _VALUE)) for name, value in shown[:_MOST])
    is_cut = (
        call.omitted or len(shown) > _MOST or any(len(name) > _NAME or len(value) > _VALUE for name, value in shown)
    )
    return BriefCall(tuple(arguments), max(len(shown) - _MOST, 0), not is_cut)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def filled_operation(operation: str, arguments: Mapping[str, Any]) -> str:
    """Return an operation with the values of its path: `POST /salaries/7/pay` for `POST /salaries/{salaryId}/pay`."""

    def value(found: re.Match[str]) -> str:
        return visible_text(str(arguments[found[1]]), _VALUE) if found[1] in arguments else found[0]

    return _PLACEHOLDER.sub(value, operation)


class CallGroup(NamedTuple):
    """Calls of one tool by one caller. `differing` are the names of the arguments in which they differ."""

    cards: tuple[ApprovalCard, ...]
    differing: frozenset[str]


def call_groups(cards: Iterable[ApprovalCard]) -> list[CallGroup]:
    """Return calls in groups, in the order of their first calls."""
    groups: dict[tuple[str, ...], list[ApprovalCard]] = {}
    for card in cards:
        call = card.call
        kind = "damaged" if call.damage or call.omitted else call.kind
        groups.setdefault((kind, call.tool, call.host, card.requester.id), []).append(card)
    return [CallGroup(tuple(group), _differing(group)) for group in groups.values()]


def _differing(cards: list[ApprovalCard]) -> frozenset[str]:
    arguments = [card.call.arguments for card in cards]
    names = {name for one in arguments for name in one}
    return frozenset(name for name in names if len({_json(one.get(name, ...)) for one in arguments}) > 1)
