"""Learn the schemas of undocumented results from live responses: field names and types, never values.

Schemas are bounded in depth, fields and tools, and are only ever widened. An object whose keys look like data (ids,
addresses, dates) is a mapping, and its keys are not stored. Other data, such as people's names, can look like field
names. Schemas are therefore kept per caller and shown to no other, unless the operator
shares them.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from codemode.catalog.error_answers import reports_error
from codemode.catalog.schema import Schema
from codemode.catalog.shapes import Shapes
from codemode.shared.values import UNAVAILABLE

if TYPE_CHECKING:
    from collections.abc import Hashable

    from codemode.catalog.tool import Tool
    from codemode.shared.values import SharedValue

#: In the place of a caller's id: schemas that the operator shows to all callers.
EVERYBODY = ""

#: The most schemas: one for each tool and caller.
MOST_TOOLS = 2_000
MOST_FIELDS = 60
DEEPEST = 5

#: The most items of a list that are read.
_ITEMS = 20

#: The most fields of an object if all fields have the same type. Larger ones are mappings.
_MOST_UNIFORM_FIELDS = 20

#: Responses in a row without anything new, after which most are not read. A list of 20 objects takes .4 ms to read.
_STEADY = 16

#: A field name. `@odata.type` matches; host names and addresses do not.
_FIELD = re.compile(r"@[A-Za-z_.]{1,40}|\$?[A-Za-z_][A-Za-z_-]{0,30}\d{0,3}[A-Za-z_-]{0,20}")

#: Texts that hold a JSON object or array (JSON Schema, section 8.4).
JSON_TEXT = {"contentMediaType": "application/json"}

#: The longest text that is read for it, in characters.
_MOST_READ = 100_000

_FORMAT = 2

#: In the place of a version before the first `load`.
_NEVER = object()


class ObservedShapes:
    """The observed schemas of tool results, per caller. Stored in `value` if it is given."""

    def __init__(self, value: SharedValue | None = None) -> None:
        self._value = value
        self._seen: Hashable = _NEVER
        self._shapes: OrderedDict[tuple[str, str], dict[str, Any]] = OrderedDict()
        self._same: dict[tuple[str, str], int] = {}  # responses in a row without anything new
        self._changed = False
        #: Grows with each change of a schema here.
        self.revision = 0

    def __len__(self) -> int:
        return len(self._shapes)

    @property
    def is_unsaved(self) -> bool:
        """Whether the schemas have changed since they were stored, if they are."""
        return self._value is not None and self._changed

    @property
    def is_outdated(self) -> bool:
        """Whether other servers have stored schemas since `load`."""
        if self._value is None or self._seen is _NEVER:
            return False
        try:
            return self._value.latest().version != self._seen
        except UNAVAILABLE:
            return False

    def load(self) -> None:
        """Add the stored schemas. Read errors are ignored. May wait for a database."""
        if self._value is None:
            return
        with suppress(*UNAVAILABLE):
            latest = self._value.latest()
            self._add(latest.data)
            self._seen = latest.version
            self.revision += 1

    def observe(self, tool: Tool, value: Any, caller: str) -> None:
        """Widen the schema of an undocumented result by a response. `caller` is the id of the caller.

        Reports of errors teach nothing. After `_STEADY` responses in a row without anything new, only one in `_STEADY`
        is read.
        """
        if value is None or not is_undocumented(tool) or reports_error(value):
            return
        key = (caller, tool.id)
        known = self._shapes.get(key)
        same = self._same.get(key, 0)
        if known is None or same < _STEADY or same % _STEADY == 0:
            shape = shape_of(value)
            merged = shape if known is None else merge(known, shape)
            if merged != known:
                self._changed, same = True, -1
                self.revision += 1
                self._shapes[key] = merged
        self._same[key] = same + 1
        self._shapes.move_to_end(key)
        self._drop_oldest()

    def schema(self, caller: str, tool: Tool) -> Schema | None:
        """Return the schema of a tool's result as observed by a caller, else as shared with all callers, or None."""
        known = self._shapes.get((caller, tool.id)) or self._shapes.get((EVERYBODY, tool.id))
        return None if known is None else Schema.of(known)

    def share(self, caller: str, tool: Tool) -> bool:
        """Show all callers what one has observed of a tool. Return whether there is anything."""
        known, shared = self._shapes.get((caller, tool.id)), self._shapes.get((EVERYBODY, tool.id))
        if known is not None and known != shared:
            self._shapes[EVERYBODY, tool.id] = known if shared is None else merge(known, shared)
            self._changed = True
            self.revision += 1
        return known is not None

    def steady(self, caller: str, tool: Tool) -> dict[str, Any] | None:
        """Return the schema of a tool's result if the last 16 responses to the caller added nothing, else None."""
        key = (caller, tool.id)
        return self._shapes.get(key) if self._same.get(key, 0) >= _STEADY else None

    def save(self) -> None:
        """Store the schemas if they have changed, with those that other servers have stored. Errors are ignored."""
        if self._value is None or not self.is_unsaved:
            return
        with suppress(*UNAVAILABLE):
            self._value.change(self._merged)
            self._changed = False

    def _merged(self, data: bytes | None) -> bytes:
        self._add(data)
        shapes = [[*key, shape] for key, shape in list(self._shapes.items())]
        return json.dumps({"format": _FORMAT, "shapes": shapes}).encode()

    def _add(self, stored: bytes | None) -> None:
        """Merge stored schemas into those here."""
        try:
            data = json.loads(stored or b"{}")
        except ValueError:
            return
        shapes = data.get("shapes") if isinstance(data, Mapping) and data.get("format") == _FORMAT else None
        for one in shapes[:MOST_TOOLS] if isinstance(shapes, list) else ():
            match one:
                case [str(caller), str(tool), dict(shape)]:
                    known = self._shapes.get((caller, tool))
                    self._shapes[caller, tool] = shape if known is None else merge(known, shape)
        self._drop_oldest()

    def _drop_oldest(self) -> None:
        while len(self._shapes) > MOST_TOOLS:
            dropped, _ = self._shapes.popitem(last=False)
            self._same.pop(dropped, None)


