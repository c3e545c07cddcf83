"""Nothing that a document says is dropped in silence."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.errors import SourceError
from codemode.sources.documents.parse import parse_document
from codemode.sources.loaded import SourceWarning
from codemode.sources.openapi.document import load_openapi


def _warnings(
    operation: dict[str, Any], *, path: str = "/x", item: dict[str, Any] | None = None
) -> list[SourceWarning]:
    document = {"openapi": "3.0.3", "paths": {path: {**(item or {}), "get": operation}}}
    surface = load_openapi(document, name="api")
    assert len(surface.tools) == 1
    return list(surface.warnings)


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ({"name": "a", "in": "body"}, "'a' has `in: body`, which is not one of path, query, header, cookie"),
        ({"name": "a"}, "'a' has `in: None`"),
        ({"in": "query"}, "has no name"),
        ({"$ref": "#/components/parameters/Gone"}, "refers to '#/components/parameters/Gone', which is not a"),
        ("text", "is a string, not a parameter"),
        ({"name": "id", "in": "path"}, "'id' is a path parameter, but the path has no {id}"),
    ],
)
def test_a_parameter_that_is_none_costs_itself_and_is_said(parameter: Any, said: str) -> None:
    good = {"name": "good", "in": "query"}
    (warned,) = _warnings({"parameters": [good, parameter]})
    assert warned.pointer == "/paths/~1x/get/parameters/1"
    assert said in warned.reason
    assert warned.reason.endswith("it is ignored")


def test_parameters_that_are_no_list_are_said_once_for_a_path() -> None:
    document = {"openapi": "3.0.3", "paths": {"/x": {"parameters": {}, "get": {}, "put": {"parameters": "a"}}}}
    assert [warned.pointer for warned in load_openapi(document, name="api").warnings] == [
        "/paths/~1x/parameters",
        "/paths/~1x/put/parameters",
    ]


def test_a_hole_in_the_path_that_nobody_declares_is_said() -> None:
    (warned,) = _warnings({}, path="/x/{id}")
    assert warned == SourceWarning("/paths/~1x~1{id}/get", "{id} in the path is not declared: it is used as a string")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"$ref": "#/nowhere"}, "refers to '#/nowhere', which is not a body"),
        ([], "is a list, not a body"),
        ({"content": {}}, "has no `content`"),
    ],
)
def test_a_body_that_is_none_is_said(body: Any, said: str) -> None:
    (warned,) = _warnings({"requestBody": body})
    assert warned.pointer == "/paths/~1x/get/requestBody"
    assert said in warned.reason


@pytest.mark.parametrize(
    ("text", "place"),
    [('{"a": {"b/c": {"d": 1, "d": 2}}}', "/a/b~1c"), ("a:\n  d: 1\n  d: 2\n", "line 3")],
)
def test_a_key_that_stands_twice_is_said_with_its_place(text: str, place: str) -> None:
    warnings: list[SourceWarning] = []
    parse_document(text, warnings=warnings)
    assert warnings == [SourceWarning(place, "the key 'd' occurs more than once: its last value is used")]


@pytest.mark.parametrize(
    ("document", "said"),
    [(None, "is empty"), ([], "is a list"), ("text", "is a string"), (3, "is a number")],
)
def test_what_is_no_document_is_said_in_words_of_documents(document: Any, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        load_openapi(document, name="api")


def test_openapi_3_2_has_queries_further_methods_whole_queries_streams_and_a_name() -> None:
    form = {"application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {"a": {}}}}}
    stream = {"application/jsonl": {"itemSchema": {"$ref": "https://api.test/root.json#/components/schemas/Event"}}}
    whole = {"name": "filter", "in": "querystring", "content": form}
    document = {
        "openapi": "3.2.0",
        "$self": "https://api.test/root.json",
        "components": {"schemas": {"Event": {"type": "object", "properties": {"id": {"type": "integer"}}}}},
        "paths": {
            "/x": {
                "query": {"operationId": "find", "parameters": [whole]},
                "additionalOperations": {
                    "COPY": {"operationId": "copy", "responses": {"200": {"content": stream}}},
                    "NO METHOD": {},
                },
            }
        },
    }
    surface = load_openapi(document, name="api", uri="file:///somewhere.json")
    tools = {tool.key: tool for tool in surface.tools}
    assert set(tools) == {"QUERY /x", "COPY /x"}
    assert [parameter.name for parameter in tools["QUERY /x"].parameters] == ["filter"]
    returns = tools["COPY /x"].returns
    assert returns is not None
    items = returns.items()
    assert items is not None
    assert list(items.resolved().properties()) == ["id"]
    (warned,) = surface.warnings
    assert warned.pointer == "/paths/~1x/additionalOperations/NO METHOD"


@pytest.mark.parametrize(
    ("parameter", "may"),
    [
        ({"schema": {"type": "string", "pattern": "arn:aws:[a-z]+:.*/.*"}}, True),
        ({"schema": {"type": "string", "pattern": "^[^/]+$"}}, False),
        ({"schema": {"type": "string", "example": "172.16.0.0%2F16"}}, True),
        ({"schema": {"type": "string"}, "description": "The ID or URL-encoded path of the project"}, True),
        ({"schema": {"type": "string"}, "description": "The ID of the project"}, False),
    ],
)
def test_a_path_parameter_may_hold_slashes_where_the_document_shows_it(parameter: dict[str, Any], may: bool) -> None:
    operation = {"parameters": [{"name": "project", "in": "path", "required": True, **parameter}]}
    (tool,) = load_openapi({"openapi": "3.0.3", "paths": {"/x/{project}": {"get": operation}}}, name="api").tools
    assert tool.invocation.slashed == ({"project"} if may else frozenset())


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("Authorization", "set it with `credentials`"),
        ("user-agent", "set it with `headers`"),
        ("Content-Encoding", "bodies are sent without compression"),
        ("Cookie", "set it with `credentials` of kind api_key and location: cookie"),
    ],
)
def test_a_header_that_the_source_sets_is_named_once(name: str, advice: str) -> None:
    parameters = [{"name": name, "in": "header", "schema": {"type": "string"}}]
    paths = {path: {"get": {"parameters": parameters}} for path in ("/a", "/b", "/c")}
    (warned,) = load_openapi({"openapi": "3.0.3", "paths": paths}, name="api").warnings
    assert warned.pointer == "/paths/~1a/get/parameters/0"
    assert warned.reason == f"the header {name.title()} is no argument (and 2 more parameters): {advice}"


def test_a_declared_scheme_explains_the_header() -> None:
    operation = {
        "parameters": [{"name": "Authorization", "in": "header"}, {"name": "Accept", "in": "header"}],
        "security": [{"token": []}],
    }
    schemes = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}
    document = {"openapi": "3.0.3", "paths": {"/a": {"get": operation}}, "components": schemes}
    assert load_openapi(document, name="api").warnings == ()
