"""What an argument error says, and what is taken after all."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.arguments import accepts, missing, validate
from codemode.catalog.schema import Dialect, Schema
from codemode.catalog.tool import Details, Location, Parameter, Tool
from codemode.errors import ArgumentsInvalid
from codemode.testing import make_tool

BODY: dict[str, Any] = {
    "type": "object",
    "required": ["title"],
    "properties": {"title": {"type": "string"}, "labels": {"type": "array", "items": {"type": "string"}}},
    "minProperties": 1,
}


def _tool(body: dict[str, Any] = BODY) -> Tool:
    whole = Schema.of(body, dialect=Dialect.OPENAPI_3_0)

    def parameter(name: str, location: Location, schema: dict[str, Any], *, required: bool = False) -> Parameter:
        return Parameter(name.replace("-", "_"), name, location, required=required, schema=whole.at(schema))

    parameters = (
        parameter("owner", Location.PATH, {"type": "string"}, required=True),
        parameter("title", Location.BODY_FIELD, body["properties"]["title"], required=True),
        parameter("labels", Location.BODY_FIELD, body["properties"]["labels"]),
        parameter("per-page", Location.QUERY, {"type": "integer", "minimum": 1, "maximum": 100}),
        parameter("milestone", Location.QUERY, {"type": "integer", "nullable": True}),
        parameter("state", Location.QUERY, {"type": "string", "enum": ["open", "closed"]}),
    )
    return Tool("gh.issues.create", source="gh", details=lambda: Details(parameters, body=whole))


TOOL = _tool()


def _error(arguments: dict[str, Any]) -> ArgumentsInvalid:
    with pytest.raises(ArgumentsInvalid) as caught:
        validate(TOOL, arguments)
    return caught.value


def test_valid_arguments_pass_as_they_are() -> None:
    arguments = {"owner": "o", "title": "t", "labels": ["a"], "per_page": 5, "state": "open"}
    assert validate(TOOL, arguments) == arguments


def test_an_unknown_name_is_refused_with_the_nearest_and_all_valid_ones() -> None:
    error = _error({"owner": "o", "titel": "t"})
    assert str(error) == (
        "gh.issues.create: there is no parameter 'titel'; did you mean 'title'? "
        "Valid parameters (* = required): owner*, title*, labels, per_page, milestone, state"
    )
    assert (error.parameter, error.valid[:2]) == ("titel", ("owner", "title"))


def test_a_name_that_is_too_long_for_one_has_no_nearest() -> None:
    assert "titletitle" in str(_error({"owner": "o", "title" * 100: "t"}))
    assert "did you mean" not in str(_error({"owner": "o", "title" * 200: "t"}))


def test_more_values_than_one_call_may_hold_are_refused() -> None:
    arguments = {"owner": "o", "title": "t", "labels": ["a"] * 49_997}
    assert validate(TOOL, arguments) == arguments
    error = _error({**arguments, "per_page": 1})
    assert str(error) == ("gh.issues.create: the arguments hold more than 50,000 values: split them into several calls")


def test_missing_arguments_are_named_with_their_types() -> None:
    assert str(_error({"labels": []})).startswith(
        "gh.issues.create: missing required arguments owner: str, title: str. Valid parameters"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"title": 1.5}, "title: expected str, got float 1.5"),
        ({"labels": "a"}, "labels: expected list[str], got str 'a'"),
        ({"labels": ["a", 2]}, "labels[1]: 2 is not of type 'string'; the parameter is list[str]"),
        ({"per_page": "10&x=1"}, "per_page: expected int, got str '10&x=1'"),
        ({"per_page": True}, "per_page: expected int, got bool True"),
        ({"per_page": 101}, "per_page: 101 is greater than the maximum of 100; expected int"),
        ({"state": "shut"}, 'state: expected Literal["open", "closed"], got str \'shut\''),
        ({"state": ["open"]}, 'state: expected Literal["open", "closed"], got list [\'open\']'),
        ({"owner": None}, "owner: expected str, got None"),
    ],
)
def test_a_wrong_value_is_refused_with_what_was_expected(arguments: dict[str, Any], said: str) -> None:
    assert str(_error({"owner": "o", "title": "t", **arguments})) == f"gh.issues.create: {said}"


@pytest.mark.parametrize(
    ("arguments", "taken"),
    [
        ({"per-page": 5}, {"per_page": 5}),
        ({"per_page": 5.0}, {"per_page": 5}),
        ({"per_page": None}, {}),
        ({"milestone": None}, {"milestone": None}),
        ({"owner": 17}, {"owner": "17"}),
    ],
)
def test_what_can_only_be_meant_one_way_is_taken(arguments: dict[str, Any], taken: dict[str, Any]) -> None:
    assert validate(TOOL, {"owner": "o", "title": "t", **arguments}) == {"owner": "o", "title": "t", **taken}


def test_the_whole_body_may_be_given_instead_of_its_fields() -> None:
    assert validate(TOOL, {"owner": "o", "body": {"title": "t"}}) == {"owner": "o", "body": {"title": "t"}}
    assert "body: expected" in str(_error({"owner": "o", "body": "t"}))
    assert "'title' is a required property" in str(_error({"owner": "o", "body": {"labels": []}}))
    assert "give either body= or its fields (title), not both" in str(_error({"owner": "o", "title": "t", "body": {}}))


def test_of_alternatives_it_is_said_what_each_lacks() -> None:
    body = {**BODY, "oneOf": [{"required": ["lives"]}, {"required": ["bark"]}]}
    with pytest.raises(ArgumentsInvalid) as caught:
        validate(_tool(body), {"owner": "o", "title": "t"})
    assert str(caught.value).endswith("'lives' is a required property, or 'bark' is a required property")


ADDRESS = {
    "type": "object",
    "required": ["city"],
    "properties": {"city": {"type": "string"}, "street": {"type": "string"}, "zip_code": {"type": "string"}},
}


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        (
            {**ADDRESS, "additionalProperties": False},
            {"city": "x", "steet": "y"},
            "there is no field 'steet'; did you mean 'street'? Valid: city, street, zip_code",
        ),
        (
            {**ADDRESS, "additionalProperties": False},
            {"city": "x", "qq": 1},
            "there is no field 'qq'. Valid: city, street, zip_code",
        ),
        (ADDRESS, {"ciity": "x"}, "'city' is a required property; found 'ciity' instead"),
        (ADDRESS, {"qq": "x"}, "'city' is a required property"),
        (
            {"anyOf": [{**ADDRESS, "additionalProperties": False}, {"type": "string"}]},
            {"city": "x", "zipcode": "y"},
            "there is no field 'zipcode'; did you mean 'zip_code'? Valid: city, street, zip_code",
        ),
    ],
)
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_field_that_is_not_there_is_said_with_the_nearest_one(
    schema: dict[str, Any], value: dict[str, Any], said: str, depth: int
) -> None:
    place = ""
    for _ in range(depth):
        schema, value = {"type": "object", "properties": {"in": schema}}, {"in": value}
        place += "['in']"
    parameter = Parameter("address", "address", Location.BODY_FIELD, required=True, schema=Schema.of(schema))
    tool = Tool("x.y.z", source="x", details=lambda: Details((parameter,)))
    with pytest.raises(ArgumentsInvalid) as caught:
        validate(tool, {"address": value})
    assert f"address{place}: " in str(caught.value)
    assert said in str(caught.value)


def test_rules_across_fields_are_checked() -> None:
    body = {**BODY, "not": {"required": ["title", "labels"]}}
    with pytest.raises(ArgumentsInvalid, match="these arguments are invalid together"):
        validate(_tool(body), {"owner": "o", "title": "t", "labels": []})


def test_a_field_that_an_optional_body_requires_is_missed_once_the_body_has_another() -> None:
    whole = Schema.of(BODY)
    parameters = tuple(
        Parameter(name, name, Location.BODY_FIELD, required=False, schema=whole.at(BODY["properties"][name]))
        for name in ("title", "labels")
    )
    tool = Tool("gh.x.y", source="gh", details=lambda: Details(parameters, body=whole))
    assert validate(tool, {}) == {}
    with pytest.raises(ArgumentsInvalid, match="missing required argument title: str"):
        validate(tool, {"labels": []})


def test_preflight_can_ask_by_name_alone() -> None:
    assert [accepts(TOOL, name) for name in ("owner", "per-page", "body", "nope")] == [True, True, True, False]
    assert missing(TOOL, ("title",)) == ("owner",)
    assert missing(TOOL, ("body", "owner")) == ()


def test_of_a_long_enumeration_the_nearest_values_are_named() -> None:
    zones = [f"Region{number}/City" for number in range(100)] + ["Europe/Berlin", "Europe/Bern"]
    tool = make_tool(
        "ns.move", {"zone": {"enum": zones}, "to": {"type": "object", "properties": {"zone": {"enum": zones}}}}
    )
    with pytest.raises(ArgumentsInvalid) as caught:
        validate(tool, {"zone": "berlin"})
    assert "; nearest: 'Europe/Berlin', 'Europe/Bern'" in str(caught.value)
    assert "describe('ns.move.zone') lists all 102" in str(caught.value)
    with pytest.raises(ArgumentsInvalid, match="'berlin' is not one of 102 values; nearest: 'Europe/Berlin'"):
        validate(tool, {"to": {"zone": "berlin"}})
