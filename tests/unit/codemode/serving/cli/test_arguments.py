"""Arguments of a tool as words of a command line."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.schema import Dialect, Schema
from codemode.catalog.tool import Details, Location, Parameter, Tool
from codemode.errors import ConfigurationError
from codemode.serving.cli.arguments import arguments_of, call_of

ROOT = Schema.of({}, dialect=Dialect.OPENAPI_3_0)
PARAMETERS = tuple(
    Parameter(name.replace("-", "_"), name, Location.QUERY, required=False, schema=ROOT.at(schema))
    for name, schema in (
        ("count", {"type": "integer"}),
        ("phone", {"type": "string"}),
        ("tags", {"type": "array", "items": {"type": "string"}}),
        ("dry-run", {"type": "boolean"}),
    )
)
TOOL = Tool("x.y.z", source="x", details=lambda: Details(PARAMETERS))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("count=3", {"count": 3}),
        ("phone=123", {"phone": "123"}),
        ("phone=true", {"phone": "true"}),
        ('phone="123"', {"phone": "123"}),
        ("phone=a=b", {"phone": "a=b"}),
        ("phone=", {"phone": ""}),
        ("phone=NaN", {"phone": "NaN"}),
        ('tags=["a", "b"]', {"tags": ["a", "b"]}),
        ("dry-run=true", {"dry-run": True}),
        ("dry_run=false", {"dry_run": False}),
        ("count=many", {"count": "many"}),  # the gateway rejects it, and says what is valid
        ("other=1", {"other": 1}),
    ],
)
def test_a_value_is_json_or_the_text_that_the_schema_takes(word: str, expected: dict[str, Any]) -> None:
    assert arguments_of(TOOL, [word]) == expected


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["count"], r"the argument 'count' is not KEY=VALUE; x\.y\.z takes: count, phone, tags, dry_run"),
        (["=3"], "the argument '=3' is not KEY=VALUE"),
        (["tags=a", "tags=b"], "the argument 'tags' is given twice"),
    ],
)
def test_a_word_that_is_no_argument_is_rejected(words: list[str], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        arguments_of(TOOL, words)


def test_a_call_has_keywords_and_unpacks_other_names() -> None:
    assert call_of(TOOL, {}) == "x.y.z()"
    assert call_of(TOOL, {"count": 3, "tags": ["a"]}) == "x.y.z(count=3, tags=['a'])"
    assert (
        call_of(TOOL, {"dry-run": True, "phone": "1", "from": 2}) == "x.y.z(phone='1', **{'dry-run': True, 'from': 2})"
    )
