"""Strict JSON for both sides of the pipe: text from an untrusted side is checked before, while and after it is parsed.

Before parsing, on the bytes: nesting and the length of numbers. While parsing: UTF-8, NaN and Infinity, repeated keys.
After parsing, only if the bytes make it possible: floats that overflow to infinity, lone surrogates. The checks run in
C over the whole text and cost a few per cent of the parse. The grammar is that of RFC 8259.
"""

from __future__ import annotations

import gc
import json
import re
from array import array
from itertools import accumulate
from json import encoder as _json_encoder
from json import scanner as _json_scanner
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

JsonValue = Any
_Scan: TypeAlias = "Callable[[str, int], tuple[JsonValue, int]]"

#: Longest run of digits in a message. A 128-bit integer has 39; a float is written with at most 17.
MESSAGE_DIGITS = 100
#: Longest run of digits in a result: CPython's default limit for converting text to int.
RESULT_DIGITS = 4_300
#: Deepest nesting of a message that is not a result.
MESSAGE_DEPTH = 72

#: Converting 4,300 digits takes 0.2 ms, and 0.5 ms back to text. Digits of a result in numbers of at least
#: `_MANY_DIGITS` are counted in blocks; so many blocks take 20 ms.
_BLOCK_DIGITS, _MOST_BLOCKS = 100, 1_000

#: Least weight of a list and of an object, in bytes; see `weight`.
LEAST_LIST, LEAST_OBJECT = 8, 16
#: Most three-digit exponents in a large text that needs the standard library's parser; see `SlowNumbers`.
_MOST_EXPONENTS = 2_000
#: A text up to this length cannot hold a number that is too long.
_SHORT = 100
#: A number with fewer digits and a two-digit exponent is at most 1e299.
_MANY_DIGITS = 200
#: Texts of at least this many bytes are parsed by orjson, which takes a third of the standard library's time.
_LARGE = 1 << 16
#: Numbers that orjson reads inexactly: integers beyond 64 bits, and -0.
_EXACT_DIGITS = 19
_LONG_INTEGER = re.compile(rb"[0-9]{%d}" % _EXACT_DIGITS)
_MINUS_ZERO = re.compile(rb"-0(?![.0-9])")
_UNUSUAL = re.compile(rb"[0-9][eE]\+?[0-9]{3}|[0-9]{%d}" % _MANY_DIGITS)
_MAY_BE_UNREAL = re.compile(rb"[0-9][eE]\+?[0-9]{3}|\\u[dD]")
#: For texts without escaped quotes; with them, a search for the end of an open string would start at each quote.
STRING = re.compile(rb'"[^"]*+"')
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
#: Change of the nesting level at each byte.
_STEPS = bytes(1 if code == ord("[") else 255 if code == ord("]") else 0 for code in range(256))
#: Innermost levels that are removed one by one; for ordinary data this is faster than counting.
_PASSES = 5
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
#: Digits and the plus of an exponent become 0, both letters of an exponent e, everything else a space.
_NUMBER_SHAPES = bytes(
    ord("0") if chr(code) in "0123456789+" else ord("e") if chr(code) in "eE" else 32 for code in range(256)
)


class InvalidJson(ValueError):
    """The text is not strict JSON within its limits; the message names the first violation."""


def loads(data: bytes, *, depth: int = MESSAGE_DEPTH, digits: int = MESSAGE_DIGITS) -> JsonValue:
    """Parse a message. Raises InvalidJson.

    Repeated keys are rejected in texts below 64 KiB; in larger ones the last key wins.
    """
    return _parse(data, _SCAN_MESSAGE, depth, digits)


def loads_result(data: bytes, *, depth: int) -> JsonValue:
    """Parse a result. Of repeated keys the last wins, as in most JSON readers. Raises InvalidJson."""
    return _parse(data, _SCAN_RESULT, depth, RESULT_DIGITS)