def is_undocumented(tool: Tool) -> bool:
    """Return whether the document says nothing of the fields of a result: no schema, `Any`, `dict` or `list`."""
    if tool.returns is None:
        return True
    known = _undocumented.get(tool)
    if known is None:
        text = Shapes(compact=True).text(tool.returns).removesuffix(" | None")
        known = _undocumented[tool] = text in _VAGUE
    return known


_VAGUE = frozenset(("Any", "dict", "list", "list[dict]", "dict[str, dict]"))
_undocumented: WeakKeyDictionary[Tool, bool] = WeakKeyDictionary()


def shape_of(value: Any, depth: int = 0) -> dict[str, Any]:
    """Return the schema of one value: its types and field names."""
    match value:
        case None:
            return {"type": ["null"]}
        case bool():
            return {"type": ["boolean"]}
        case int():
            return {"type": ["integer"]}
        case float():
            return {"type": ["number"]}
        case list():
            return _list_shape(value, depth)
        case Mapping():
            return _object_shape(value, depth)
        case str() if is_json_text(value):
            return {"type": ["string"], **JSON_TEXT}
        case _:
            return {"type": ["string"]}


def is_json_text(text: str) -> bool:
    """Return whether a text is a JSON object or array as a whole."""
    if text[:1] not in ("{", "[") or len(text) > _MOST_READ:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def merge(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that allows the values of both."""
    types = list(dict.fromkeys([*left.get("type", []), *right.get("type", [])]))
    if "integer" in types and "number" in types:
        types.remove("integer")
    merged: dict[str, Any] = {"type": types}
    if all("contentMediaType" in side for side in (left, right) if "string" in side.get("type", ())):
        merged |= JSON_TEXT if "string" in types else {}
    for key in ("items", "additionalProperties"):
        parts = [side[key] for side in (left, right) if key in side]
        if parts:
            merged[key] = merge(parts[0], parts[1]) if len(parts) > 1 else parts[0]
    tables = [side["properties"] for side in (left, right) if "properties" in side]
    if tables and "additionalProperties" not in merged:
        fields: dict[str, Any] = dict(tables[0])
        for name, shape in tables[1].items() if len(tables) > 1 else ():
            if name in fields:
                fields[name] = merge(fields[name], shape)
            elif len(fields) < MOST_FIELDS:
                fields[name] = shape
        merged["properties"] = fields
    return merged


def _list_shape(values: list[Any], depth: int) -> dict[str, Any]:
    if depth >= DEEPEST or not values:
        return {"type": ["array"]}
    items = shape_of(values[0], depth + 1)
    for value in values[1:_ITEMS]:
        items = merge(items, shape_of(value, depth + 1))
    return {"type": ["array"], "items": items}


def _object_shape(value: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth >= DEEPEST:
        return {"type": ["object"]}
    shapes = {str(name): shape_of(item, depth + 1) for name, item in list(value.items())[:MOST_FIELDS]}
    kinds = {json.dumps(shape["type"]) for shape in shapes.values()}
    is_mapping = any(not _FIELD.fullmatch(name) for name in shapes) or (
        len(shapes) > _MOST_UNIFORM_FIELDS and len(kinds) == 1
    )
    if not is_mapping:
        return {"type": ["object"], "properties": shapes}
    extra: dict[str, Any] | None = None
    for shape in shapes.values():
        extra = shape if extra is None else merge(extra, shape)
    return {"type": ["object"]} if extra is None else {"type": ["object"], "additionalProperties": extra}
