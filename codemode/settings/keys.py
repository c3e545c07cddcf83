"""The keys of `codemode.yaml`, explained from its JSON Schema."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from codemode.errors import ConfigurationError
from codemode.settings.schema import shipped
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

#: In a key, any name in a mapping or any position in a list.
ANY = "*"

_REFERENCE = "#/$defs/"

#: A position in brackets: `rules[0]`.
_POSITION = re.compile(r"\[([\w*]+)\]")

#: Maximum number of names in an error.
_MOST_NAMED = 5

_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "mapping",
    "null": "null",
}

#: Limits in a schema, and their words.
_LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matches {}",
}

Definitions = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Key:
    """One key and its schema. `path` is for example `("sources", "*", "timeout_s")`."""

    path: tuple[str, ...]
    schema: dict[str, Any]
    is_required: bool
    definitions: Definitions

    @property
    def name(self) -> str:
        """The path as text: `sources.*.timeout_s`."""
        return ".".join(self.path)

    @property
    def description(self) -> str:
        """What the key is for, with units and the meaning of its default."""
        section = self.definitions.get(self.schema.get("$ref", "").removeprefix(_REFERENCE), {})
        return str(self.schema.get("description") or section.get("description", ""))

    @cached_property
    def members(self) -> tuple[dict[str, Any], ...]:
        """The schemas of which the value matches one."""
        return tuple(_members(self.schema, self.definitions))

    @property
    def has_items(self) -> bool:
        """Whether the value is a list, or a mapping with any names."""
        items = ("items", "patternProperties", "additionalProperties")
        return any(member.get(name) for member in self.members for name in items)

    @property
    def type(self) -> str:
        """The types of its value, in words."""
        return " or ".join(dict.fromkeys(self._type(member) for member in self.members))

    @property
    def default(self) -> str:
        """The default as YAML in one line, or "" for a section."""
        if self.is_required:
            return "none, the key is required"
        return json.dumps(self.schema["default"], ensure_ascii=False) if "default" in self.schema else ""

    @property
    def valid(self) -> str:
        """The valid values: a list, or limits in words. "" if every value of the type is valid."""
        return "; ".join(dict.fromkeys(filter(None, map(self._valid, self.members))))

    @property
    def example(self) -> Any:
        """A valid value: an example of the schema, the default, a valid choice, or the defaults of a section."""
        choices = (value for member in self.members for value in _choices(member))
        sections = (_defaults(member) for member in self.members)
        candidates = (*self.schema.get("examples", ()), self.schema.get("default"), *choices, *sections)
        return next((value for value in candidates if not _is_empty(value)), self.schema.get("default"))

    def _type(self, member: dict[str, Any]) -> str:
        if "const" in member or "enum" in member:
            return "text"
        if member.get("type") != "array":
            return _TYPES.get(member.get("type", ""), "any value")
        items = (self._type(one) for one in _members(member.get("items", {}), self.definitions))
        return f"list of {' or '.join(dict.fromkeys(items))}"

    def _valid(self, member: dict[str, Any]) -> str:
        choices = _choices(member)
        if choices:
            return ", ".join(map(str, choices))
        limits = [text.format(member[name]) for name, text in _LIMITS.items() if name in member]
        items = self._items(member)
        return ", ".join([*limits, *([f"each {items}" if limits else items] if items else [])])

    def _items(self, member: dict[str, Any]) -> str:
        items = _members(member["items"], self.definitions) if "items" in member else ()
        return "; ".join(dict.fromkeys(filter(None, map(self._valid, items))))


def keys() -> list[Key]:
    """Return all keys of the shipped schema. A key that members of a union define differently is listed repeatedly."""
    schema = json.loads(shipped())
    found: list[Key] = []
    for key in _below(schema, schema["$defs"], ()):
        if key not in found:
            found.append(key)
    return found


def find(name: str) -> list[Key]:
    """Return the keys of a name, such as `sources.*.timeout_s` or `sources.gym.timeout_s`.

    Raises ConfigurationError for an unknown name, with the closest ones.
    """
    every = keys()
    path = tuple(_POSITION.sub(r".\1", name.strip()).split("."))
    found = [key for key in every if _fits(key.path, path)]
    found = found or [key for key in every if key.has_items and _fits(key.path, path[:-1])]
    if found:
        return found
    names = dict.fromkeys(key.name for key in every if key.path[-1] == path[-1])
    shortest = sorted(names, key=lambda one: one.count("."))[:_MOST_NAMED]
    near = f"; did you mean {', '.join(shortest)}?" if names else did_you_mean(name, (key.name for key in every))
    message = f"unknown key {name!r}{near or '; `codemode config schema` prints all keys'}"
    raise ConfigurationError(message)


def below(section: Key) -> list[str]:
    """Return the names of the keys directly in a section, or in each of its items."""
    depth = len(section.path)
    inner = (key.path for key in keys() if key.path[:depth] == section.path)
    named = (path for path in inner if len(path) - path[depth:].count(ANY) == depth + 1)
    return list(dict.fromkeys(path[-1] for path in named))


def _below(schema: dict[str, Any], definitions: Definitions, path: tuple[str, ...]) -> Iterator[Key]:
    """Yield the keys below a path. References and unions are followed."""
    for member in _members(schema, definitions):
        for name, key in member.get("properties", {}).items():
            yield Key((*path, name), key, name in member.get("required", ()), definitions)
            yield from _below(key, definitions, (*path, name))
        patterns = member.get("patternProperties", {})
        for key in (*patterns.values(), member.get("additionalProperties"), member.get("items")):
            if isinstance(key, dict):
                yield from _below(key, definitions, (*path, ANY))


def _members(schema: dict[str, Any], definitions: Definitions) -> Iterator[dict[str, Any]]:
    """Yield a schema with its reference resolved, or the members of a union."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix(_REFERENCE)]
    alternatives = schema.get("anyOf") or (schema.get("oneOf", ()) if "properties" not in schema else ())
    for member in alternatives:
        yield from _members(member, definitions)
    if not alternatives:
        yield schema


def _choices(member: dict[str, Any]) -> list[Any]:
    return [member["const"]] if "const" in member else list(member.get("enum", ()))


def _defaults(section: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a section whose defaults are not empty."""
    pairs = ((name, key.get("default")) for name, key in section.get("properties", {}).items())
    return {name: default for name, default in pairs if not _is_empty(default)}


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {})


def _fits(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return len(pattern) == len(path) and all(one in (ANY, part) for one, part in zip(pattern, path, strict=True))