def _parse(data: bytes, scan: _Scan, depth: int, digits: int) -> JsonValue:
    may_be_unreal = check_shape(data, depth=depth, digits=digits)  # before a parser recurses as deep as the text does
    if len(data) >= _LARGE:
        numbers = SlowNumbers()
        numbers.add(data, 0, len(data))
        numbers.check()
        if not numbers.need_exact_parser:
            return _parse_fast(data)
    return _parse_exactly(data, scan, may_be_unreal=may_be_unreal)


def loads_checked(data: bytes) -> JsonValue:
    """Parse a large result that `ResultCheck` and `SlowNumbers` have accepted."""
    if _needs_exact_parser(data, data.translate(_NUMBER_SHAPES)):
        return _parse_exactly(data, _SCAN_RESULT, may_be_unreal=False)
    return _parse_fast(data)


def _needs_exact_parser(data: bytes, shapes: bytes) -> bool:
    """Return whether orjson would read a number inexactly. Finding bytes first is ten times as fast as the patterns."""
    has_long = b"0" * _EXACT_DIGITS in shapes and _LONG_INTEGER.search(data) is not None
    return has_long or (b"-0" in data and _MINUS_ZERO.search(data) is not None)


def _parse_fast(data: bytes) -> JsonValue:
    """Parse with orjson, which rejects overflowing numbers and lone surrogates itself, and no number takes it long."""
    from orjson import loads as parse  # noqa: PLC0415 - small texts need not load it

    collects = gc.isenabled()
    gc.disable()  # parsed values hold no cycles, and looking for cycles takes as long as parsing
    try:
        return parse(data)
    except ValueError as error:
        message = f"not JSON: {error}"
        raise InvalidJson(message) from None
    finally:
        if collects:
            gc.enable()


def _parse_exactly(data: bytes, scan: _Scan, *, may_be_unreal: bool) -> JsonValue:
    """Parse with the scanner of the standard library."""
    try:
        text = str(data, "utf-8")
        value, end = scan(text, 0)
    except StopIteration:
        raise InvalidJson("not JSON") from None
    except UnicodeDecodeError as error:
        message = f"not UTF-8: {error.reason} at byte {error.start}"
        raise InvalidJson(message) from None
    except (ValueError, RecursionError) as error:
        message = f"not JSON: {error}"
        raise InvalidJson(message) from None
    if end != len(text):
        raise InvalidJson("not JSON: there is more text after the value")
    if may_be_unreal:
        encode(value)  # rejects infinite numbers and lone surrogates
    return value


class SlowNumbers:
    """Find the numbers that would make a large text slow to parse, however many pieces it comes in.

    orjson reads -0 and integers of 19 digits inexactly, so that their text needs the standard library's parser. That
    parser takes 13 µs for a number with a three-digit exponent. A text with the former may hold few of the latter.
    """

    def __init__(self) -> None:
        self.need_exact_parser = False
        self._exponents = 0
        self._blocks = 0

    def add(self, data: bytes, start: int, end: int) -> None:
        """Count in `data[start:end]`, and in the number that crosses `start`."""
        shapes = data[start:end].translate(_NUMBER_SHAPES)
        self._exponents += shapes.count(b"e000") + shapes.count(b"e 000")
        if not self.need_exact_parser:
            window = data[max(start - _EXACT_DIGITS, 0) : end]
            self.need_exact_parser = _needs_exact_parser(window, window.translate(_NUMBER_SHAPES))

    def add_long(self, text: bytes) -> None:
        """Count the digits of long numbers in a text without strings. Raises InvalidJson for one that is too long."""
        shapes = text.translate(_NUMBER_SHAPES)
        if b"0" * (RESULT_DIGITS + 1) in shapes:
            raise too_many_digits(RESULT_DIGITS)
        self._blocks += shapes.count(b"0" * _BLOCK_DIGITS)

    def check(self) -> None:
        """Raise InvalidJson if the text would be slow to parse."""
        if self._blocks > _MOST_BLOCKS:
            message = f"more than {_BLOCK_DIGITS * _MOST_BLOCKS:,} digits in long numbers: return text, str(number)"
            raise InvalidJson(message)
        if self.need_exact_parser and self._exponents > _MOST_EXPONENTS:
            message = f"-0 or an integer of 19 digits, beside over {_MOST_EXPONENTS} numbers with three-digit exponents"
            raise InvalidJson(message)


