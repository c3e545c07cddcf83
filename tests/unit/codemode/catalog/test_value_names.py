"""Names of listed values reach the model."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.schema import Schema
from codemode.catalog.value_names import in_words


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
