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
    from codemode.catalog.schema import Schema

#: Levels of objects in a placeholder. Deeper objects are empty.
_LEVELS = 2

_TEXT = re.compile(r"<[^<>]* of ([\w.]+ #\d+)>")


class Placeholders:
    """The placeholders of one dry run."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._labels: set[str] = set()

    def create(self, tool: str, schema: Schema | None) -> tuple[str, Any]:
        """Return the label of a call, such as `gym.clients.create_client #1`, and the placeholder of its answer.

        `schema` is the schema of the answer, None if it is unknown.
        """
        self._counts[tool] += 1
        label = f"{tool} #{self._counts[tool]}"
        self._labels.add(label)
        if schema is None or _is_anything(schema):
            return label, {"id": _text("id", label)}
        return label, _value(schema, "", label, _LEVELS)

    def are_in(self, value: Any) -> bool:
        """Return whether JSON data holds a placeholder, also as a part of a text."""
        if not self._labels:
            return False
        text = json.dumps(value, ensure_ascii=False, default=str)
        return not self._labels.isdisjoint(_TEXT.findall(text))


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
            return [_text(f"{path}[0]", label) if items is None else _value(items, f"{path}[0]", label, levels)]
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