def check_floats(numbers: Sequence[bytes]) -> None:
    """Reject numbers that overflow a float, or are none. Raises InvalidJson.

    The standard library takes 13 µs for some of them.
    """
    from orjson import loads as parse  # noqa: PLC0415 - small results need not load it

    try:
        parse(b"[" + b",".join(numbers) + b"]")
    except ValueError as error:
        is_infinite = "infinity" in str(error)
        raise InvalidJson("a number too large for a float" if is_infinite else "not JSON: a malformed number") from None


def too_many_digits(digits: int) -> InvalidJson:
    """Return the error for a number with more digits than these."""
    return InvalidJson(f"a number of more than {digits} digits")


def check_grammar(data: bytes) -> None:
    """Reject text that is not JSON, in C and without making a value.

    Nesting, numbers and UTF-8 must have been checked before. Raises InvalidJson.
    """
    from msgspec import Raw  # noqa: PLC0415 - small results need not load it
    from msgspec.json import Decoder  # noqa: PLC0415

    try:
        Decoder(Raw).decode(data)
    except (ValueError, RecursionError) as error:
        message = f"not JSON: {error}"
        raise InvalidJson(message) from None


def encode(value: JsonValue, *, held: bool = False) -> bytes:
    """Encode compactly, without checking limits. Raises InvalidJson, or TypeError for other types.

    `held` keeps a reference to each container while it is encoded. CPython (up to 3.13) only borrows them, and the
    `items` method of a dict subclass may release them.
    """
    encoder = _make_encoder({}) if held and type(value) not in _SCALARS else _ENCODE
    try:
        return "".join(encoder(value, 0)).encode()
    except UnicodeEncodeError as error:
        message = f"text holds half of a surrogate pair ({error.object[error.start]!a}), which JSON cannot carry"
        raise InvalidJson(message) from None
    except RecursionError:
        message = "the value is nested too deeply, or holds itself"
        raise InvalidJson(message) from None
    except ValueError as error:  # NaN, infinity, or an integer too long to convert
        raise InvalidJson(str(error)) from None


def has_unusual_number(data: bytes) -> bool:
    """Return whether a number may be too large for a float, or too long."""
    shapes = data.translate(_NUMBER_SHAPES)
    if b"0e000" not in shapes and b"0" * _MANY_DIGITS not in shapes:
        return False  # ten times as fast as the pattern, which large results would wait for
    return _UNUSUAL.search(data) is not None


def check_shape(data: bytes, *, depth: int, digits: int) -> bool:
    """Reject nesting that is too deep and numbers that are too long, without parsing. Raises InvalidJson.

    Returns whether the parsed value must be walked, because a number may overflow or a string hold a lone surrogate.
    """
    check_depth(data, depth)
    if len(data) <= _SHORT and digits >= _SHORT:
        return _MAY_BE_UNREAL.search(data) is not None
    shapes = data.translate(_NUMBER_SHAPES)
    _check_digits(data, shapes, digits)
    if b"0" * _MANY_DIGITS in shapes or (b"e000" in shapes and _MAY_BE_UNREAL.search(data) is not None):
        return True  # a number may be too large for a float
    return b"\\" in data and (b"\\ud" in data or b"\\uD" in data)


def _check_digits(data: bytes, shapes: bytes, digits: int) -> None:
    run = b"0" * (digits + 1)
    if run in shapes and run in STRING.sub(b"", without_escapes(data)).translate(_NUMBER_SHAPES):
        raise too_many_digits(digits)


