"""Names of listed values reach the model."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.schema import Schema
from codemode.catalog.value_names import described_values, in_words


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"enum": [1, 2], "x-enumNames": ["BloodOrange", "Sky"]}, "1 = BloodOrange, 2 = Sky"),
        ({"enum": [0, 5], "x-enum-varnames": ["Quiet", "Loud"]}, "0 = Quiet, 5 = Loud"),
        ({"enum": ["a", "b"], "x-enum-descriptions": {"a": "all mails", "b": "no mail"}}, "a = all mails, b = no mail"),
        ({"enum": ["P1"], "x-ms-enum": {"values": [{"value": "P1", "name": "Daily"}]}}, "P1 = Daily"),
        ({"type": "array", "items": {"enum": [7], "x-enum-varnames": ["Sunday"]}}, "7 = Sunday"),
        ({"enum": ["not-started"], "x-enum-varnames": ["NotStarted"]}, ""),  # says nothing new
        ({"enum": [1, 2], "x-enumNames": ["Lonely"]}, ""),  # which one is meant is unknown
        ({"enum": [1], "x-enumNames": 3}, ""),
        ({"enum": [True], "x-enumNames": ["Yes"]}, ""),
        ({"type": "string"}, ""),
    ],
)
def test_named_values_are_listed(schema: Any, words: str) -> None:
    assert in_words(Schema.of(schema)) == words


@pytest.mark.parametrize(
    ("description", "values"),
    [
        ('The mode to set. [Enum]: ["engage", "release"]', ("engage", "release")),
        ("State of the order. Possible values: open, closed or all.", ("open", "closed", "all")),
        ("Must be one of `asc` or `desc` (default asc)", ("asc", "desc")),
        ("Allowed values are on | off", ("on", "off")),
        ("One of the names that a list gives", ()),  # no list
        ("Valid values: any ISO 8601 date, or a time stamp", ()),
        ("Possible values: open", ()),
        ("The mode to set", ()),
        ("Must be one of asc, desc or none", ("asc", "desc", "none")),
        ("One of: asc, desc", ("asc", "desc")),
        ("This is one of many and one or two", ()),
        ("Whether one of you or I pay", ()),
        ("One of them, and others", ()),
    ],
)
def test_values_that_the_description_alone_lists_are_found(description: str, values: tuple[str, ...]) -> None:
    assert described_values(Schema.of({"type": "string"}), description) == values
    assert described_values(Schema.of({"type": "array", "items": {"type": "string"}}), description) == values
    assert described_values(Schema.of({"enum": ["a", "b"]}), description) == ()


@pytest.mark.parametrize(
    ("schema", "description", "values"),
    [
        ({"type": "integer"}, "Possible values: 1, 2", ("1", "2")),
        ({"type": "integer"}, "Possible values: low, high", ()),
        ({"type": "boolean"}, "Possible values: on, off", ()),
        ({"type": "object"}, "Possible values: on, off", ()),
        ({"type": ["string", "null"]}, "Possible values: on, off", ("on", "off")),
        ({}, "Possible values: on, off", ("on", "off")),
    ],
)
def test_listed_values_of_another_type_are_left_out(schema: Any, description: str, values: tuple[str, ...]) -> None:
    assert described_values(Schema.of(schema), description) == values
