"""Numbers in a model's answer: where they can come from, and which have no source.

A number has a source if the conversation contains it in any notation, rounded, in minor units or as a percentage, or if
it is a count of rows, a total or a mean of a column, the sum, difference, product or percentage of two numbers of the
conversation, or the sum of three. A sum of numbers that the answer itself lists has one too, a short sum or difference
of its amounts, such as two savings together, and the month of a date whose year and day have one.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from functools import partial
from itertools import combinations, pairwise, product
from operator import mul
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

#: A number as people and models write it: 60,924.17, 60 924.17, 60.924,17 or 3. Digits of a word are none.
_NUMBER = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:[,.'\u00a0\u202f ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?)(?!\d)")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ORDINAL = re.compile(r"^[^\S\n]*(?:[#*]+[^\S\n]*)?\d+[.)]\s", re.MULTILINE)

#: Minor units and percentages.
_SCALES = (1.0, 0.01, 100.0)

#: Year and day of a date (ISO 8601). Who writes it so makes no claim by the month's number.
_DATE = re.compile(r"\b(\d{4})-\d\d-(\d\d)\b")

#: Names of months, each of which is a source of its number.
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b",
    re.IGNORECASE,
)

#: Numbers of an answer that are added at most, and the difference of equal amounts.
_MOST_ADDED, _CENT = 50, 0.005

#: Decimals of amounts.
_OF_AMOUNTS = (1, 2)

#: Amounts of an answer of which a short sum or difference is looked for, and its terms.
_MOST_AMOUNTS, _MOST_TERMS = 10, 4

#: Whole numbers up to this one are taken for counts that the model made itself, once a call has succeeded.
_COUNTED_BY_HEAD = 10

#: Numbers of a conversation of which two are combined, and three.
_MOST_PAIRED, _MOST_OF_THREE = 1_000, 60

#: Numbers without a source, after which no more are looked for.
_ENOUGH = 20

#: Larger numbers of a result are added to nothing.
_LARGEST = 1e300

_DECODER = json.JSONDecoder()


def without_source(answer: str, texts: Iterable[str], *, has_results: bool) -> tuple[str, ...]:
    """Return the first numbers in an answer that have no source in the texts of the conversation, as they are written.

    There are 20 at most. `has_results` says whether a call has succeeded. Otherwise small numbers need a source too.
    """
    plain = _DATE.sub(r"\1 \2", _ORDINAL.sub("\n", _FENCED.sub(" ", answer)))
    figures = _NUMBER.findall(plain)
    if not figures:
        return ()
    sources = _Sources(texts)
    free = _COUNTED_BY_HEAD if has_results else 0
    known = {}
    unknown: list[str] = []
    for one in dict.fromkeys(figures):
        known[one] = _first(one, partial(sources.explain, free=free))
        unknown += [one] if known[one] is None else []
        if len(unknown) == _ENOUGH:
            break
    for one in unknown:
        known[one] = _first(one, partial(_follows, listed=[known.get(figure) for figure in figures]))
    return tuple(one for one in unknown if known[one] is None)


def _first(figure: str, accepts: Callable[[float, int], bool]) -> tuple[float, int] | None:
    """Return the first reading of a figure that a function accepts, amounts before whole numbers; None without one."""
    readings = sorted(_readings(figure), key=lambda reading: reading[1] not in _OF_AMOUNTS)
    return next((reading for reading in readings if accepts(*reading)), None)


def _follows(value: float, decimals: int, listed: Sequence[tuple[float, int] | None]) -> bool:
    """Return whether a value follows from the known numbers of an answer, each with its number of decimals.

    It is the sum of numbers that follow one another, the product of two such numbers, or a short sum or difference of
    amounts.
    """
    numbers = [one and one[0] for one in listed]
    amounts = [one[0] for one in listed if one is not None and one[1] == decimals in _OF_AMOUNTS]
    is_listed = _is_total(value, numbers) or _is_total(value, amounts) or _is_product(value, numbers)
    return is_listed or _adds_up(value, amounts)


def _is_product(value: float, listed: Sequence[float | None]) -> bool:
    """Return whether a value is the product of two known numbers that follow one another: 150 x 310.23."""
    pairs = ((one, other) for one, other in pairwise(listed) if one is not None and other is not None)
    return any(abs(one * other - value) < _CENT for one, other in pairs)


def _is_total(value: float, listed: Sequence[float | None]) -> bool:
    """Return whether a value is the sum of known numbers that follow one another."""
    for first, _ in enumerate(listed):
        total = 0.0
        for addend in listed[first : first + _MOST_ADDED]:
            if addend is None:
                break
            total += addend
            if abs(total - value) < _CENT:
                return True
    return False


def _adds_up(value: float, amounts: Sequence[float]) -> bool:
    """Return whether a value is the sum of up to four of a few amounts, of which some are taken off: (a-b)+(c-d)."""
    if len(amounts) > _MOST_AMOUNTS:
        return False
    return any(
        abs(sum(map(mul, signs, terms)) - value) < _CENT
        for number in range(2, _MOST_TERMS + 1)
        for terms in combinations(amounts, number)
        for signs in product((1, -1), repeat=number)
    )


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
            found.update(_MONTHS.index(name[:3].lower()) + 1.0 for name in _MONTH.findall(text))
            for figure in _NUMBER.findall(text):
                found.update(value for value, _ in _readings(figure))
            found.update(self._totals(_leading_json(text)))
        self._values = sorted(value for value in found if value < _LARGEST)

    def explain(self, value: float, decimals: int, free: int) -> bool:
        """Whether a value with so many decimals has a source. Whole numbers up to `free` need none."""
        if decimals == 0 and value <= max(free, self._most_rows):
            return True
        tolerance = 0.5 * 10**-decimals + 1e-9
        if any(self._has(value / scale, tolerance / scale) for scale in _SCALES):
            return True
        return len(self._values) <= _MOST_PAIRED and (
            self._adds_up(value, tolerance) or self._multiplies(value, tolerance) or self._is_share(value, tolerance)
        )

    def _has(self, value: float, tolerance: float) -> bool:
        at = bisect_left(self._values, value - tolerance)
        return at < len(self._values) and self._values[at] <= value + tolerance

    def _adds_up(self, value: float, tolerance: float) -> bool:
        wanted = [value / scale for scale in _SCALES[:2]]
        exact = min(tolerance, 0.005)
        few = self._values if len(self._values) <= _MOST_OF_THREE else []
        return any(
            self._has(abs(one - addend), exact)
            or self._has(one + addend, exact)
            or any(self._has(one - addend - other, exact) for other in few if other >= addend)
            for one in wanted
            for addend in self._values
        )

    def _multiplies(self, value: float, tolerance: float) -> bool:
        """Whether a value is the product of two numbers, such as a price times a quantity."""
        wanted = [value / scale for scale in _SCALES[:2]]
        exact = min(tolerance, 0.005)
        return any(self._has(one / factor, exact / factor) for one in wanted for factor in self._values if factor > 1)

    def _is_share(self, value: float, tolerance: float) -> bool:
        """Whether a value is a percentage of two numbers, or a number with a percentage added or taken off."""
        share, exact = value / 100, min(tolerance, 0.5) / 100
        return any(
            self._has(share * whole, exact * whole)
            or self._has((1 + share) * whole, exact * whole)
            or self._has((1 - share) * whole, exact * whole)
            or self._is_changed(value, whole, tolerance)
            for whole in self._values
            if whole > 0
        )

    def _is_changed(self, value: float, whole: float, tolerance: float) -> bool:
        percent, exact = abs(value / whole - 1) * 100, min(tolerance, 0.005) / whole * 100
        return 0 < percent < 100 and self._has(percent, max(exact, 1e-6))

    def _totals(self, value: Any) -> Iterator[float]:
        """Yield the totals of all lists of numbers, and of the columns of all lists of objects."""
        for rows in _lists(value):
            self._most_rows = max(self._most_rows, len(rows))
            columns: dict[str, float] = {}
            for row in rows:
                for name, cell in row.items() if isinstance(row, dict) else [("", row)]:
                    if _is_amount(cell):
                        columns[name] = columns.get(name, 0.0) + cell
            yield from columns.values()
            yield from (total / len(rows) for total in columns.values())


def _lists(value: Any) -> Iterator[list[Any]]:
    """Yield the lists of a JSON value, which may be deeper than calls can be nested."""
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, list):
            yield one
        if isinstance(one, (list, dict)):
            rest.extend(one.values() if isinstance(one, dict) else one)


def _is_amount(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool) and -_LARGEST < cell < _LARGEST


def _leading_json(text: str) -> Any:
    """Return the JSON value with which a result begins, or None."""
    try:
        return _DECODER.raw_decode(text.lstrip())[0]
    except (ValueError, RecursionError):
        return None
