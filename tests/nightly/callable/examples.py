"""Values that fit a schema, made from the schema alone."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from re import _parser as pattern_parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

from codemode.catalog.validation import fits

if TYPE_CHECKING:
    from random import Random

    from codemode.catalog.schema import Schema

FORMATS = {
    "date": "2024-01-31",
    "date-time": "2024-01-31T10:00:00Z",
    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "email": "a@example.com",
    "uri": "https://example.com/a",
    "url": "https://example.com/a",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "byte": "aGVsbG8=",
    "hostname": "example.com",
}

_ATTEMPTS = 8
_DEEPEST = 10

#: Values made for one example before only what must be there is made.
_MOST_STEPS = 4_000


def example(schema: Schema, random: Random, *, everything: bool | None = None) -> Any:
    """A value of the schema: the first of some attempts that fits, else the last.

    Its objects have all fields (`everything`), those that are required, or (None) some of them.
    """
    documented = schema.first("example")
    if documented is not None and not everything and fits(schema, documented):
        return documented
    value: Any = None
    for attempt in range(_ATTEMPTS):
        share = {True: 1.0, False: 0.0, None: 0.6}[everything if attempt < _ATTEMPTS // 2 else None]
        try:
            value = _Maker(random, share).made(schema, 0)
        except _TooDeepError:
            continue
        if fits(schema, value):
            return value
    return documented if documented is not None and fits(schema, documented) else value


class _TooDeepError(Exception):
    """What must be there goes deeper than anybody would write; another member of a union may not."""


class _Maker:
    """Makes values; `share` is how many of the optional fields an object has."""

    def __init__(self, random: Random, share: float) -> None:
        self._random = random
        self._share = share
        self._steps = 0

    def made(self, schema: Schema, depth: int) -> Any:
        """A value that fits as far as can be told from one look."""
        self._steps += 1
        if depth > _DEEPEST or self._steps > 2 * _MOST_STEPS:
            raise _TooDeepError
        resolved = schema.resolved()
        constant = resolved.first("const")
        if constant is not None:
            return constant
        plain = [value for value in resolved.listed() if value is not None]
        if plain:
            return self._random.choice(plain)
        for part in resolved.conjuncts():
            variants = [variant for variant in part.variants() if variant.get("type") != "null"]
            if variants:
                return self._of_union(resolved, variants, depth)
        kinds = resolved.types()
        return self._of_kind(self._random.choice(kinds) if kinds else "string", resolved, depth)

    def _of_union(self, schema: Schema, variants: list[Schema], depth: int) -> Any:
        """A member of a union that fits; where members only add demands, the object around that meets them."""
        value: Any = None
        made = False
        for variant in self._random.sample(variants, len(variants)):
            try:
                value = self._of_member(schema, variant, depth)
            except _TooDeepError:
                continue
            made = True
            if fits(schema, value):
                return value
        if not made:
            raise _TooDeepError
        return value

    def _of_member(self, schema: Schema, variant: Schema, depth: int) -> Any:
        own, others = schema.properties(), variant.resolved().properties()
        inner = self.made(variant, depth + 1) if others or not own else {}
        if not isinstance(inner, dict) or not (own or schema.required()):
            return inner
        whole = {**self._object(schema, depth), **inner} if own else inner
        for name in schema.required() | variant.resolved().required():
            declared = own.get(name) or others.get(name)
            if name not in whole and declared is not None and declared.first("readOnly") is not True:
                whole[name] = self.made(declared, depth + 1)
        return whole

    def _of_kind(self, kind: str, schema: Schema, depth: int) -> Any:
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "integer":
                return _integer(schema)
            case "number":
                return _number(schema)
            case "boolean":
                return self._random.random() < 0.5
            case _:
                return _text(schema, self._random)

    def _array(self, schema: Schema, depth: int) -> list[Any]:
        lowest = schema.first("minItems")
        fewest = lowest if isinstance(lowest, int) else 0
        items = schema.items() or schema.at({"type": "string"})
        if schema.first("maxItems") == 0:
            return []
        found: list[Any] = []
        for index in range(min(max(fewest, 1 if depth < 4 else 0), 50)):
            try:
                value = self.made(items, depth + 1)
            except _TooDeepError:
                if fewest:
                    raise
                break
            if schema.first("uniqueItems") is True and value in found:
                value = _other(value, index)
            found.append(value)
        return found

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        required = schema.required()
        properties = schema.properties()
        most = schema.first("maxProperties")
        room = (most if isinstance(most, int) else len(properties)) - len(required)
        found: dict[str, Any] = {}
        for name, value in self._random.sample(list(properties.items()), len(properties)):
            is_chosen = (
                len(found.keys() - required) < room
                and depth < 2
                and self._random.random() < self._share
                and self._steps < _MOST_STEPS
            )
            if value.first("readOnly") is True or not (name in required or is_chosen):
                continue
            try:
                found[name] = self.made(properties[name], depth + 1)
            except _TooDeepError:
                if name in required:
                    raise
        found |= dict.fromkeys(required - found.keys() - properties.keys(), "x")
        fewest = schema.first("minProperties")
        extra = schema.first("additionalProperties")
        others = [name for name in properties if name not in found and properties[name].first("readOnly") is not True]
        for number in range((fewest if isinstance(fewest, int) else 0) - len(found)):
            if others:
                name = others.pop(0)
                found[name] = self.made(properties[name], depth + 1)
            else:
                found[f"key{number}"] = self.made(schema.at(extra), depth + 1) if isinstance(extra, Mapping) else "x"
        return found


def _other(value: Any, index: int) -> Any:
    if isinstance(value, str):
        return f"{index}{value}"
    return value + index if isinstance(value, int) else value


def _integer(schema: Schema) -> int:
    lowest, highest, step = schema.first("minimum"), schema.first("maximum"), schema.first("multipleOf")
    over = schema.first("exclusiveMinimum")
    if lowest is None and isinstance(over, (int, float)) and not isinstance(over, bool):
        lowest = over
    low = int(lowest) if isinstance(lowest, (int, float)) else 1
    if isinstance(highest, (int, float)) and highest < low:
        return int(highest)
    value = low + 1 if not isinstance(highest, (int, float)) or highest > low else low
    return int(-(-value // step) * step) if isinstance(step, int) and step > 0 else value


def _number(schema: Schema) -> float:
    lowest, highest, step = schema.first("minimum"), schema.first("maximum"), schema.first("multipleOf")
    low = float(lowest) if isinstance(lowest, (int, float)) else 1.0
    if isinstance(step, (int, float)) and step > 0:
        return float(step * max(1, -(-low // step)))
    if isinstance(highest, (int, float)):
        return (low + highest) / 2 if highest >= low else float(highest)
    return low + 0.5


def _text(schema: Schema, random: Random) -> str:
    lowest, highest = schema.first("minLength"), schema.first("maxLength")
    low = lowest if isinstance(lowest, int) else 0
    high = highest if isinstance(highest, int) else max(low, 10_000)
    pattern = schema.first("pattern")
    usual = FORMATS.get(str(schema.first("format")), "value")
    usual = (usual + "x" * (low - len(usual)))[:high]
    return _matching(pattern, low, high, usual, random) if isinstance(pattern, str) else usual


def _matching(pattern: str, low: int, high: int, usual: str, random: Random) -> str:
    """A text that a pattern finds, of a length; the shortest that is made first, then longer ones."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = re.compile(pattern)
            if compiled.search(usual):
                return usual
            parsed = pattern_parser.parse(pattern)
            found = usual
            for more in (0, 0, 0, 1, 1, 2, 4, 8, 12, 16, 24, 32, 64, 128, 1, 2, 4, 8, 16):
                text = "".join(_pieces(parsed, more, random))
                if compiled.search(text) and low <= len(text) <= high:
                    return text
                found = text if compiled.search(text) else found
            return found
    except (re.error, OverflowError):
        return usual


