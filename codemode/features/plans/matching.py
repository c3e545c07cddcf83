"""Compare the calls of a real run with the calls that its plan lists.

The list is a multiset: each listed call covers one real call, in any order, because concurrent calls may arrive in
another order. Among equal calls, the one at the same position in the program is preferred.

A placeholder in a listed argument, such as `<id of gym.clients.create_client #1>`, stands for that field of the answer
that the listed call received in the real run. Before this answer is known, the placeholder equals nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.catalog.value_count import holds_too_many
from codemode.executions.run.forms import seen_of
from codemode.executions.run.placeholders import PLACEHOLDER, field_of, labels_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from re import Match

    from codemode.executions.types.planned import PlannedCall

#: Differing arguments that a message names.
_NAMED = 3

_ABSENT = object()


class MadeCall(NamedTuple):
    """A call of the real run. `arguments` are without secrets; see `PlannedCall` for the digests."""

    path: str
    tool: str
    arguments: Mapping[str, Any]
    digest: str
    definition: str


class Difference(NamedTuple):
    """How a call differs from the plan.

    `reason` is a sentence of ours, with names of arguments and no value: the program writes the values. `planned` are
    the values that the plan lists, of the arguments that differ; None if no listed call is like it.
    """

    reason: str
    planned: Mapping[str, Any] | None = None


class PlanMatching:
    """The calls of a plan that were not made yet, and the answers to those that were."""

    def __init__(self, calls: Iterable[PlannedCall], reads: Iterable[PlannedCall]) -> None:
        self._calls = {call.label: call for call in calls}
        self._reads = {call.label: call for call in reads}
        self._listed = {*self._calls, *self._reads}
        self._tools = {call.tool for call in self._calls.values()}
        self._labels: dict[str, str] = {}
        self._answers: dict[str, Any] = {}

    def take(self, made: MadeCall) -> PlannedCall | None:
        """Return the listed call that covers a real one, and remove it from the list. None if no call does."""
        call = self._fitting(self._calls, made)
        if call is not None:
            self.restore(made.path, call.label)
        return call

    def take_read(self, made: MadeCall) -> None:
        """Find a read in the list, so that placeholders of its answer can be compared."""
        call = self._fitting(self._reads, made)
        if call is not None:
            self.restore(made.path, call.label)

    def restore(self, path: str, label: str) -> None:
        """Record that the call at `path` is the listed call `label`."""
        self._calls.pop(label, None)
        self._reads.pop(label, None)
        self._labels[path] = label

    def answered(self, path: str, answer: Any) -> None:
        """Record the real answer of a call, for the placeholders that name it."""
        if path in self._labels:
            self._answers[self._labels[path]] = seen_of(answer)

    def difference(self, made: MadeCall) -> Difference:
        """Return how a call that the list does not cover differs from the nearest listed call."""
        if made.tool not in self._tools:
            return Difference(f"not in the plan: it lists no call of {made.tool}")
        left = [call for call in self._calls.values() if call.tool == made.tool]
        if not left:
            return Difference(f"not in the plan: all of its calls of {made.tool} were made already")
        nearest = min(left, key=lambda call: len(self._differing(call, made)))
        names = self._differing(nearest, made)
        if not names:
            return Difference(f"not in the plan: {made.tool} has changed since, or goes to another place")
        more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
        planned = {name: nearest.arguments[name] for name in names if name in nearest.arguments}
        return Difference(f"not in the plan: it differs in {', '.join([*names[:_NAMED], *more])}", planned)

    def _fitting(self, listed: Mapping[str, PlannedCall], made: MadeCall) -> PlannedCall | None:
        same_tool = (call for call in listed.values() if call.tool == made.tool)
        in_order = sorted(same_tool, key=lambda call: call.path != made.path)
        return next((call for call in in_order if self._fits(call, made)), None)

    def _fits(self, call: PlannedCall, made: MadeCall) -> bool:
        if call.definition != made.definition:
            return False
        if self._listed.isdisjoint(labels_in(call.arguments)):
            return call.digest == made.digest  # also covers secrets, which the arguments lack
        return not holds_too_many(made.arguments) and not self._differing(call, made)

    def _differing(self, call: PlannedCall, made: MadeCall) -> list[str]:
        return [
            name
            for name in dict.fromkeys((*made.arguments, *call.arguments))
            if not self._equal(call.arguments.get(name, _ABSENT), made.arguments.get(name, _ABSENT))
        ]

    def _equal(self, listed: Any, real: Any) -> bool:
        if listed is _ABSENT or real is _ABSENT:
            return listed is real
        match listed:
            case str():
                return self._is_text(listed, real)
            case dict():
                filled = {self._filled(str(name)): value for name, value in listed.items()}
                is_same = isinstance(real, dict) and filled.keys() == real.keys()
                return is_same and all(self._equal(value, real[name]) for name, value in filled.items())
            case list():
                is_same = isinstance(real, list) and len(listed) == len(real)
                return is_same and all(map(self._equal, listed, real))
            case _:
                return _same(listed, real)

    def _is_text(self, listed: str, real: Any) -> bool:
        whole = PLACEHOLDER.fullmatch(listed)
        if whole is None or whole[2] not in self._listed:
            return isinstance(real, str) and self._filled(listed) == real
        try:
            answer = self._answer(whole)
        except LookupError:
            return False
        is_text = isinstance(real, str) and not isinstance(answer, (dict, list)) and real == str(answer)
        return is_text or _same(answer, real)

    def _filled(self, text: str) -> str | None:
        """Return a text with real values in the place of its placeholders, None if one is not known."""
        try:
            return PLACEHOLDER.sub(lambda one: str(self._answer(one)) if one[2] in self._listed else one[0], text)
        except LookupError:
            return None

    def _answer(self, placeholder: Match[str]) -> Any:
        """Return the real value of a placeholder. Raises LookupError."""
        return field_of(self._answers[placeholder[2]], placeholder[1])


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON. In Python, `True == 1`."""
    return json.dumps(one, sort_keys=True, default=str) == json.dumps(other, sort_keys=True, default=str)
