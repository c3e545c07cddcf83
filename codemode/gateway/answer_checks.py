"""Compare answers with their declared or learned schemas, and count the answers that differ."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from codemode.catalog.content import is_content
from codemode.catalog.expectation import Expectation, declared, learned
from codemode.catalog.schema import Schema
from codemode.shared.values import UNAVAILABLE

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.shared.values import SharedValue

_FORMAT = 1

#: The most learned schemas whose expectation is kept. They are made again after that.
_MOST_LEARNED = 2_000


class Differences(NamedTuple):
    """How many answers of a tool differed from their schema, and how the last of them did."""

    number: int
    last: str


class AnswerChecks:
    """Checks answers and counts the differences by tool id, without values. Stored in `value` if it is given."""

    def __init__(self, value: SharedValue | None = None) -> None:
        self._value = value
        self._declared: WeakKeyDictionary[Tool, Expectation] = WeakKeyDictionary()
        self._learned: dict[int, tuple[dict[str, Any], Expectation]] = {}
        self.differences: dict[str, Differences] = {}
        self._stored: dict[str, Differences] = {}
        self.is_unsaved = False

    def load(self) -> None:
        """Add the stored differences. Read errors are ignored. May wait for a database."""
        if self._value is not None:
            with suppress(*UNAVAILABLE):
                self._add(self._value.read())

    def check(self, tool: Tool, answer: Any, shape: dict[str, Any] | None) -> str:
        """Return how an answer differs, "" if it does not. An answer without content does not differ.

        `shape` is the schema learned from earlier answers. It counts if the document declares none.
        """
        if answer is None or is_content(answer):
            return ""
        if tool.returns is not None:
            expected = self._declared.get(tool)
            if expected is None:
                expected = self._declared[tool] = declared(tool.returns)
            found = expected.difference(answer, "the document says")
        elif shape is not None:
            found = self._of_learned(shape).difference(answer, "earlier answers had")
        else:
            return ""
        if found:
            self._count(tool.id, found)
        return f"{tool.id} {found}" if found else ""

    def save(self) -> None:
        """Store the differences, together with those that other servers have counted. Write errors are ignored."""
        if self._value is None or not self.differences:
            return
        self.is_unsaved = False
        with suppress(*UNAVAILABLE):
            self._value.change(self._merged)

    def _merged(self, data: bytes | None) -> bytes:
        self._add(data)
        return json.dumps({"format": _FORMAT, "differences": self.differences}).encode()

    def _add(self, data: bytes | None) -> None:
        stored = _parsed(data)
        self.differences = self._with_others(stored)
        self._stored = dict(self.differences)

    def _with_others(self, stored: dict[str, Differences]) -> dict[str, Differences]:
        """Return the stored counts with what was counted here since the last time."""
        counted = dict(stored)
        for tool, (number, last) in self.differences.items():
            new = number - (self._stored[tool].number if tool in self._stored else 0)
            if new:
                counted[tool] = Differences(new + (stored[tool].number if tool in stored else 0), last)
        return counted

    def _of_learned(self, shape: dict[str, Any]) -> Expectation:
        known = self._learned.get(id(shape))
        if known is None:
            if len(self._learned) >= _MOST_LEARNED:
                self._learned.clear()
            known = self._learned[id(shape)] = (shape, learned(Schema.of(shape)))
        return known[1]

    def _count(self, tool: str, found: str) -> None:
        count = self.differences[tool].number + 1 if tool in self.differences else 1
        self.differences[tool] = Differences(count, found)
        if count & (count - 1) == 0:  # a power of two: a tool that always differs is not written with each call
            self.is_unsaved = True


def _parsed(stored: bytes | None) -> dict[str, Differences]:
    try:
        data = json.loads(stored or b"{}")
        if data["format"] != _FORMAT:
            return {}
        return {str(tool): Differences(int(count), str(last)) for tool, (count, last) in data["differences"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
