"""Documents: the searchable text of a tool, field by field. Signatures shown to the model are made elsewhere."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from codemode.search.analysis.text import raw_words, surface_forms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.catalog.tool import Parameter, Tool

_SENTENCE_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+|\n\s*\n")
_SEPARATORS = re.compile(r"[\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TEXT_LIMIT = 4_000  # characters of one field; later text seldom describes the purpose of the tool
#: The path of the caller's own record, or of the caller's things.
_OF_CALLER = re.compile(
    r"GET (?:/api)?(?:/v\d+(?:\.\d+)?)?(?:/users?)?(?:(?P<record>"
    r"/(?:@?me|user|self|whoami|myself|viewer|profile|current[-_]?user|account|userinfo))|(?:/@?me|(?<=/user))/.*)",
    re.IGNORECASE,
)
_ENUM_LIMIT = 24  # values of one enumeration; longer lists (countries, time zones) do not identify a tool


class Field(IntEnum):
    """The fields of a document, in the order of `fields_of`."""

    NAME = 0  # the id without its namespace, and aliases that are not part of the id
    HOME = 1  # namespace, source, tags
    SUMMARY = 2  # the first sentence
    TEXT = 3  # the rest of the description
    PARAMETERS = 4  # parameter names
    PARAMETER_TEXT = 5  # parameter descriptions and enumerations
    EXTRA = 6  # retrieval text, examples, the names of linked tools; `myself` for the caller's own record


def fields_of(tool: Tool) -> tuple[str, ...]:
    """Return the text of each field of a tool."""
    summary, text = _summary_and_text(tool)
    return (
        _names(tool),
        _home(tool),
        summary,
        text[:_TEXT_LIMIT],
        " ".join([parameter.name for parameter in tool.parameters]),
        _parameter_text(tool.parameters)[:_TEXT_LIMIT],
        "\n".join((_caller(tool.key), tool.retrieval_text, *tool.examples, *tool.related))[:_TEXT_LIMIT],
    )


def _caller(key: str) -> str:
    """Return the words of an operation on the caller: `GET /users/me`, `GET /user/repos`."""
    match = _OF_CALLER.fullmatch(key)
    return "" if match is None else "whoami myself" if match["record"] else "myself"


def _names(tool: Tool) -> str:
    path = tool.path or tool.id
    known = squashed(tool.id)
    others: list[str] = []
    for alias in tool.aliases:
        if squashed(alias) not in known:
            others.append(alias)
            known += squashed(alias)  # skips aliases that differ in their separators only
    return _HUMP.sub("_", " ".join((path, *others)))


def squashed(name: str) -> str:
    """Return a name without case and separators, so that `pulls/list-files` equals `pulls.listFiles`."""
    return _SEPARATORS.sub("", name).lower()


def _home(tool: Tool) -> str:
    return _distinct((tool.namespace, tool.source, *tool.tags))


@lru_cache(maxsize=4_096)
def _distinct(names: tuple[str, ...]) -> str:
    """Join names, without those that add no new word."""
    kept = [names[0]]
    known = set(_words(names[0]))
    for name in names[1:]:
        words = _words(name)
        if not known.issuperset(words):
            kept.append(name)
            known.update(words)
    return " ".join(kept)


def _words(name: str) -> list[str]:
    return [form for raw in raw_words(name) for form in surface_forms(raw)]


def _summary_and_text(tool: Tool) -> tuple[str, str]:
    description = tool.description.strip()
    if tool.summary and not description.startswith(tool.summary.rstrip(".")):
        return tool.summary, description
    first, _, rest = _split_sentence(description or tool.summary)
    return first, rest


def _split_sentence(text: str) -> tuple[str, str, str]:
    end = _SENTENCE_END.search(text)
    return (text, "", "") if end is None else (text[: end.start()], end.group(), text[end.end() :])


def _parameter_text(parameters: Iterable[Parameter]) -> str:
    pieces = []
    for parameter in parameters:
        value = parameter.schema.value
        if isinstance(value, dict):
            pieces.append(parameter.description or str(value.get("description") or ""))
            pieces += _enumeration(value if "$ref" not in value else parameter.schema.resolved().value)
        elif parameter.description:
            pieces.append(parameter.description)
    return "\n".join(pieces)


def _enumeration(schema: object) -> list[str]:
    values = schema.get("enum") if isinstance(schema, dict) else None
    if not isinstance(values, list) or len(values) > _ENUM_LIMIT:
        return []
    return [item for item in values if isinstance(item, str)]
