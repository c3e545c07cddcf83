"""JSON with comments is edited in place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.text import jsonc

SETTINGS = """// My settings
{
    "theme": "One", // the dark one
    "servers": {
        /* first */
        "a": {"command": "x"}, // kept
    },
}
"""


def test_a_member_is_added_in_the_layout_of_its_neighbours() -> None:
    assert (
        jsonc.with_member(SETTINGS, ["servers", "b"], {"command": "y"})
        == """// My settings
{
    "theme": "One", // the dark one
    "servers": {
        /* first */
        "a": {"command": "x"}, // kept
        "b": {
            "command": "y"
        }
    },
}
"""
    )


def test_a_member_is_replaced_where_it_is() -> None:
    assert jsonc.with_member(SETTINGS, ["servers", "a"], 1) == SETTINGS.replace('{"command": "x"}', "1")


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("", ["a", "b"], '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("{}", ["a"], '{\n  "a": 1\n}'),
        ('{"z": 2} // end', ["a"], '{"z": 2,\n  "a": 1\n} // end'),
        ("{\n\t// none yet\n}", ["a"], '{\n\t// none yet\n\t"a": 1\n}'),
        ('{"a": 0, "a": 2}', ["a"], '{"a": 0, "a": 1}'),  # readers take the last one
    ],
)
def test_missing_objects_are_created(text: str, path: list[str], expected: str) -> None:
    assert jsonc.with_member(text, path, 1) == expected


def test_an_item_is_appended_to_an_array() -> None:
    assert jsonc.loads(jsonc.with_item('{"inputs": [1, /* two */ 2,]}', "inputs", 3)) == {"inputs": [1, 2, 3]}
    assert jsonc.loads(jsonc.with_item("", "inputs", 3)) == {"inputs": [3]}
    with pytest.raises(ValueError, match="inputs is not an array"):
        jsonc.with_item('{"inputs": {}}', "inputs", 3)


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        (SETTINGS, ["servers", "a"], SETTINGS.replace('        "a": {"command": "x"}, // kept\n', "")),
        ('{"a": 1, "b": 2}', ["b"], '{"a": 1}'),
        ('{"a": 1, "b": 2}', ["a"], '{ "b": 2}'),
        ('{\n  "a": 1, // one\n  "b": 2\n}', ["b"], '{\n  "a": 1 // one\n}'),
        ('{"a": 1}', ["a"], "{}"),
    ],
)
def test_a_member_is_removed_with_its_comma_and_its_line(text: str, path: list[str], expected: str) -> None:
    assert jsonc.without_member(text, path) == expected


def test_an_unknown_member_is_not_removed() -> None:
    for path in (["c"], ["servers", "c"], ["c", "d"]):
        with pytest.raises(KeyError):
            jsonc.without_member(SETTINGS, path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{\n  a: 1\n}", "line 2, column 3: expected a key in double quotes"),
        ('{"a" 1}', "line 1, column 6: expected a colon"),
        ('{"a": 1 "b": 2}', "line 1, column 9: expected a comma or }"),
        ('{"a": }', "line 1, column 7: expected a value"),
        ('{"a": 1} x', "line 1, column 10: expected the end of the document"),
        ('{"a": "', "line 1, column 7: expected a value"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_mistake_is_located(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        jsonc.loads(text)


def test_a_path_through_a_scalar_is_rejected() -> None:
    with pytest.raises(ValueError, match="theme is not an object"):
        jsonc.with_member(SETTINGS, ["theme", "x"], 1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)


@given(OBJECTS, st.sampled_from("abcd"), VALUES, st.sampled_from([None, 2, "\t"]))
def test_an_edit_changes_one_member_and_nothing_else(
    content: dict[str, object], key: str, value: object, indent: int | str | None
) -> None:
    text = json.dumps(content, indent=indent)
    edited = jsonc.with_member(text, [key], value)
    assert jsonc.loads(edited) == {**content, key: value}
    left = {name: one for name, one in content.items() if name != key}
    assert jsonc.loads(jsonc.without_member(edited, [key])) == left
