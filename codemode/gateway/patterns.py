"""Patterns on values. A value certainly matches, or may match.

A service may decode, normalise or split a value. A rule that allows must match every reading of the value, a rule that
forbids any reading. To allow, `*` stands for a word and `**` for a line of text. To forbid, both stand for anything:

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

#: Longer texts never certainly match (a mail address has at most 254 characters, a URL a few thousand).
LONGEST_CERTAIN = 4_000

#: Longer texts, all of a value together, may always match. Reading them all would delay other callers.
LONGEST_LOOKED_AT = 100_000

#: Rounds of decoding. A text that was encoded more often never certainly matches.
_ROUNDS = 3

_STARS = re.compile(r"(\*\*?)")
#: One word: no separators, quotes, address characters, escapes or path segments.
_WORD = re.compile(r"[\w.+'-]*")
_LINE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*")
_BETWEEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f,;<>\"'()\[\]{}|&=:]+")
_COMMENT = re.compile(r"\([^()]*\)")
#: Longer than any label of a host name, and limited: decoding takes quadratic time.
_PUNYCODE = re.compile(r"xn--([a-z0-9-]{1,250})", re.IGNORECASE)
_DOTS = re.compile(r"(?:^|[/\\])\.{1,2}(?:[/\\]|$)")

#: Cyrillic and Greek letters that look like Latin ones (Unicode Technical Standard 39, the common part of its table).
_LOOK_ALIKES = str.maketrans("аеіјокрсухѕһԁԛԝвмнтαεικνορτυχɡǀ", "aeijokpcyxshdqwbmhtaeiknoptuxgl")


class ValuePattern:
    """One pattern of the policy."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = [part for part in _STARS.split(text) if part]
        self._folded = [part if part in ANYTHING else folded(part) for part in self._parts]

    def surely_fits(self, value: Any) -> bool:
        """Return whether every reading of a value matches, as a rule that allows requires."""
        if isinstance(value, (Mapping, list)) or value is None:
            return False
        if self.text in ANYTHING:
            return True
        if not isinstance(value, str):
            return shown(value) == self.text or self._covers(shown(value))
        readings = _readings(value) if len(value) <= LONGEST_CERTAIN else None
        return readings is not None and all(self._covers(reading) for reading in readings)

    def may_fit(self, value: Any) -> bool:
        """Return whether any reading of a value, or of a part of it, matches, as a rule that forbids requires."""
        if self.text in ANYTHING:
            return True
        left = LONGEST_LOOKED_AT
        for leaf in leaves(value):
            left -= len(leaf) if isinstance(leaf, str) else 0
            if left < 0 or leaf == REFERENCE_KEY:
                return True  # a value that is not read may be anything
            if any(_found_in(self._folded, part) for part in _parts_of(leaf)):
                return True
        return False

    def _covers(self, text: str) -> bool:
        """Return whether the pattern covers the text. All positions that it can reach are kept."""
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
    """Return a scalar as JSON text, and 1.0 as 1."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value)


def folded(text: str) -> str:
    """Return text without differences in case, accents, width, invisible characters and look-alike letters."""
    if text.isascii():
        return text.lower()
    decomposed = normalized("NFKD", text).casefold()
    kept = (c for c in normalized("NFKD", decomposed) if unicodedata.category(c) not in ("Mn", "Cf"))
    return "".join(kept).translate(_LOOK_ALIKES)


def leaves(value: Any) -> Iterator[Any]:
    """Yield every scalar in a JSON value, and the field names: some services take addresses there."""
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
    """Return the text of inline bytes (`{"$base64": …}`)."""
    written = part.get(INLINE_KEY)
    try:
        return [base64.b64decode(written).decode("utf-8", "replace")] if isinstance(written, str) else []
    except binascii.Error:
        return []


def _readings(text: str) -> set[str] | None:
    """Return all readings of a text, or None if decoding does not end."""
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
    """Yield all readings of a scalar, folded: whole, without comments and whitespace, and in parts."""
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
    """Yield the scalars of JSON in a text, also of JSON in those."""
    waiting = [text]
    while waiting:
        for leaf in leaves(parsed(waiting.pop())):
            yield shown(leaf)
            if isinstance(leaf, str):
                waiting.append(leaf)


def parsed(text: str) -> Any:
    """Return the value of JSON text other than a bare number or word, or None."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return None
    try:
        return json.loads(text, object_pairs_hook=_every_value)
    except (ValueError, RecursionError):
        return None


def _every_value(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Services take the first or the last value of a repeated name, so it holds all of them."""
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
    """Return whether the literal parts occur in order, the first and the last at the ends of the text."""
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
