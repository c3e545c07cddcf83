"""The arguments of a call in a list of calls: each on one line, cut by itself.

A call of which anything is cut is not decided on in a list, because what is cut may be what matters.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from codemode.text.visible import visible_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.executions.types.records import PendingCall

#: Characters of one value, and of one name.
_VALUE, _NAME = 200, 80
#: Arguments of one call.
_MOST = 20


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
