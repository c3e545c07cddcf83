"""Check a large result in steps of a few milliseconds. The result stays bytes; no value is made of it.

The steps check brackets, numbers and UTF-8. Then a parser in C that builds nothing checks the grammar at once: 16 MiB
in about 30 ms, whatever they hold.
"""

from __future__ import annotations

import re
from codecs import utf_8_decode
from typing import TYPE_CHECKING

from sandbox.protocol import strict_json
from sandbox.protocol.strict_json import LEAST_LIST, LEAST_OBJECT, RESULT_DIGITS, InvalidJson, SlowNumbers

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Results of at least this many bytes are checked in steps.
LARGE = 1 << 16
#: Bytes of a step; the worst take about 10 ms.
STEP_BYTES = 1 << 17

#: The search for unusual numbers begins this far before a step, since a step may begin inside a number.
_BEFORE = 256
_FLOAT = re.compile(rb"(?<![0-9])[0-9]++[.eE][0-9.eE+-]*+")
_OF_NUMBERS = b"0123456789.eE+-"
_LONGEST_NUMBER = RESULT_DIGITS + 100


class ResultCheck:
    """Check one JSON text from an untrusted side. `weight` is final once all steps are done.

    The text may be a part of a value; `numbers` counts in the whole value, and is checked by the caller.
    """

    def __init__(self, data: bytes, depth: int, numbers: SlowNumbers) -> None:
        self._data = data
        self._depth = depth
        self._level = 0
        self._is_in_string = False
        self._decoded = 0
        self._least_weight = 0
        self._numbers = numbers

    @property
    def weight(self) -> int:
        """What the text counts for, in bytes; see `strict_json.weight`."""
        return max(len(self._data), self._least_weight)

    def steps(self) -> Iterator[None]:
        """Check one step for each item that is taken. Raises InvalidJson."""
        start = 0
        while start < len(self._data):
            end = self._end(start)
            self._check(start, end)
            start = end
            yield
        if self._level or self._is_in_string:
            raise InvalidJson(f"nested more than {self._depth} deep" if self._level else "not JSON: a string is open")
        strict_json.check_grammar(self._data)

    def _end(self, start: int) -> int:
        """Return the end of a step, which never separates a backslash from what it escapes."""
        end = min(start + STEP_BYTES, len(self._data))
        chunk = self._data[start:end]
        is_cut = (len(chunk) - len(chunk.rstrip(b"\\"))) % 2
        return min(end + is_cut, len(self._data))

    def _check(self, start: int, end: int) -> None:
        try:
            _, count = utf_8_decode(self._data[self._decoded : end], "strict", end == len(self._data))
        except UnicodeDecodeError as error:
            message = f"not UTF-8: {error.reason} at byte {self._decoded + error.start}"
            raise InvalidJson(message) from None
        self._decoded += count
        self._numbers.add(self._data, start, end)
        plain = strict_json.without_escapes(self._data[start:end])
        begins_in_string = self._is_in_string
        if begins_in_string:
            plain = b'"' + plain
        if plain.count(b'"') % 2:
            self._is_in_string = True
            plain = plain[: plain.rindex(b'"')]
        else:
            self._is_in_string = False
        brackets = strict_json.outside_of_strings(plain)
        self._least_weight += brackets.count(b"[") * LEAST_LIST + brackets.count(b"{") * LEAST_OBJECT
        self._level = strict_json.level_after(brackets, self._level, self._depth)
        if strict_json.has_unusual_number(self._data[max(start - _BEFORE, 0) : end]):
            before = b"" if begins_in_string else self._data[max(start - _LONGEST_NUMBER, 0) : start]
            self._check_numbers(before, plain, is_last=end == len(self._data))

    def _check_numbers(self, before: bytes, plain: bytes, *, is_last: bool) -> None:
        begun = before[len(before.rstrip(_OF_NUMBERS)) :]
        text = begun + strict_json.STRING.sub(b'"', plain)
        if len(begun) == _LONGEST_NUMBER:
            raise strict_json.too_many_digits(RESULT_DIGITS)
        if not is_last and not self._is_in_string:
            text = text.rstrip(_OF_NUMBERS)
        self._numbers.add_long(text)
        strict_json.check_floats(_FLOAT.findall(text))
