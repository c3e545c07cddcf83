"""Documents as text: everything in them survives as JSON data."""

from __future__ import annotations

import json

import pytest

from codemode.errors import SourceError
from codemode.sources.documents.parse import parse_document


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ("\ufeff{}", {}),
        ("a: 1", {"a": 1}),
        ("responses:\n  200: ok\n  default: no", {"responses": {"200": "ok", "default": "no"}}),
        ("day: 2024-01-31\ntime: 2024-01-31T10:00:00Z", {"day": "2024-01-31", "time": "2024-01-31T10:00:00Z"}),
        ("country: NO\nanswer: yes\nflag: true", {"country": "NO", "answer": "yes", "flag": True}),
        ("big: 18446744073709551615", {"big": 18446744073709551615}),
        ("time: 12:30\nzip: 0123", {"time": "12:30", "zip": 123}),
        ("float: 1e3\nnothing: ~\nhex: 0x1F", {"float": 1000.0, "nothing": None, "hex": 31}),
        ("base: &b {x: 1}\nmore:\n  <<: *b\n  y: 2", {"base": {"x": 1}, "more": {"x": 1, "y": 2}}),
        ("on: 1\ntrue: 2", {"on": 1, "true": 2}),
        ("a: =", {"a": "="}),
        ("{a: 1, b: [x]}", {"a": 1, "b": ["x"]}),
    ],
)
def test_json_and_yaml_give_json_data(text: str, expected: object) -> None:
    found = parse_document(text)
    assert found == expected
    assert json.loads(json.dumps(found)) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1, 2", "api.yaml: not JSON or YAML: "),
        ("a: b: c", "in line 1, column 5"),
        ('{"a": 1,, "b": 2}', "not JSON: Expecting property name"),
        ("%&#\x00", "api.yaml: not JSON or YAML"),
        ("\n<!DOCTYPE html><html></html>", "is an HTML or XML page"),
        ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
        (
            "a: 1\nb: " + "7" * 5000,
            "a number of 5,000 digits is too long, at most 4,300 are read; quote it to read it as text in line 2",
        ),
        ("a: 0x" + "f" * 5000, "a number of 5,002 digits is too long, at most 4,300"),
        (
            '{"id": "' + "7" * 5000 + '",\n "b": ' + "7" * 5000 + "}",
            "a number of 5,000 digits is too long, at most 4,300",
        ),
        ('{"id": "' + "7" * 5000 + '",\n "b": -' + "7" * 5000 + "}", "quote it to read it as text: line 2 column 7"),
        ("a: !!float soon", "this value looks like float, but is not valid; quote it to read it as text in l"),
    ],
    ids=["flow", "colons", "json", "bytes", "html", "python", "digits", "hex", "json-digits", "json-place", "float"],
)
def test_a_malformed_text_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_document(text, location="api.yaml")
    assert said in str(caught.value)
    assert caught.value.location == "api.yaml"


def test_an_alias_is_the_part_it_names() -> None:
    found = parse_document("base: &b {x: [1]}\nleft: *b\nright: {inner: *b}")
    assert found == {"base": {"x": [1]}, "left": {"x": [1]}, "right": {"inner": {"x": [1]}}}


def test_aliases_that_multiply_are_refused_at_the_cost_of_their_text() -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 20))
    with pytest.raises(SourceError, match=r"bomb.yaml: .*aliases expand to more than 2,000,000 values"):
        parse_document(f"l0: &l0 [x]\n{levels}", location="bomb.yaml")


@pytest.mark.parametrize("text", ["&a [*a]", "paths: &p\n  /a: *p", "a: &x\n  b: &y\n    c: *x\n  d: *y"])
def test_an_alias_inside_of_what_it_names_is_refused(text: str) -> None:
    with pytest.raises(SourceError, match="expands without end"):
        parse_document(text)


@pytest.mark.parametrize(
    ("text", "said"), [('{"a": "\\ud800"}', "surrogate pair"), ('{"\\udFFf": 1}', "surrogate pair")]
)
def test_half_a_character_is_refused_because_it_cannot_be_sent_on(text: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        parse_document(text)


def test_a_character_of_two_escapes_is_one_character() -> None:
    assert parse_document(r'{"a": "\ud83d\ude00", "b": "\\ud800"}') == {"a": "\U0001f600", "b": "\\ud800"}


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_json_cannot_hold_stays_text(constant: str) -> None:
    assert parse_document(f'{{"a": {constant}}}') == {"a": constant}


def test_deep_nesting_is_refused_and_not_a_crash() -> None:
    for text in (
        "[" * 100_000,
        "[" * 5_000 + "]" * 5_000,
        '{"a":' * 901 + "1" + "}" * 901,
        "- " * 100_000,
        "a: " + "{b: " * 50_000,
        "\n".join(" " * n + "a:" for n in range(1_500)),
    ):
        with pytest.raises(SourceError, match="nested deeper than 900 levels"):
            parse_document(text, location="deep")