def weight(data: bytes, brackets: bytes | None = None) -> int:
    """Return what a text counts for against a budget, in bytes.

    This is its length, or 8 for each list and 16 for each object in it if that is more: containers take ten times the
    memory of text, so that 16 MB of `{"":0},…` would become 500 MB. Most objects have a longer text, so ordinary data
    weighs its length. `brackets` are those of the text, if the caller has them; other characters may be among them.
    """
    if _least_weight(data if brackets is None else brackets) <= len(data):
        return len(data)  # even if all brackets are outside of strings
    return max(len(data), _least_weight(brackets_of(data)))


def _least_weight(brackets: bytes) -> int:
    return brackets.count(b"[") * LEAST_LIST + brackets.count(b"{") * LEAST_OBJECT


def check_depth(data: bytes, depth: int) -> None:
    """Reject a text with more than `depth` brackets if it is nested deeper or not closed. Raises InvalidJson."""
    if data.count(b"[") + data.count(b"{") <= depth:
        return
    brackets = brackets_of(data)
    if level_after(brackets, 0, depth) or b'"' in brackets:
        raise _nested_too_deeply(depth)


def brackets_of(data: bytes) -> bytes:
    """Return the brackets outside of strings, and the quote of a string that is not closed."""
    return outside_of_strings(without_escapes(data))


def outside_of_strings(plain: bytes) -> bytes:
    """Return `brackets_of` a text without escapes.

    If all quotes are adjacent in pairs once everything else is removed, no bracket is in a string. Most texts are so.
    """
    found = plain.translate(None, _NOT_STRUCTURE)
    brackets = found.translate(None, b'"')
    if found.count(b'""') * 2 == len(found) - len(brackets):
        return brackets
    return STRING.sub(b"", found.replace(b'""', b""))


def level_after(brackets: bytes, level: int, depth: int) -> int:
    """Return the nesting level after these brackets. Raises InvalidJson beyond `depth` and below zero."""
    brackets = brackets.translate(_ONE_KIND)
    rest, passes = brackets, 0
    while rest and passes < min(depth - level, _PASSES):
        rest, passes = rest.replace(b"[]", b""), passes + 1
    if not rest:
        return level
    levels = array("i", accumulate(memoryview(brackets.translate(_STEPS)).cast("b"), initial=level))
    if max(levels) > depth or min(levels) < 0:
        raise _nested_too_deeply(depth)
    return levels[-1]


def _nested_too_deeply(depth: int) -> InvalidJson:
    return InvalidJson(f"nested more than {depth} deep")


def without_escapes(data: bytes) -> bytes:
    """Remove escaped backslashes, then escaped quotes, which hide the end of a string."""
    return data.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in data else data


def _reject_constant(name: str) -> NoReturn:
    message = f"{name} is not a JSON number"
    raise ValueError(message)


def _reject_repeated_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        message = "an object with the same key twice"
        raise ValueError(message)
    return members


def _reject_type(value: object) -> NoReturn:
    message = f"{type(value).__name__} is not JSON data"
    raise TypeError(message)


# The scanner itself accepts no white space around the value.
_make_scanner: Any = _json_scanner.make_scanner
_SCAN_MESSAGE = _make_scanner(
    json.JSONDecoder(parse_constant=_reject_constant, object_pairs_hook=_reject_repeated_keys)
)
_SCAN_RESULT = _make_scanner(json.JSONDecoder(parse_constant=_reject_constant))


def _make_encoder(held: dict[int, Any] | None = None) -> Any:
    """Build the encoder in C, without the options around it that `json.dumps` builds for each call."""
    make: Any = _json_encoder.c_make_encoder  # type: ignore[attr-defined]
    return make(held, _reject_type, _json_encoder.encode_basestring, None, ":", ",", False, False, False)


_ENCODE = _make_encoder()
#: Types whose values are no containers.
_SCALARS = frozenset({str, int, float, bool, type(None)})
