"""The remembered decisions of a project, in a value that its servers share."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from codemode.errors import ApprovalRefused
from codemode.executions.types.remembered import Remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.shared.values import ValueStore

#: Decisions in force of one caller, and of all. Whoever needs more needs a rule.
MOST_OF_OWNER, MOST = 50, 1000


class Memory:
    """Remembers decisions until they end. A `clock` returns seconds since 1970.

    All methods wait for the store, and raise what `SharedValue` raises, and ValueError for a damaged value.
    """

    def __init__(self, store: ValueStore, clock: Callable[[], float] = time.time) -> None:
        self._value = store.value("decisions")
        self.clock = clock

    def all(self) -> tuple[Remembered, ...]:
        """Return those that have not ended by themselves, oldest first. Revoked ones are listed until then."""
        now = self.clock()
        return tuple(one for one in _loaded(self._value.read()) if now < one.expires)

    def add(self, new: Sequence[Remembered]) -> None:
        """Remember decisions, all or none. Raises ApprovalRefused if there are too many."""

        def changed(data: bytes | None) -> bytes:
            present = [one for one in _loaded(data) if self.clock() < one.expires]
            for one in new:
                require_room(present, one.owner)
                present.append(one)
            return _stored(present)

        self._value.change(changed)

    def revoke(self, id_: str, by: str) -> Remembered | None:
        """End a decision, and return it. None if there is none that is in force."""
        ended: list[Remembered] = []

        def changed(data: bytes | None) -> bytes:
            present = [one for one in _loaded(data) if self.clock() < one.expires]
            ended[:] = [replace(one, revoked_by=by) for one in present if one.id == id_ and not one.revoked_by]
            return _stored([*(one for one in present if one.id not in {each.id for each in ended}), *ended])

        self._value.change(changed)
        return ended[0] if ended else None


def require_room(present: Sequence[Remembered], owner: str) -> None:
    """Raise ApprovalRefused if no further decision can be remembered for an owner."""
    own = sum(one.owner == owner and not one.revoked_by for one in present)
    if own >= MOST_OF_OWNER or len(present) >= MOST:
        message = (
            f"{own} decisions are remembered for {owner} already: revoke some, or write a rule of the policy that "
            "allows these calls"
        )
        raise ApprovalRefused(message)


def _stored(remembered: Sequence[Remembered]) -> bytes:
    return json.dumps([asdict(one) for one in remembered]).encode()


def _loaded(data: bytes | None) -> list[Remembered]:
    stored: Any = json.loads(data) if data is not None else []
    try:
        return [Remembered(**one) for one in stored]
    except TypeError:
        raise ValueError("the record of decisions is damaged") from None
