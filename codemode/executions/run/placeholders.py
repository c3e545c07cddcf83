"""Placeholders: the answers of calls that a dry run did not send.

A placeholder is JSON data of the tool's declared result type. Each scalar is a text that names its field and its call:
`<id of gym.clients.create_client #1>` is the `id` of the first answer of that tool. Objects have two levels, and lists
one item. An object without declared fields, and the answer of an undocumented tool, has an `id`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.catalog.schema import Schema

_FIRST = "[0]"

#: The status of an answer that was not given.
_STATUS = 200

#: Levels of objects in a placeholder. Deeper objects are empty.
_LEVELS = 2

#: A placeholder in a text: the path of its field, and the label of its call.
PLACEHOLDER = re.compile(r"<([^<>]*) of ([\w.]+ #\d+)>")


class Placeholders:
    """The placeholders of one dry run."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._labels: set[str] = set()

    def create(self, tool: str, schema: Schema | None, path: str = "") -> tuple[str, Any]:
        """Return the label of a call, such as `gym.clients.create_client #1`, and the placeholder of its answer.

        `schema` is the schema of the answer, None if it is unknown, and `path` the place of the value in the answer.
        """
        self._counts[tool] += 1
        label = f"{tool} #{self._counts[tool]}"
        self._labels.add(label)
        if schema is None or _is_anything(schema):
            return label, {"id": _text(_joined(path, "id"), label)}
        return label, _value(schema, path, label, _LEVELS)

    def whole(self, tool: str, schema: Schema | None, headers: Iterable[str]) -> tuple[str, Any]:
        """Return the label of a call and the placeholder of its answer with status and headers."""
        label, value = self.create(tool, schema, "value")
        made = {name: _text(f"headers.{name}", label) for name in headers}
        return label, {"status": _STATUS, "headers": made, "value": value}

    def are_in(self, value: Any) -> bool:
        """Return whether JSON data holds a placeholder, also as a part of a text."""
        if not self._labels:
            return False
        return not self._labels.isdisjoint(labels_in(value))


def labels_in(value: Any) -> set[str]:
    """Return the labels of the placeholders in JSON data, also of those that are a part of a text."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return {label for _, label in PLACEHOLDER.findall(text)}


def field_of(answer: Any, path: str) -> Any:
    """Return the part of a real answer that a placeholder with this path stands for. Raises LookupError."""
    if not path or (path == "answer" and not (isinstance(answer, dict) and path in answer)):
        return answer
    if path.startswith(_FIRST):
        if not isinstance(answer, list):
            raise LookupError(path)
        return field_of(answer[0], path.removeprefix(_FIRST).removeprefix("."))
    for name in sorted(answer, key=len, reverse=True) if isinstance(answer, dict) else ():
        rest = path.removeprefix(name)
        if path.startswith(name) and (not rest or rest[0] in ".["):
            return field_of(answer[name], rest.removeprefix("."))
    raise LookupError(path)


def _value(schema: Schema, path: str, label: str, levels: int) -> Any:
    """Return the placeholder of one part of an answer. `path` is its place in the answer."""
    schema = _chosen(schema)
    match schema.types():
        case ("object", *_):
            properties = schema.properties() if levels else {}
            shown = {name: part for name, part in properties.items() if part.first("writeOnly") is not True}
            if not shown and levels:
                return {"id": _text(_joined(path, "id"), label)}
            return {name: _value(part, _joined(path, name), label, levels - 1) for name, part in shown.items()}
        case ("array", *_):
            items = schema.items()
            return [
                _text(f"{path}{_FIRST}", label) if items is None else _value(items, f"{path}{_FIRST}", label, levels)
            ]
        case () if schema.is_nullable():
            return None
        case _:
            return _text(path or "answer", label)


def _chosen(schema: Schema) -> Schema:
    """Return the first alternative of a schema that is not null, or the schema itself."""
    resolved = schema.resolved()
    variants = [variant.resolved() for variant in resolved.variants()]
    return next((variant for variant in variants if variant.types()), resolved)


def _is_anything(schema: Schema) -> bool:
    chosen = _chosen(schema)
    return not chosen.types() and not chosen.is_nullable()


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _text(path: str, label: str) -> str:
    return f"<{path} of {label}>"
