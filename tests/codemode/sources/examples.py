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


def example(schema: Schema, random: Random) -> Any:
    """A value of the schema: the first of some attempts that fits, else the last."""
    value: Any = None
    for _ in range(_ATTEMPTS):
        value = _made(schema, random, 0)
        if fits(schema, value):
            return value
    documented = schema.first("example")
    return documented if documented is not None and fits(schema, documented) else value


def _made(schema: Schema, random: Random, depth: int) -> Any:
    resolved = schema.resolved()
    constant = resolved.first("const")
    if constant is not None:
        return constant
    values = resolved.first("enum")
    plain = [value for value in values if value is not None] if isinstance(values, list) else []
    if plain:
        return random.choice(plain)
    if depth < _DEEPEST:
        for part in resolved.conjuncts():
            variants = [variant for variant in part.variants() if variant.get("type") != "null"]
            if variants:
                return _of_union(resolved, random.choice(variants), random, depth)
    kinds = resolved.types()
    return _of_kind(random.choice(kinds) if kinds else "string", resolved, random, depth)


def _of_union(schema: Schema, variant: Schema, random: Random, depth: int) -> Any:
    """A member of a union; where it only adds demands (`required`), the object around it that meets them."""
    if not schema.properties():
        return _made(variant, random, depth + 1)
    whole = _object(schema, random, depth)
    for name in variant.resolved().required():
        if name not in whole and name in schema.properties():
            whole[name] = _made(schema.properties()[name], random, depth + 1)
    if variant.resolved().properties():
        inner = _made(variant, random, depth + 1)
        whole |= inner if isinstance(inner, dict) else {}
    return whole


def _of_kind(kind: str, schema: Schema, random: Random, depth: int) -> Any:
    match kind:
        case "object":
            return _object(schema, random, depth)
        case "array":
            return _array(schema, random, depth)
        case "integer":
            return _integer(schema)
        case "number":
            lowest = schema.first("minimum")
            return (float(lowest) if isinstance(lowest, (int, float)) else 1.0) + 0.5
        case "boolean":
            return random.random() < 0.5
        case _:
            return _text(schema)


def _array(schema: Schema, random: Random, depth: int) -> list[Any]:
    lowest = schema.first("minItems")
    count = max(lowest if isinstance(lowest, int) else 0, 1 if depth < 4 else 0)
    items = schema.first("items")
    if schema.first("maxItems") == 0:
        return []
    if not isinstance(items, Mapping):
        return ["x"] * count
    found: list[Any] = []
    for index in range(min(count, 50)):
        value = _made(schema.at(items), random, depth + 1)
        if schema.first("uniqueItems") is True and value in found:
            value = value + index if isinstance(value, int) else f"{index}{value}" if isinstance(value, str) else value
        found.append(value)
    return found


def _integer(schema: Schema) -> int:
    lowest, highest, step = schema.first("minimum"), schema.first("maximum"), schema.first("multipleOf")
    low = int(lowest) if isinstance(lowest, (int, float)) else 1
    if isinstance(highest, (int, float)) and highest < low:
        return int(highest)
    value = low + 1 if not isinstance(highest, (int, float)) or highest > low else low
    return int(-(-value // step) * step) if isinstance(step, int) and step > 0 else value


def _object(schema: Schema, random: Random, depth: int) -> dict[str, Any]:
    required = schema.required()
    properties = schema.properties()
    found = {}
    for name, value in properties.items():
        if value.first("readOnly") is not True and (name in required or (depth < 2 and random.random() < 0.6)):
            found[name] = _made(value, random, depth + 1)
    found |= dict.fromkeys(required - found.keys() - properties.keys(), "x")
    fewest = schema.first("minProperties")
    extra = schema.first("additionalProperties")
    for number in range((fewest if isinstance(fewest, int) else 0) - len(found)):
        found[str(number)] = _made(schema.at(extra), random, depth + 1) if isinstance(extra, Mapping) else "x"
    return found


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
