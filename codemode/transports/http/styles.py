"""Values as text in paths, queries, headers and cookies: every OpenAPI 3.x `style` and 2.0 `collectionFormat`.

See OpenAPI 3.1, Parameter Object, "Style Examples". This module does not escape; `request` does, once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

#: The types of JSON values without parts.
SCALARS = frozenset((str, int, float, bool))

_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}


def scalar(value: Any) -> str:
    """Return one value as text: `true`, `12`, or JSON if it is neither text nor number."""
    match value:
        case str():
            return value
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
        case _:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def as_json(value: Any) -> str:
    """Return a value as ASCII JSON, for places that allow only ASCII."""
    return json.dumps(value, separators=(",", ":"))


def pairs(name: str, value: Any, style: str, *, explode: bool) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Return a value as query or form names, each with `(separator, text)` pieces. Texts contain no separators."""
    if style == "json":
        yield name, [("", json.dumps(value, ensure_ascii=False, separators=(",", ":")))]
    elif style == "deepObject":
        yield from _brackets(name, value) if value != {} else ()
    elif isinstance(value, list):
        yield from _listed(name, value, style, explode=explode)
    elif isinstance(value, Mapping):
        yield from _spread(name, value, style, explode=explode)
    else:
        yield name, [("", scalar(value))]


def simple(value: Any, *, explode: bool) -> list[tuple[str, str]]:
    """Return a value in style `simple` as `(separator, text)` pieces. Texts are escaped later, separators are not."""
    if type(value) in SCALARS:
        return [("", scalar(value))]
    if isinstance(value, list):
        return [("," if index else "", scalar(item)) for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        return _flattened(value, ",", explode=explode)
    return [("", scalar(value))]


def label(value: Any, *, explode: bool) -> list[tuple[str, str]]:
    """Return a value in style `label`: `.3.4.5`."""
    separator = "." if explode else ","
    if isinstance(value, list):
        return [(separator if index else ".", scalar(item)) for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        first, *rest = _flattened(value, separator, explode=explode) or [("", "")]
        return [("." + first[0], first[1]), *rest]
    return [(".", scalar(value))]


def matrix(name: str, value: Any, *, explode: bool) -> list[tuple[str, str]]:
    """Return a value in style `matrix`: `;color=blue`. `name` must already be escaped."""
    if isinstance(value, list):
        if explode:
            return [(f";{name}=", scalar(item)) for item in value]
        return [(f";{name}=" if not index else ",", scalar(item)) for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        if explode:
            return [part for key, item in value.items() for part in ((";", str(key)), ("=", scalar(item)))]
        first, *rest = _flattened(value, ",", explode=False) or [("", "")]
        return [(f";{name}={first[0]}", first[1]), *rest]
    return [(f";{name}=", scalar(value))]


def _flattened(value: Mapping[str, Any], separator: str, *, explode: bool) -> list[tuple[str, str]]:
    middle = "=" if explode else separator
    parts: list[tuple[str, str]] = []
    for key, item in value.items():
        parts += [(separator if parts else "", str(key)), (middle, scalar(item))]
    return parts


def _listed(name: str, values: list[Any], style: str, *, explode: bool) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    if explode:  # one pair per value, no separator
        for value in values:
            if isinstance(value, Mapping):
                yield from _brackets(f"{name}[]", value)
            else:
                yield name, [("", scalar(value))]
    elif values:
        separator = _SEPARATORS.get(style, ",")
        yield name, [(separator if index else "", scalar(value)) for index, value in enumerate(values)]


def _spread(
    name: str, value: Mapping[str, Any], style: str, *, explode: bool
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    if explode:
        for key, item in value.items():
            yield from pairs(str(key), item, "form", explode=True)
    elif value:
        yield name, _flattened(value, _SEPARATORS.get(style, ","), explode=False)


def _brackets(name: str, value: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield `name[a][b]=…`, the common reading of `deepObject` for nested values. Lists have an index.

    An empty object yields an empty text, so that the argument is not silently dropped.
    """
    if value == {}:
        yield name, [("", "")]
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _brackets(f"{name}[{key}]", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _brackets(f"{name}[{index}]", item)
    else:
        yield name, [("", scalar(value))]
