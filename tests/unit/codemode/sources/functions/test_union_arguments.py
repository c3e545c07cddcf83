"""A union at the top of an input schema has the arguments of all its members."""

from __future__ import annotations

from codemode.sources.functions.described import parameters_of


def test_a_union_has_the_arguments_of_all_members() -> None:
    listing = {"properties": {"op": {"const": "list"}}, "required": ["op"]}
    call = {"properties": {"op": {"const": "call"}, "tool": {"type": "string"}}, "required": ["op", "tool"]}
    parameters = parameters_of({"type": "object", "oneOf": [listing, call]})
    assert {one.name: one.required for one in parameters} == {"op": True, "tool": False}


def test_a_required_name_without_a_declaration_is_an_argument() -> None:
    parameters = parameters_of({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]})
    assert {one.name: one.required for one in parameters} == {"a": False, "b": True}


def test_a_schema_without_fields_has_no_arguments() -> None:
    assert parameters_of({"type": "object"}) == ()
    assert parameters_of({}) == ()
