"""JSON from a side that nobody trusts, and for it: what is checked before, while and after it is parsed.

Before parsing, on the bytes: UTF-8, nesting, length of numbers. While parsing: NaN and Infinity, keys that come
twice. After parsing, and only where the bytes make it possible: numbers that overflow to infinity, lone surrogates.
All checks run in C over the whole text and cost a few per cent of the parse.
"""

from __future__ import annotations

import gc
import json
import re
import sys
from array import array
from functools import cache
from itertools import accumulate
from json import encoder as _json_encoder
from json import scanner as _json_scanner
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

JsonValue = Any
_Scan: TypeAlias = "Callable[[str, int], tuple[JsonValue, int]]"

#: Longest run of digits in a message: a 128-bit integer has 39, and a float is written with 17 at most.
MESSAGE_DIGITS = 100
#: Longest run of digits in a result: the length up to which CPython converts text to int in reasonable time.
RESULT_DIGITS = 4_300
#: Nesting of a message that is not a result.
MESSAGE_DEPTH = 72

#: What a list and an object count for at least, in bytes: see `Structure`.
LEAST_LIST, LEAST_OBJECT = 8, 16
#: Exponents of three digits in a large text that the standard library's parser has to read.
_MOST_EXPONENTS = 2_000
#: Text that is shorter cannot hold too long a number: one search for the rest.
_SHORT = 100
#: With an exponent of two digits a number with fewer digits than this is no larger than 1e299.
_MANY_DIGITS = 200
#: From this many bytes on a result goes through the faster parser.
_LARGE = 1 << 16
#: Numbers that orjson does not read as they are written: whole ones beyond 64 bits, and -0.
_EXACT = re.compile(rb"[0-9]{19}|-0(?![.0-9])")
_MAY_BE_UNREAL = re.compile(rb"[0-9][eE]\+?[0-9]{3}|\\u[dD]")
#: Of a text without escaped quotes: with them a string that does not end would be looked for from each of them.
STRING = re.compile(rb'"[^"]*+"')
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
#: One level up, one down, or none.
_STEPS = bytes(1 if code == ord("[") else 255 if code == ord("]") else 0 for code in range(256))
#: Levels that are taken away from brackets one by one, which is faster than to count for ordinary data.
_PASSES = 5
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
#: Digits and the plus of an exponent become 0, both letters of an exponent e, everything else a space.
_NUMBER_SHAPES = bytes(
    ord("0") if chr(code) in "0123456789+" else ord("e") if chr(code) in "eE" else 32 for code in range(256)
)


class InvalidJson(ValueError):
    """The text is not JSON within the budgets; the message says what is wrong with it."""


def loads(data: bytes, *, depth: int = MESSAGE_DEPTH, digits: int = MESSAGE_DIGITS) -> JsonValue:
    """Parse a message. Keys that come twice are refused, but in a large one the last wins. Raises InvalidJson."""
    return _parsed(data, _SCAN_MESSAGE, depth, digits, None)


def loads_result(data: bytes, *, depth: int, structure: Structure | None = None) -> JsonValue:
    """Parse a result, which may be large: as in any JSON reader the last of equal keys wins. Raises InvalidJson.

    `structure` is that of the text, for whom it is known.
    """
    return _parsed(data, _SCAN_RESULT, depth, RESULT_DIGITS, structure)


def _parsed(data: bytes, scan: _Scan, depth: int, digits: int, structure: Structure | None) -> JsonValue:
    """Parse by orjson what is large, unless it holds numbers that orjson does not read as they are written."""
    if len(data) < _LARGE or (parse := _fast_parser()) is None:
        return _loads(data, scan, depth, digits)
    structure = structure or Structure(data)
    structure.check_depth(depth)  # first: how deep a parser goes before it gives up is the application's setting
    shapes = data.translate(_NUMBER_SHAPES)
    if digits < RESULT_DIGITS or _reads_any_number():
        _check_digits(data, shapes, digits)
    collects = gc.isenabled()
    gc.disable()  # what a parser makes holds no cycle: to look for one takes as long as to parse
    try:
        if _EXACT.search(data):
            _check_exponents(shapes)
            return _loads(data, scan, depth, digits)
        return parse(data)
    except ValueError as error:
        message = f"not JSON: {error}"  # the other parser may say it better, and would hold the host for as long again
        raise InvalidJson(message) from None
    finally:
        if collects:
            gc.enable()


def _check_exponents(shapes: bytes) -> None:
    """Refuse many numbers near the ends of a float's range, each of which takes the slow parser 13 microseconds."""
    if shapes.count(b"e000") + shapes.count(b"e 000") > _MOST_EXPONENTS:
        message = (
            f"more than {_MOST_EXPONENTS} numbers with exponents of three digits, beside whole numbers of more than 18"
        )
        raise InvalidJson(message)


