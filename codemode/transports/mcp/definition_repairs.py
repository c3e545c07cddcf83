"""Repairs of tool definitions that break the protocol: one odd definition costs itself at most, never the server.

The SDK rejects a whole list for one definition. What can be read is repaired, with a note in `_meta`; a definition
without a name is left out.
"""

from __future__ import annotations

from typing import Any

import mcp_types
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

#: Key of `_meta`: the note of a repaired definition, and in a list the notes of those that are left out.
NOTES = "codemode/notes"

#: A version of the protocol whose rules for definitions are the strictest.
_VERSION = "2025-11-25"

_TYPES = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))


def repaired_list(result: dict[str, Any]) -> dict[str, Any]:
    """Return an answer to `tools/list` with valid definitions only."""
    tools: list[dict[str, Any]] = []
    left_out: list[str] = []
    for number, definition in enumerate(result["tools"]):
        tool, reason = repaired_definition(definition)
        if tool is None:
            left_out.append(f"definition {number}{_named(definition)} is left out: {reason}")
        else:
            tools.append(tool)
    cursor = result.get("nextCursor")
    if cursor is not None and not isinstance(cursor, str):
        result = {**result, "nextCursor": str(cursor)}
    if not left_out:
        return {**result, "tools": tools}
    meta = result.get("_meta")
    return {**result, "tools": tools, "_meta": {**(meta if isinstance(meta, dict) else {}), NOTES: left_out}}


def repaired_definition(definition: Any) -> tuple[dict[str, Any] | None, str]:
    """Return a valid definition and the note of its repairs, or None and the reason."""
    if not isinstance(definition, dict):
        return None, "it is not a mapping"
    if not isinstance(definition.get("name"), str) or not definition["name"]:
        return None, "it has no name"
    if _is_valid(definition):
        return definition, ""
    notes: list[str] = []
    tool = {key: value for key, value in definition.items() if key not in _CHECKED or _CHECKED[key](value)}
    notes += [f"{key} is ignored" for key in definition if key not in tool]
    for key in ("description", "title"):
        if key in definition and key not in tool and isinstance(definition[key], (int, float)):
            tool[key] = str(definition[key])
            notes.remove(f"{key} is ignored")
    tool["inputSchema"] = _input_schema(definition.get("inputSchema"), notes)
    if not _is_valid(tool):
        tool = {key: tool[key] for key in ("name", "description", "inputSchema", "outputSchema") if key in tool}
        notes.append("all but its name, description and schema is ignored")
    if not _is_valid(tool):
        return None, "its schema cannot be repaired"
    note = f"its definition is invalid and was repaired: {'; '.join(notes)}" if notes else ""
    return ({**tool, "_meta": {**tool.get("_meta", {}), NOTES: note}} if note else tool), note


def note_of(definition: mcp_types.Tool) -> str:
    """Return the note of a repaired definition. Empty if it was valid."""
    return str((definition.meta or {}).get(NOTES, ""))


def left_out(page: mcp_types.ListToolsResult) -> list[str]:
    """Return the notes about definitions that a page of a list does not have."""
    return list((page.meta or {}).get(NOTES, ()))


def _named(definition: Any) -> str:
    name = definition.get("name") if isinstance(definition, dict) else None
    return f" {name!r}"[:80] if name else ""


def _is_valid(tool: dict[str, Any]) -> bool:
    try:
        mcp_types.Tool.model_validate(tool, by_name=False)
        validate_server_result("tools/list", _VERSION, {"tools": [tool]})
    except (ValidationError, RecursionError):
        return False
    return True


#: Keys whose values are ignored if they have another type.
_CHECKED = {
    "title": lambda value: isinstance(value, str),
    "description": lambda value: isinstance(value, str),
    "outputSchema": lambda value: isinstance(value, dict),
    "annotations": lambda value: _is_valid({"name": "x", "inputSchema": {"type": "object"}, "annotations": value}),
    "icons": lambda value: _is_valid({"name": "x", "inputSchema": {"type": "object"}, "icons": value}),
    "execution": lambda value: _is_valid({"name": "x", "inputSchema": {"type": "object"}, "execution": value}),
    "_meta": lambda value: isinstance(value, dict),
}


def _input_schema(schema: Any, notes: list[str]) -> dict[str, Any]:
    """Return an input schema as an object with a table of properties and a list of required names."""
    if not isinstance(schema, dict):
        notes.append("inputSchema is no mapping: the tool takes no arguments")
        return {"type": "object", "properties": {}}
    repaired = {**schema, "type": "object"}
    if schema.get("type") != "object":
        notes.append("inputSchema has no `type: object`")
    if "properties" in schema:
        repaired["properties"] = _properties(schema["properties"], notes)
    required = schema.get("required")
    if required is not None and not (isinstance(required, list) and all(isinstance(one, str) for one in required)):
        notes.append("inputSchema.required is ignored")
        del repaired["required"]
    return repaired


def _properties(properties: Any, notes: list[str]) -> dict[str, Any]:
    if not isinstance(properties, dict):
        if properties:  # PHP writes [] for {}
            notes.append("inputSchema.properties is ignored")
        return {}
    odd = [name for name, value in properties.items() if not isinstance(value, dict)]
    if odd:
        notes.append(f"no schema: {', '.join(map(str, odd[:3]))}")
    return {name: value if isinstance(value, dict) else _of_text(value) for name, value in properties.items()}


def _of_text(value: Any) -> dict[str, Any]:
    """Return the schema of a property whose declaration is only a type, or nothing."""
    return {"type": value} if isinstance(value, str) and value in _TYPES else {}
