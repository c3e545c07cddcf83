"""Patterns on values, each with two questions: does a value surely fit, and may it fit?

A value is read by others: decoded, normalised, split at commas. What allows must hold for every reading of a value,
what forbids for any. `*` stands for a word in the first case and for anything in the second; `**` for a line of text:

    *@own.org     ann@own.org                  not "evil@x.org, ann@own.org", not "evil@x.org%00ann@own.org"
    reports/**    reports/2026/may.pdf         not "reports/../secrets"
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any
from urllib.parse import unquote

from codemode.catalog.content import INLINE_KEY, REFERENCE_KEY
from codemode.text.normal_form import normalized
from codemode.text.prose import unescape

ANYTHING = ("*", "**")

#: Longer texts never surely fit (an address has at most 254 characters, an address of a page at most a few thousand).
LONGEST_CERTAIN = 4_000

#: Texts that are longer, all of a value together, may always fit: to look at all readings would hold up everybody else.
LONGEST_LOOKED_AT = 100_000

#: Rounds of decoding: what was encoded more often than this is no accident, and does not surely fit.
_ROUNDS = 3

_STARS = re.compile(r"(\*\*?)")
#: What may stand in one word: nothing that separates, quotes, addresses, escapes or walks up.
_WORD = re.compile(r"[\w.+'-]*")
_LINE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*")
_BETWEEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f,;<>\"'()\[\]{}|&=:]+")
_COMMENT = re.compile(r"\([^()]*\)")
#: Longer than a label of a name can be, and short: it is decoded in time that grows with the square of the length.
_PUNYCODE = re.compile(r"xn--([a-z0-9-]{1,250})", re.IGNORECASE)
_DOTS = re.compile(r"(?:^|[/\\])\.{1,2}(?:[/\\]|$)")

#: Cyrillic and Greek letters that look like Latin ones (Unicode Technical Standard 39, the common part of its table).
_LOOK_ALIKES = str.maketrans("аеіјокрсухѕһԁԛԝвмнтαεικνορτυχɡǀ", "aeijokpcyxshdqwbmhtaeiknoptuxgl")


class ValuePattern:
    """One pattern, as the operator wrote it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = [part for part in _STARS.split(text) if part]
        self._folded = [part if part in ANYTHING else folded(part) for part in self._parts]

    def surely_fits(self, value: Any) -> bool:
        """Whether every reading of a value fits: what an allowance asks for."""
        if isinstance(value, (Mapping, list)) or value is None:
            return False
        if self.text in ANYTHING:
            return True
        if not isinstance(value, str):
            return shown(value) == self.text or self._covers(shown(value))
        readings = _readings(value) if len(value) <= LONGEST_CERTAIN else None
        return readings is not None and all(self._covers(reading) for reading in readings)

    def may_fit(self, value: Any) -> bool:
        """Whether any reading of a value, or of a part of it, fits: what a prohibition asks for."""
        if self.text in ANYTHING:
            return True
        left = LONGEST_LOOKED_AT
        for leaf in leaves(value):
            left -= len(leaf) if isinstance(leaf, str) else 0
            if left < 0 or leaf == REFERENCE_KEY:
                return True  # what cannot be looked at may be anything
            if any(_found_in(self._folded, part) for part in _parts_of(leaf)):
                return True
        return False

    def _covers(self, text: str) -> bool:
        """Follow the pattern through the text, keeping all the places where it can stand."""
        if len(text) > LONGEST_CERTAIN or (_DOTS.search(text) and not _DOTS.search(self.text)):
            return False
        places = {0}
        for part in self._parts:
            if part in ANYTHING:
                places = _stretched(places, text, _WORD if part == "*" else _LINE)
            else:
                places = {place + len(part) for place in places if text.startswith(part, place)}
        return len(text) in places


def shown(value: Any) -> str:
    """A scalar as text, as JSON writes it; 1.0 as 1."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value)


def folded(text: str) -> str:
    """Text without what only looks different: case, accents, width, invisible characters, look-alike letters."""
    if text.isascii():
        return text.lower()
    decomposed = normalized("NFKD", text).casefold()
    kept = (c for c in normalized("NFKD", decomposed) if unicodedata.category(c) not in ("Mn", "Cf"))
    return "".join(kept).translate(_LOOK_ALIKES)


def leaves(value: Any) -> Iterator[Any]:
    """Every scalar in a JSON value, names of fields included: some services take addresses there."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            waiting += [*part.values(), *part, *_inline(part)]
        elif isinstance(part, list):
            waiting += part
        elif part is not None:
            yield part


def _inline(part: Mapping[Any, Any]) -> list[str]:
    """The text that is sent for bytes written out (`{"$base64": …}`)."""
    written = part.get(INLINE_KEY)
    try:
        return [base64.b64decode(written).decode("utf-8", "replace")] if isinstance(written, str) else []
    except binascii.Error:
        return []


def _readings(text: str) -> set[str] | None:
    """What a text may be read as; None where decoding it does not come to an end."""
    found = {text}
    latest = found
    for _ in range(_ROUNDS):
        latest = {way(each) for each in latest for way in _DECODINGS} - found
        if not latest:
            return found
        found = found | latest
    return None


_DECODINGS = (unquote, unescape, lambda text: normalized("NFKC", text))


def _parts_of(value: Any) -> Iterator[str]:
    """All readings of a scalar, folded: whole, without comments and blanks, and each part between separators."""
    readings = {shown(value)}
    for _ in range(_ROUNDS):
        readings |= {way(each) for each in readings for way in (*_DECODINGS, _unescaped, _internationalised)}
    inner = [leaf for each in readings for leaf in _json_leaves(each)]
    for reading in {folded(each) for each in chain(readings, inner)}:
        for text in {reading, "".join(_COMMENT.sub("", reading).split())}:
            yield text
            for part in _BETWEEN.split(text):
                yield part
                yield part.rstrip(".")


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False)) if "\\" in text else text
    except ValueError:
        return text


def _internationalised(text: str) -> str:
    def decoded(match: re.Match[str]) -> str:
        try:
            return match[1].encode().decode("punycode")
        except UnicodeError:
            return match[0]

    return _PUNYCODE.sub(decoded, text)


def _json_leaves(text: str) -> Iterator[str]:
    """The scalars of JSON in a text, of JSON in them too."""
    waiting = [text]
    while waiting:
        for leaf in leaves(parsed(waiting.pop())):
            yield shown(leaf)
            if isinstance(leaf, str):
                waiting.append(leaf)


def parsed(text: str) -> Any:
    """The value of a text that is JSON, other than a bare number or word; None for any other text."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return None
    try:
        return json.loads(text, object_pairs_hook=_every_value)
    except (ValueError, RecursionError):
        return None


def _every_value(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; where a name stands twice in it readers take the first or the last, so it has a list of both."""
    found: dict[str, list[Any]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def _stretched(places: set[int], text: str, allowed: re.Pattern[str]) -> set[int]:
    reached: set[int] = set()
    for place in sorted(places):
        if place not in reached:
            match = allowed.match(text, place)
            reached.update(range(place, match.end() + 1 if match else place + 1))
    return reached


def _found_in(parts: list[str], text: str) -> bool:
    """Whether the literal parts stand in the text in their order, the first and the last of them at its ends."""
    if not any(part in ANYTHING for part in parts):
        return "".join(parts) == text
    place = 0
    for number, part in enumerate(parts):
        if part in ANYTHING:
            continue
        found = text.find(part, place)
        if found < 0 or (number == 0 and found):
            return False
        place = found + len(part)
    return parts[-1] in ANYTHING or text.endswith(parts[-1])