@cache
def _fast_parser() -> Callable[[bytes], JsonValue] | None:
    """Return orjson's parser, loaded for the first large text: a third of the standard library's time.

    It refuses by itself what the standard library's has to be asked for: numbers that overflow, lone surrogates. And
    no number takes it long, as 1e308 does others: what it does not read exactly is looked for before (`_EXACT`).
    """
    try:
        from orjson import loads as parse  # noqa: PLC0415  # small results need not wait for it
    except ImportError:
        return None
    return parse


def check_grammar(data: bytes, depth: int) -> None:
    """Refuse what is no JSON, in C and without making a value; nesting, numbers and UTF-8 have been looked at."""
    check = _grammar()
    if check is None:
        _loads(data, _SCAN_RESULT, depth, RESULT_DIGITS)
        return
    try:
        check(data)
    except (ValueError, RecursionError) as error:
        message = f"not JSON: {error}"
        raise InvalidJson(message) from None


@cache
def _grammar() -> Callable[[bytes], object] | None:
    """Return msgspec's reader of texts that it does not look into, loaded for the first large text."""
    try:
        from msgspec import Raw  # noqa: PLC0415  # small results need not wait for it
        from msgspec.json import Decoder  # noqa: PLC0415
    except ImportError:
        return None
    return Decoder(Raw).decode


def dumps(value: JsonValue, *, depth: int = MESSAGE_DEPTH, digits: int = MESSAGE_DIGITS) -> bytes:
    """Encode, within the same budgets that the other side checks. Raises InvalidJson, TypeError for other types."""
    data = encode(value)
    check_shape(data, depth=depth, digits=digits)
    return data


def encode(value: JsonValue, *, held: bool = False) -> bytes:
    """Encode compactly, without looking at budgets. Raises InvalidJson, TypeError for other types.

    `held` keeps each container while it is encoded. The interpreter only borrows them (seen up to 3.13), and `items` of
    a class below dict is code that may let go of them.
    """
    encoder = _make_encoder({}) if held and type(value) not in _WHOLE else _ENCODE
    try:
        return "".join(encoder(value, 0)).encode()
    except UnicodeEncodeError as error:
        message = f"text holds half of a surrogate pair ({error.object[error.start]!a}), which JSON cannot carry"
        raise InvalidJson(message) from None
    except RecursionError:
        message = "the value is nested too deeply, or holds itself"
        raise InvalidJson(message) from None
    except ValueError as error:  # NaN and Infinity
        raise InvalidJson(str(error)) from None


def check_shape(data: bytes, *, depth: int, digits: int) -> bool:
    """Refuse what is nested too deeply or holds too long a number, without parsing it.

    Returns whether the parsed value has to be walked: a number may overflow, or a string hold a lone surrogate.
    """
    check_depth(data, depth)
    if len(data) <= _SHORT and digits >= _SHORT:
        return _MAY_BE_UNREAL.search(data) is not None
    shapes = data.translate(_NUMBER_SHAPES)
    if digits < RESULT_DIGITS or _reads_any_number():
        _check_digits(data, shapes, digits)
    return _may_overflow(data, shapes) or (b"\\" in data and (b"\\ud" in data or b"\\uD" in data))


def _check_digits(data: bytes, shapes: bytes, digits: int) -> None:
    run = b"0" * (digits + 1)
    if run in shapes and run in STRING.sub(b"", without_escapes(data)).translate(_NUMBER_SHAPES):
        message = f"a number of more than {digits} digits"
        raise InvalidJson(message)


def _reads_any_number() -> bool:
    """Tell whether the application lets `int` read more digits, in time that grows with the square of how many."""
    return not 0 < sys.get_int_max_str_digits() <= RESULT_DIGITS


def _may_overflow(data: bytes, shapes: bytes) -> bool:
    """Tell whether a number may be too large for a float; one search over the shapes where there is no exponent."""
    return b"0" * _MANY_DIGITS in shapes or (b"e000" in shapes and _MAY_BE_UNREAL.search(data) is not None)


class Structure:
    """The lists and objects of a text, told from its bytes alone: what they weigh, and how deep they are nested.

    `weight` is what the text counts for against a budget: its bytes, or 8 for each list and 16 for each object in it if
    that is more. Those take ten times as much memory as text does: 16 MB of `{"":0},…` would become 500. Most objects
    have a longer text, so that ordinary data weigh what they are long.
    """

    __slots__ = ("_data", "_found")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._found: bytes | None = None

    @property
    def weight(self) -> int:
        """What the text counts for, in bytes."""
        size = len(self._data)
        if size < _LARGE and _least_weight(self._data) <= size:
            return size  # whatever of it stands in strings
        return max(size, _least_weight(self._brackets))

    def check_depth(self, depth: int) -> None:
        """Refuse what is nested too deeply, or not closed. Raises InvalidJson."""
        if _is_deeper(self._brackets, depth):
            message = f"nested more than {depth} deep"
            raise InvalidJson(message)

    @property
    def _brackets(self) -> bytes:
        if self._found is None:
            self._found = _brackets(self._data)
        return self._found


