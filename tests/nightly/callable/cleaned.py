"""An API document without its own mistakes, for a judge that would blame requests for them.

What cannot hold is left out and noted: malformed keywords, unions none of whose members can be what is asked for beside
them, `additionalProperties: false` in a part of an `allOf`, references to nowhere. A required property that is
`readOnly` is required of answers alone.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

DEEPEST = 12
MISSING = object()
_TYPES = frozenset(("string", "integer", "number", "boolean", "array", "object", "null"))
_UNREAD = ("example", "examples", "default")
_NAMED = ("properties", "patternProperties", "schemas", "paths", "parameters", "responses", "definitions", "$defs")


class Cleaned:
    """`root` is the document, its own references absolute under `uri`; `mistakes` is what was left out."""

    def __init__(self, document: Mapping[str, Any], uri: str) -> None:
        self.mistakes: set[str] = set()
        self.is_legacy = str(document.get("openapi", "3.0")).startswith("3.0")
        self._uri = uri
        self._published = document
        self.root = self._cleaned(document)
        self._open(self.root)

    def _open(self, root: Any) -> None:
        """Let the parts of every `allOf` take what its other parts declare."""
        stack = [root]
        while stack:
            value = stack.pop()
            if isinstance(value, Mapping):
                members = value.get("allOf")
                for part in [value, *members] if isinstance(members, list) else ():
                    reference = part.get("$ref") if isinstance(part, Mapping) else None
                    target = pointed(root, reference.partition("#")[2], {}) if isinstance(reference, str) else part
                    if isinstance(target, dict) and target.get("additionalProperties") is False:
                        self.mistakes.add("additionalProperties: false in a part of an allOf")
                        del target["additionalProperties"]
                stack.extend(value.values())
            elif isinstance(value, list):
                stack.extend(value)

    def _cleaned(self, value: Any, hidden: frozenset[str] = frozenset(), *, names: bool = False) -> Any:
        """The document without its own mistakes, its references absolute. `names`: the keys are names, no keywords.

        `hidden` are properties that the schema around declares as `readOnly`.
        """
        if isinstance(value, list):
            return [self._cleaned(item, hidden) for item in value]
        if not isinstance(value, Mapping):
            return value
        if "required" in value or any(key in value for key in _MEMBERS):
            hidden = hidden | self._read_only(value)
        found = {
            name: cleaned
            for name, item in value.items()
            if (cleaned := self._part(name, item, value, hidden, names=names)) is not MISSING
        }
        return found if names else self._whole(found, hidden)

    def _part(self, name: str, item: Any, around: Mapping[str, Any], hidden: frozenset[str], *, names: bool) -> Any:
        """What one key of a mapping holds; MISSING where it is left out."""
        if names:
            return self._cleaned(item)
        if name in _UNREAD or name.startswith("x-"):
            return MISSING
        is_literal = name in ("enum", "const")
        inside = hidden if name in _MEMBERS else frozenset()
        cleaned = item if is_literal else self._cleaned(item, inside, names=name in _NAMED)
        return cleaned if self._is_sound(name, cleaned) and not self._contradicts(name, around) else MISSING

    def _whole(self, found: dict[str, Any], hidden: frozenset[str]) -> dict[str, Any]:
        reference = found.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            if pointed(self._published, reference[1:], MISSING) is MISSING:
                self.mistakes.add(f"$ref: {reference}")
                return {}
            found["$ref"] = self._uri + reference
        found.pop("$recursiveRef", None)
        if self.is_legacy and isinstance(found.get("type"), list):
            found |= self._legacy_type(found.pop("type"))
        return self._without_read_only(found, hidden)

    def _legacy_type(self, names: list[Any]) -> dict[str, Any]:
        """A list of types, which 3.0 does not know, as 3.0 would say it."""
        self.mistakes.add(f"type: {names}")
        kinds = [name for name in names if name != "null"]
        kind = {"type": kinds[0]} if len(kinds) == 1 else {"anyOf": [{"type": name} for name in kinds]}
        return {**kind, "nullable": "null" in names}

    def _contradicts(self, name: str, value: Mapping[str, Any]) -> bool:
        """Whether no value of `enum`, no member of a union can be of the type that is asked for beside it."""
        own, members = value.get("type"), value.get(name)
        if name == "enum" and isinstance(own, str) and isinstance(members, list) and own in _PYTHON:
            return not any(isinstance(member, _PYTHON[own]) for member in members)
        if name == "type" and "enum" in value:
            return self._contradicts("enum", value)
        if name not in ("anyOf", "oneOf") or own not in ("array", "object") or not isinstance(members, list):
            return False
        kinds = [self._kind(dict(self._keywords(member))) for member in members]
        if all(isinstance(kind, str) and kind != own for kind in kinds):
            self.mistakes.add(f"{name}: none of it is an {own}")
            return True
        return False

    def _kind(self, keywords: Mapping[str, Any]) -> Any:
        return keywords.get("type") or ("object" if "properties" in keywords else None)

    def _keywords(self, value: Any) -> Iterator[tuple[str, Any]]:
        reference = value.get("$ref") if isinstance(value, Mapping) else None
        if isinstance(reference, str) and reference.startswith("#"):
            value = pointed(self._published, reference[1:], {})
        yield from value.items() if isinstance(value, Mapping) else ()

    def _without_read_only(self, found: dict[str, Any], hidden: frozenset[str]) -> dict[str, Any]:
        """A required property that is `readOnly` is required of answers alone (OpenAPI 3.0.3, Schema Object)."""
        if isinstance(found.get("required"), list):
            found["required"] = [name for name in found["required"] if name not in hidden]
        if found.get("required") == []:
            del found["required"]
        return found

    def _read_only(self, value: Any, depth: int = 0) -> frozenset[str]:
        """The properties that are `readOnly` wherever a schema and its members declare them."""
        marks = self._marks(value, depth)
        return frozenset(name for name, mark in marks.items() if mark)

    def _marks(self, value: Any, depth: int) -> dict[str, bool]:
        """Whether each property is `readOnly`: for all members of `allOf`, or for any of a union."""
        value = dict(self._keywords(value))
        if depth > DEEPEST:
            return {}
        properties = value.get("properties")
        found = {
            name: self._is_read_only(schema, depth)
            for name, schema in (properties.items() if isinstance(properties, Mapping) else ())
        }
        for keyword, join in (("allOf", all), ("anyOf", any), ("oneOf", any)):
            members = value.get(keyword)
            marks: dict[str, list[bool]] = {}
            for member in members if isinstance(members, list) else ():
                for name, mark in self._marks(member, depth + 1).items():
                    marks.setdefault(name, []).append(mark)
            for name, every in marks.items():
                found[name] = join([*every, *([found[name]] if name in found else [])])
        return found

    def _is_read_only(self, value: Any, depth: int) -> bool:
        if not isinstance(value, Mapping) or depth > DEEPEST:
            return False
        reference = value.get("$ref")
        if isinstance(reference, str) and "#" in reference:
            return self._is_read_only(pointed(self._published, reference.partition("#")[2]), depth + 1)
        members = value.get("allOf")
        return value.get("readOnly") is True or any(
            self._is_read_only(member, depth + 1) for member in (members if isinstance(members, list) else ())
        )

    def _is_sound(self, name: str, value: Any) -> bool:
        sound = {
            "required": isinstance(value, (list, bool)),
            "enum": isinstance(value, list) and bool(value),
            "pattern": isinstance(value, (str, Mapping)) and (not isinstance(value, str) or _compiles(value)),
            "type": not isinstance(value, (str, list)) or _are_types(value),
            "discriminator": False,
            "exclusiveMinimum": self.is_legacy or not isinstance(value, bool),
            "exclusiveMaximum": self.is_legacy or not isinstance(value, bool),
            "minLength": not isinstance(value, str),
            "maxLength": not isinstance(value, str),
            "minimum": not isinstance(value, str),
            "maximum": not isinstance(value, str),
            "format": value not in ("binary", "byte", "base64"),
        }.get(name, True)
        if not sound and name != "discriminator":
            self.mistakes.add(f"{name}: {value!r}"[:80])
        return sound


_PYTHON: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": Mapping,
    "boolean": bool,
}
_MEMBERS = ("allOf", "anyOf", "oneOf")


def _compiles(pattern: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError):
        return False
    return True


def _are_types(value: Any) -> bool:
    return all(isinstance(name, str) and name in _TYPES for name in ([value] if isinstance(value, str) else value))


def pointed(root: Any, pointer: str, default: Any = None) -> Any:
    """What a JSON pointer points to; `default` where that is nothing."""
    target: Any = root
    for part in unquote(pointer).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(target, list):
            target = target[int(key)] if key.isdigit() and int(key) < len(target) else default
        else:
            target = target.get(key, default) if isinstance(target, Mapping) else default
    return target
