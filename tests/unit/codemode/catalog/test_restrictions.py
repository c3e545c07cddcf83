"""Restrictions of arguments, in the place of their types."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from codemode.catalog.schema import Schema
from codemode.catalog.shapes import Direction, Shapes


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "format": "date"}, '"YYYY-MM-DD"'),
        ({"type": ["string", "null"], "format": "date-time"}, '"YYYY-MM-DDThh:mm:ssZ" | None'),
        ({"type": "string", "pattern": r"^\+[1-9]\d+$", "example": "+493012345"}, '"+493012345"'),
        ({"type": "string", "pattern": r"^\+[1-9]\d+$", "example": "030 12345"}, r'r"^\+[1-9]\d+$"'),
        ({"type": "string", "pattern": r"^[A-Z]{3}$"}, 'r"^[A-Z]{3}$"'),
        ({"type": "string", "pattern": '^"x"$'}, "str"),
        ({"type": "string", "pattern": "^" + "a" * 90}, "str"),
        ({"type": "string", "example": "Ana"}, "str"),
        ({"type": "number", "minimum": 0}, "float >= 0"),
        ({"type": "number", "exclusiveMinimum": 0}, "float > 0"),
        ({"type": "integer", "minimum": 1}, "int"),
        ({"type": "integer", "minimum": 1, "maximum": 200}, "int <= 200"),
        ({"type": "integer", "minimum": -5, "maximum": 5}, "-5 <= int <= 5"),
        ({"type": "integer", "maximum": 2**63 - 1}, "int"),
        ({"type": "array", "items": {"type": "string", "format": "date"}}, 'list["YYYY-MM-DD"]'),
        ({"enum": ["a", "b"]}, 'Literal["a", "b"]'),
    ],
)
def test_an_argument_shows_what_it_accepts(schema: dict[str, Any], expected: str) -> None:
    text = Shapes(Direction.REQUEST, compact=True).text(Schema.of(schema))
    assert text == expected
    ast.parse(f"def f(*, a: {text} = None): ...")


def test_results_and_whole_types_show_no_restrictions() -> None:
    schema = Schema.of({"type": "string", "format": "date"})
    assert Shapes(Direction.RESPONSE, compact=True).text(schema) == "str"
    assert Shapes(Direction.REQUEST).text(schema) == "str"