def weight(data: bytes, brackets: bytes | None = None) -> int:
    """Return the weight of a text; see `Structure`, which is not made for most texts.

    `brackets` are those of the text, with other characters or without, for whom they have been picked out of it.
    """
    if _least_weight(data if brackets is None else brackets) <= len(data):
        return len(data)
    return Structure(data).weight


def _least_weight(brackets: bytes) -> int:
    return brackets.count(b"[") * LEAST_LIST + brackets.count(b"{") * LEAST_OBJECT


def check_depth(data: bytes, depth: int) -> None:
    """Refuse what is nested too deeply, without parsing it. Raises InvalidJson."""
    if data.count(b"[") + data.count(b"{") > depth:
        Structure(data).check_depth(depth)


def _loads(data: bytes, scan: _Scan, depth: int, digits: int) -> JsonValue:
    must_walk = check_shape(data, depth=depth, digits=digits)
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
    if must_walk:
        _refuse_unreal_values(value)
    return value


def _is_deeper(brackets: bytes, depth: int) -> bool:
    """Tell whether brackets nest deeper than `depth`, or do not match."""
    brackets = brackets.translate(_ONE_KIND)
    if brackets.count(b"[") * 2 != len(brackets):
        return True
    passes = min(depth, _PASSES)
    for _ in range(passes):  # each pass takes away the innermost level, and no more
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    if not brackets:
        return False
    depths = array("i", accumulate(memoryview(brackets.translate(_STEPS)).cast("b")))
    return max(depths) > depth - passes or min(depths) < 0 or depths[-1] != 0


def _brackets(data: bytes) -> bytes:
    return outside_of_strings(without_escapes(data))


def outside_of_strings(plain: bytes) -> bytes:
    """Return the brackets outside of strings, and a quote that has no other, of a text without escapes.

    Where quotes stand side by side in even numbers only, each bracket between them is outside: in most texts.
    """
    found = plain.translate(None, _NOT_STRUCTURE)
    brackets = found.translate(None, b'"')
    if found.count(b'""') * 2 == len(found) - len(brackets):
        return brackets
    return STRING.sub(b"", found.replace(b'""', b""))


def level_after(brackets: bytes, level: int, depth: int) -> int:
    """Return how deep the text is nested after these brackets. Raises InvalidJson beyond `depth`, and below zero."""
    brackets = brackets.translate(_ONE_KIND)
    rest, passes = brackets, 0
    while rest and passes < min(depth - level, _PASSES):
        rest, passes = rest.replace(b"[]", b""), passes + 1
    if not rest:
        return level  # nothing was nested deeper than there were passes
    levels = array("i", accumulate(memoryview(brackets.translate(_STEPS)).cast("b"), initial=level))
    if max(levels) > depth or min(levels) < 0:
        message = f"nested more than {depth} deep"
        raise InvalidJson(message)
    return levels[-1]


def without_escapes(data: bytes) -> bytes:
    """Take out what may hide the end of a string; in this order: an escaped backslash may stand before it."""
    return data.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in data else data


def _refuse_unreal_values(value: JsonValue) -> None:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if not _is_encodable(item):
                message = "text holds half of a surrogate pair"
                raise InvalidJson(message)
        elif isinstance(item, float):
            if not isfinite(item):
                message = "a number too large for a float"
                raise InvalidJson(message)
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, dict):
            pending.extend(item)
            pending.extend(item.values())


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not a JSON number"
    raise ValueError(message)


def _refuse_repeated_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        message = "an object with the same key twice"
        raise ValueError(message)
    return members


def _refuse_type(value: object) -> NoReturn:
    message = f"{type(value).__name__} is not JSON data"
    raise TypeError(message)


# The scanner itself, without the search for white space around the value: what comes here has none.
_make_scanner: Any = _json_scanner.make_scanner
_SCAN_MESSAGE = _make_scanner(
    json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeated_keys)
)
_SCAN_RESULT = _make_scanner(json.JSONDecoder(parse_constant=_refuse_constant))


def _make_encoder(held: dict[int, Any] | None = None) -> Any:
    """Build the C encoder without the options around it, which `json.dumps` builds for each call."""
    make = getattr(_json_encoder, "c_make_encoder", None)
    if make is None:  # an interpreter without the C accelerator
        options = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"))
        return options.iterencode
    return make(held, _refuse_type, _json_encoder.encode_basestring, None, ":", ",", False, False, False)


_ENCODE = _make_encoder()
#: Types of values that hold no others.
_WHOLE = frozenset({str, int, float, bool, type(None)})
