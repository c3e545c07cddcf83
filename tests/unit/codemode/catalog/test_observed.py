"""Shapes learned from answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog import stubs
from codemode.catalog.observed import MOST_TOOLS, ObservedShapes, merge, shape_of
from codemode.catalog.schema import Schema
from codemode.catalog.shapes import Shapes
from codemode.catalog.tool import Tool
from codemode.shared.files import FileValue

if TYPE_CHECKING:
    from pathlib import Path

TOOL = Tool("api.users.get", source="api", summary="Get a user")


def _text(*values: Any) -> str:
    shape = shape_of(values[0])
    for value in values[1:]:
        shape = merge(shape, shape_of(value))
    return Shapes().text(Schema.of(shape))


def shapes_in(path: Path) -> ObservedShapes:
    shapes = ObservedShapes(FileValue(path))
    shapes.load()
    return shapes


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([{"id": 7, "name": "Ann"}], '{"id": int, "name": str}'),
        ([{"id": 7}, {"id": None, "ok": True}], '{"id": int | None, "ok": bool}'),
        ([[1, 2.5]], "list[float]"),
        ([[{"a": 1}, {"b": "x"}]], 'list[{"a": int, "b": str}]'),
        ([[]], "list"),
        (["x", 1], "str | int"),
        ([{"ann@example.com": 1, "bob@example.com": 2}], "dict[str, int]"),
        ([{"3fa85f64": {"n": 1}}], 'dict[str, {"n": int}]'),
        ([{f"key_{chr(97 + n)}": "v" for n in range(25)}], "dict[str, str]"),
        ([{}], "dict"),
        (['{"id": 7}', "[]"], "str (JSON text)"),
        ([None, '{"id": 7}'], "str (JSON text) | None"),
        ([{"body": "[1]"}], '{"body": str (JSON text)}'),
        (['{"id": 7}', "no JSON"], "str"),
        (["no JSON", '{"id": 7}'], "str"),
        (["[see below]"], "str"),
    ],
)
def test_names_and_types_are_learned(values: list[Any], expected: str) -> None:
    assert _text(*values) == expected


def test_no_value_is_ever_kept() -> None:
    secret = "hunter2hunter2"
    value = {"password": secret, "tokens": [secret], secret + "@x.test": 1, "nested": {"a": {secret + "-1234": secret}}}
    assert secret not in json.dumps(shape_of(value))


def test_depth_and_width_are_bounded() -> None:
    deep: Any = 1
    for _ in range(50):
        deep = {"a": deep}
    wide = {f"field_{chr(97 + n // 26)}{chr(97 + n % 26)}": n if n % 2 else "x" for n in range(500)}
    assert len(json.dumps(shape_of(deep))) < 300
    assert len(shape_of(wide)["properties"]) == 60


@pytest.mark.parametrize(
    "documented",
    [
        {"type": "object", "properties": {"x": {"type": "integer"}}},
        {"type": "array", "items": {"type": "string"}},
        {"type": "integer"},
        {"type": "object", "additionalProperties": {"type": "string"}},
    ],
)
def test_what_is_documented_is_not_learned(documented: dict[str, Any]) -> None:
    shapes = ObservedShapes()
    shapes.observe(Tool("a.b.c", source="a", returns=Schema.of(documented)), {"x": 1}, "ann")
    assert len(shapes) == 0


@pytest.mark.parametrize(
    "vague", [{}, True, {"type": "object"}, {"type": "array"}, {"type": "array", "items": {"type": "object"}}]
)
def test_the_fields_are_learned_where_a_document_names_a_type_only(vague: Any) -> None:
    shapes, tool = ObservedShapes(), Tool("a.b.c", source="a", returns=Schema.of(vague))
    shapes.observe(tool, {"x": 1}, "ann")
    observed = shapes.schema("ann", tool)
    assert '-> {"x": int}' in stubs.stub(tool, observed=observed)


@pytest.mark.parametrize("error", [{"error": "no such order"}, {"success": False, "message": "no"}, "Error: no"])
def test_an_answer_that_reports_an_error_teaches_nothing(error: Any) -> None:
    shapes = ObservedShapes()
    shapes.observe(TOOL, error, "ann")
    assert len(shapes) == 0
    shapes.observe(TOOL, {"id": 7}, "ann")
    shapes.observe(TOOL, error, "ann")
    learned = shapes.schema("ann", TOOL)
    assert learned is not None
    assert [*learned.properties()] == ["id"]


def test_a_new_field_is_learned_soon_after_many_equal_responses() -> None:
    shapes = ObservedShapes()
    for _ in range(100):
        shapes.observe(TOOL, {"id": 7}, "ann")
    for _ in range(16):
        shapes.observe(TOOL, {"id": 7, "name": "Ann"}, "ann")
    learned = shapes.schema("ann", TOOL)
    assert learned is not None
    assert [*learned.properties()] == ["id", "name"]
    shapes.observe(TOOL, {"id": 7, "age": 3}, "ann")  # what is new is followed by full attention
    learned = shapes.schema("ann", TOOL)
    assert learned is not None
    assert [*learned.properties()] == ["id", "name", "age"]


def test_what_was_learned_is_kept_in_a_file_and_shown_as_observed(tmp_path: Path) -> None:
    file = tmp_path / "state" / "shapes.json"
    shapes = shapes_in(file)
    shapes.observe(TOOL, {"id": 7, "name": "Ann"}, "ann")
    assert shapes.is_unsaved
    shapes.save()
    shapes.observe(TOOL, {"id": 8, "name": "Bob"}, "ann")
    assert not shapes.is_unsaved
    assert "Ann" not in file.read_text(encoding="utf-8")
    again = shapes_in(file)
    assert (
        stubs.signature(TOOL, observed=again.schema("ann", TOOL))
        == "api.users.get() -> dict  # observed result; Get a user"
    )
    assert '-> {"id": int, "name": str}' in stubs.stub(TOOL, observed=again.schema("ann", TOOL))
    assert again.schema("bob", TOOL) is None
    file.write_text("nonsense", encoding="utf-8")
    assert len(shapes_in(file)) == 0


def test_the_least_recently_seen_tools_are_forgotten() -> None:
    shapes = ObservedShapes()
    for number in range(MOST_TOOLS + 5):
        shapes.observe(Tool(f"a.b.t{number}", source="a"), number, "ann")
    assert len(shapes) == MOST_TOOLS
    assert shapes.schema("ann", Tool("a.b.t0", source="a")) is None


def test_only_changed_shapes_are_unsaved(tmp_path: Path) -> None:
    shapes = shapes_in(tmp_path / "shapes.json")
    assert not shapes.is_unsaved
    shapes.observe(TOOL, {"id": 1}, "ann")
    assert shapes.is_unsaved
    shapes.save()
    shapes.observe(TOOL, {"id": 2}, "ann")
    assert not shapes.is_unsaved
    shapes.observe(TOOL, {"id": 2, "name": "Bob"}, "ann")
    assert shapes.is_unsaved


def test_without_a_file_nothing_is_unsaved() -> None:
    shapes = ObservedShapes()
    shapes.observe(TOOL, {"id": 1}, "ann")
    assert not shapes.is_unsaved


def test_two_servers_learn_into_one_file(tmp_path: Path) -> None:
    file = tmp_path / "shapes.json"
    ours, theirs = shapes_in(file), shapes_in(file)
    ours.observe(TOOL, {"id": 7}, "ann")
    ours.save()
    theirs.observe(TOOL, {"name": "Ann"}, "ann")
    theirs.observe(TOOL, {"id": 8}, "bob")
    theirs.save()
    known = shapes_in(file)
    schemas = {caller: known.schema(caller, TOOL) for caller in ("ann", "bob")}
    assert {caller: sorted(one.properties()) for caller, one in schemas.items() if one is not None} == {
        "ann": ["id", "name"],
        "bob": ["id"],
    }
