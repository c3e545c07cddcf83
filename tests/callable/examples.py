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
_DEEPEST = 8


def example(schema: Schema, random: Random, *, everything: bool | None = None) -> Any:
    """A value of the schema: the first of some attempts that fits, else the last.

    Its objects have all fields (`everything`), those that are required, or (None) some of them.
    """
    value: Any = None
    for attempt in range(_ATTEMPTS):
        share = {True: 1.0, False: 0.0, None: 0.6}[everything if attempt < _ATTEMPTS // 2 else None]
        value = _Maker(random, share).made(schema, 0)
        if fits(schema, value):
            return value
    documented = schema.first("example")
    return documented if documented is not None and fits(schema, documented) else value


class _Maker:
    """Makes values; `share` is how many of the optional fields an object has."""

    def __init__(self, random: Random, share: float) -> None:
        self._random = random
        self._share = share

    def made(self, schema: Schema, depth: int) -> Any:
        """A value that fits as far as can be told from one look."""
        resolved = schema.resolved()
        constant = resolved.first("const")
        if constant is not None:
            return constant
        values = resolved.first("enum")
        plain = [value for value in values if value is not None] if isinstance(values, list) else []
        if plain:
            return self._random.choice(plain)
        if depth < _DEEPEST:
            for part in resolved.conjuncts():
                variants = [variant for variant in part.variants() if variant.get("type") != "null"]
                if variants:
                    return self._of_union(resolved, self._random.choice(variants), depth)
        kinds = resolved.types()
        return self._of_kind(self._random.choice(kinds) if kinds else "string", resolved, depth)

    def _of_union(self, schema: Schema, variant: Schema, depth: int) -> Any:
        """A member of a union; where it only adds demands (`required`), the object around it that meets them."""
        if not schema.properties():
            return self.made(variant, depth + 1)
        whole = self._object(schema, depth)
        for name in variant.resolved().required():
            if name not in whole and name in schema.properties():
                whole[name] = self.made(schema.properties()[name], depth + 1)
        if variant.resolved().properties():
            inner = self.made(variant, depth + 1)
            whole |= inner if isinstance(inner, dict) else {}
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
                return _text(schema)

    def _array(self, schema: Schema, depth: int) -> list[Any]:
        lowest = schema.first("minItems")
        count = max(lowest if isinstance(lowest, int) else 0, 1 if depth < 4 else 0)
        items = schema.first("items")
        if schema.first("maxItems") == 0:
            return []
        if not isinstance(items, Mapping):
            return ["x"] * count
        found: list[Any] = []
        for index in range(min(count, 50)):
            value = self.made(schema.at(items), depth + 1)
            if schema.first("uniqueItems") is True and value in found:
                value = (
                    value + index
                    if isinstance(value, int)
                    else f"{index}{value}"
                    if isinstance(value, str)
                    else value
                )
            found.append(value)
        return found

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        required = schema.required()
        properties = schema.properties()
        found = {}
        for name, value in properties.items():
            is_chosen = depth < 2 and self._random.random() < self._share
            if value.first("readOnly") is not True and (name in required or is_chosen):
                found[name] = self.made(value, depth + 1)
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


def _text(schema: Schema) -> str:
    lowest, highest = schema.first("minLength"), schema.first("maxLength")
    low = lowest if isinstance(lowest, int) else 0
    pattern = schema.first("pattern")
    text = FORMATS.get(str(schema.first("format")), "value")
    if isinstance(pattern, str):
        text = _matching(pattern, low, text)
    elif len(text) < low:
        text += "x" * (low - len(text))
    return text[:highest] if isinstance(highest, int) else text


def _matching(pattern: str, low: int, usual: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if re.search(pattern, usual) and len(usual) >= low:
                return usual
            text = "".join(_pieces(pattern_parser.parse(pattern)))
            longer = text + text[-1:] * (low - len(text))
            return longer if re.search(pattern, longer) else text
    except (re.error, OverflowError):
        return usual


def _pieces(parsed: Any) -> list[str]:
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
                found.append(next((text for text in ("".join(_pieces(branch)) for branch in value[1]) if text), ""))
            case "SUBPATTERN":
                found.append("".join(_pieces(value[3])))
            case "MAX_REPEAT" | "MIN_REPEAT":
                fewest, most, inner = value
                found.append("".join(_pieces(inner)) * (max(fewest, 1) if most else 0))
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
