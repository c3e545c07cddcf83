"""One odd definition of a server costs itself at most."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.transports.mcp.definition_repairs import NOTES, repaired_definition, repaired_list

_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
_EMPTY = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("odd", "repaired", "note"),
    [
        ({"inputSchema": _SCHEMA}, {"inputSchema": _SCHEMA}, ""),
        ({}, {"inputSchema": _EMPTY}, "inputSchema is no mapping: the tool takes no arguments"),
        ({"inputSchema": None}, {"inputSchema": _EMPTY}, "inputSchema is no mapping: the tool takes no arguments"),
        ({"inputSchema": {}}, {"inputSchema": {"type": "object"}}, "inputSchema has no `type: object`"),
        ({"inputSchema": {"type": "object", "properties": []}}, {"inputSchema": _EMPTY}, ""),
        (
            {"inputSchema": {**_EMPTY, "required": "a"}},
            {"inputSchema": _EMPTY},
            "inputSchema.required is ignored",
        ),
        (
            {"inputSchema": {"type": "object", "properties": {"a": "string", "b": None}}},
            {"inputSchema": {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}}},
            "no schema: a, b",
        ),
        ({"inputSchema": _SCHEMA, "description": 7}, {"inputSchema": _SCHEMA, "description": "7"}, ""),
        ({"inputSchema": _SCHEMA, "description": ["x"]}, {"inputSchema": _SCHEMA}, "description is ignored"),
        ({"inputSchema": _SCHEMA, "annotations": "read"}, {"inputSchema": _SCHEMA}, "annotations is ignored"),
        ({"inputSchema": _SCHEMA, "icons": "x.png"}, {"inputSchema": _SCHEMA}, "icons is ignored"),
        ({"inputSchema": _SCHEMA, "_meta": []}, {"inputSchema": _SCHEMA}, "_meta is ignored"),
    ],
)
def test_a_definition_is_repaired_with_a_note(odd: dict[str, Any], repaired: dict[str, Any], note: str) -> None:
    tool, said = repaired_definition({"name": "x", **odd})
    assert tool is not None
    meta = tool.pop("_meta", {})
    assert tool == {"name": "x", **repaired}
    assert said == (f"its definition is invalid and was repaired: {note}" if note else "")
    assert meta.get(NOTES, "") == said


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        ("text", "definition 1 is left out: it is not a mapping"),
        ({"description": "x"}, "definition 1 is left out: it has no name"),
        ({"name": 7}, "definition 1 7 is left out: it has no name"),
    ],
)
def test_a_definition_without_a_name_is_left_out_of_the_list(definition: Any, reason: str) -> None:
    good = {"name": "good", "inputSchema": _SCHEMA}
    result = repaired_list({"tools": [good, definition], "nextCursor": 2, "_meta": {"own": 1}})
    assert result == {"tools": [good], "nextCursor": "2", "_meta": {"own": 1, NOTES: [reason]}}
