"""Numbers in a model's answer: where they can come from, and which have no source.

A number has a source if the conversation contains it in any notation, rounded, in minor units or as a percentage, or if
it is a count of rows, a total of a column, or the sum or difference of two numbers of the conversation.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: A number as people and models write it: 60,924.17, 60 924.17, 60.924,17 or 3. Digits of a word are none.
_NUMBER = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:[,.'\u00a0\u202f ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?)(?!\d)")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ORDINAL = re.compile(r"^[^\S\n]*(?:[#*]+[^\S\n]*)?\d+[.)]\s", re.MULTILINE)

#: Minor units and percentages.
_SCALES = (1.0, 0.01, 100.0)

#: Whole numbers up to this one are taken for counts that the model made itself, once a call has succeeded.
_COUNTED_BY_HEAD = 10

#: Numbers of a conversation of which sums and differences are tried.
_MOST_ADDENDS = 100

_DECODER = json.JSONDecoder()


def without_source(answer: str, texts: Iterable[str], *, has_results: bool) -> tuple[str, ...]:
    """Return the numbers in an answer that have no source in the texts of the conversation, as they are written.

    `has_results` says whether a call has succeeded. Otherwise small numbers need a source too.
    """
    figures = [*dict.fromkeys(_NUMBER.findall(_ORDINAL.sub("\n", _FENCED.sub(" ", answer))))]
    if not figures:
        return ()
    sources = _Sources(texts)
    free = _COUNTED_BY_HEAD if has_results else 0
    return tuple(one for one in figures if not any(sources.explain(*reading, free) for reading in _readings(one)))


def _readings(figure: str) -> Iterator[tuple[float, int]]:
    """Yield the values that a figure can mean, each with its number of decimals."""
    for separator, point in ((",", "."), (".", ",")):
        plain = re.sub(rf"[{separator}'\s]", "", figure).replace(point, ".")
        if plain.count(".") <= 1:
            yield float(plain), len(plain.partition(".")[2])


class _Sources:
    """The numbers of a conversation."""

    def __init__(self, texts: Iterable[str]) -> None:
        found: set[float] = set()
        self._most_rows = 0
        for text in texts:
            found.update(map(float, _PLAIN.findall(text)))
            for figure in _NUMBER.findall(text):
                found.update(value for value, _ in _readings(figure))
            found.update(self._totals(_leading_json(text)))
        self._values = sorted(found)

    def explain(self, value: float, decimals: int, free: int) -> bool:
        """Whether a value with so many decimals has a source. Whole numbers up to `free` need none."""
        if decimals == 0 and value <= max(free, self._most_rows):
            return True
        tolerance = 0.5 * 10**-decimals + 1e-9
        return any(self._has(value / scale, tolerance / scale) for scale in _SCALES) or self._adds_up(value, tolerance)

    def _has(self, value: float, tolerance: float) -> bool:
        at = bisect_left(self._values, value - tolerance)
        return at < len(self._values) and self._values[at] <= value + tolerance

    def _adds_up(self, value: float, tolerance: float) -> bool:
        if len(self._values) > _MOST_ADDENDS:
            return False
        wanted = [value / scale for scale in _SCALES[:2]]
        exact = min(tolerance, 0.005)
        return any(
            self._has(abs(one - addend), exact) or self._has(one + addend, exact)
            for one in wanted
            for addend in self._values
        )

    def _totals(self, value: Any) -> Iterator[float]:
        """Yield the totals of all lists of numbers, and of the columns of all lists of objects."""
        if isinstance(value, dict):
            yield from chain.from_iterable(map(self._totals, value.values()))
        if not isinstance(value, list):
            return
        self._most_rows = max(self._most_rows, len(value))
        columns: dict[str, float] = {}
        for row in value:
            yield from self._totals(row)
            for name, cell in row.items() if isinstance(row, dict) else [("", row)]:
                if isinstance(cell, (int, float)) and not isinstance(cell, bool):
                    columns[name] = columns.get(name, 0.0) + cell
        yield from columns.values()


def _leading_json(text: str) -> Any:
    """Return the JSON value with which a result begins, or None."""
    try:
        return _DECODER.raw_decode(text.lstrip())[0]
    except (ValueError, RecursionError):
        return None
