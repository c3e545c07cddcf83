"""The names that documents give to listed values, in the extensions of the usual generators.

`x-enumNames` (NSwag), `x-enum-varnames` and `x-enum-descriptions` (OpenAPI Generator), `x-ms-enum` (AutoRest), and
`oneOf` with `const` and `title` (OpenAPI 3.1). Some documents list the values themselves in the description alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema

_NAMES = ("x-enumNames", "x-enum-varnames", "x-enum-names", "x-enum-descriptions")

#: A list of values in a description: `[Enum]: ["on", "off"]`, `Possible values: on, off`, `one of 'on' or 'off'`.
_LISTED = re.compile(
    r"\[(?:enum|options|values)\]\s?:?\s?\[(?P<json>[^\[\]]{3,400})\]"
    r"|\b(?:(?P<prose>one of)(?!\s?:)|one of|(?:allowed|accepted|possible|valid|supported) values(?: are| include)?)"
    r"\s?:?\s?(?P<text>[^.;()\n]{3,400})",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r",\s?(?:or |and )?|\s?\|\s?| or | and ")
_VALUE = re.compile(r"[\w-]{1,30}")
_QUOTED = re.compile(r"\s?[\"'`]")

#: Plain words behind `one of` are a list from so many on: `one of you or me` is none.
_LEAST_PLAIN = 3


def value_names(schema: Schema) -> dict[Any, str]:
    """Return the listed values of a schema, or of its items, with their names. Empty if the names add nothing."""
    items = schema.items()
    holder = schema if items is None else items
    values = [value for value in holder.listed() if isinstance(value, (str, int)) and not isinstance(value, bool)]
    return {value: name for value, name in _named(holder, values) if name and not _repeats(name, value)}


def in_words(schema: Schema) -> str:
    """Return the names of the values for readers: `1 = BloodOrange, 2 = Sunflower`. Empty without names."""
    return ", ".join(f"{value} = {name}" for value, name in value_names(schema).items())


def described_values(schema: Schema, description: str) -> tuple[str, ...]:
    """Return the values that only the description of a parameter lists, at least two, or ()."""
    items = schema.items()
    holder = schema if items is None else items
    listed = None if holder.listed() else _LISTED.search(description)
    if listed is None:
        return ()
    text = (listed["json"] or listed["text"]).strip()
    is_plain = listed["prose"] is not None and _QUOTED.match(text) is None
    values = [part.strip(" \t'\"`") for part in _SEPARATOR.split(text)]
    if len(values) < (_LEAST_PLAIN if is_plain else 2) or (is_plain and "," not in text and "|" not in text):
        return ()
    return tuple(values) if all(map(_VALUE.fullmatch, values)) and _fit(values, holder.types()) else ()


def _fit(values: list[str], types: tuple[str, ...]) -> bool:
    """Return whether values that are written as words may have one of the types."""
    is_number = not {"integer", "number"}.isdisjoint(types) and all(value.lstrip("-").isdecimal() for value in values)
    return not types or "string" in types or is_number


def _named(schema: Schema, values: list[Any]) -> list[tuple[Any, str]]:
    for key in _NAMES:
        names = schema.first(key)
        if isinstance(names, Mapping):
            return [(value, _text(names.get(value, names.get(str(value))))) for value in values]
        if isinstance(names, list) and len(names) == len(values):
            return [(value, _text(name)) for value, name in zip(values, names, strict=True)]
    described = schema.first("x-ms-enum")
    rows = described.get("values") if isinstance(described, Mapping) else None
    rows = rows if isinstance(rows, list) else schema.first("oneOf")
    by_value = {
        str(row.get("value", row.get("const"))): _text(row.get("name") or row.get("title") or row.get("description"))
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, Mapping)
    }
    return [(value, by_value.get(str(value), "")) for value in values]


def _text(name: Any) -> str:
    return " ".join(name.split()) if isinstance(name, str) else ""


def _repeats(name: str, value: Any) -> bool:
    """Whether a name only spells the value in another way: `NotStarted` for `not-started`."""
    return _letters(name) == _letters(str(value))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