def _pieces(parsed: Any, more: int, random: Random) -> list[str]:
    found = []
    for operation, value in parsed:
        match str(operation):
            case "LITERAL":
                found.append(chr(value))
            case "NOT_LITERAL":
                found.append("b" if value == ord("a") else "a")
            case "ANY":
                found.append("a")
            case "IN":
                found.append(_one_of(value))
            case "BRANCH":
                found.extend(_pieces(random.choice(value[1]), more, random))
            case "SUBPATTERN":
                found.extend(_pieces(value[3], more, random))
            case "MAX_REPEAT" | "MIN_REPEAT":
                fewest, most, inner = value
                times = min(fewest + random.randint(0, more) if more else max(fewest, 1), int(most))
                for _ in range(times):
                    found.extend(_pieces(inner, more, random))
    return found


def _one_of(members: Any) -> str:
    ranges = []
    for operation, value in members:
        match str(operation):
            case "LITERAL":
                ranges.append((value, value))
            case "RANGE":
                ranges.append(value)
            case "CATEGORY":
                ranges.append((48, 57) if str(value).endswith("_DIGIT") and "NOT" not in str(value) else (97, 122))
    is_negated = any(str(operation) == "NEGATE" for operation, _ in members)
    wanted = [c for c in "a1A-_. ~" if any(low <= ord(c) <= high for low, high in ranges) != is_negated]
    return wanted[0] if wanted else chr(ranges[0][0])
