"""Documents become tools, operation by operation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog import stubs
from codemode.catalog.catalog import Catalog
from codemode.catalog.checks import quick_check
from codemode.catalog.tool import Effect, Location
from codemode.catalog.validation import fits
from codemode.errors import SourceError
from codemode.sources.documents.parse import parse_document
from codemode.sources.openapi.document import load_openapi
from tests.documents import SMALL, check_loads_whole, published

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from codemode.catalog.tool import Tool


def _document(path: str, operation: dict[str, Any], method: str = "post", **rest: Any) -> dict[str, Any]:
    return {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {path: {method: operation}}, **rest}


def _only(document: dict[str, Any]) -> Tool:
    surface = load_openapi(document, name="api")
    assert len(surface.tools) == 1, surface.warnings
    return surface.tools[0]


def _signature(operation: dict[str, Any], path: str = "/x", method: str = "post", **rest: Any) -> str:
    return stubs.signature(_only(_document(path, {"operationId": "op", "tags": ["t"], **operation}, method, **rest)))


@pytest.mark.parametrize(
    ("path", "operation", "method", "effect", "word"),
    [
        ("/clients/bulk", {"operationId": "bulk_delete_clients"}, "post", "destructive", "delete"),
        ("/clients/bulk-delete", {"operationId": "clientsBulk"}, "post", "destructive", "delete"),
        ("/items:batchDelete", {}, "post", "destructive", "delete"),
        ("/api/{id}", {"summary": "Reset", "description": "Wipes the store."}, "put", "destructive", "reset"),
        ("/clients", {"operationId": "listDeleted", "summary": "Lists deleted clients"}, "get", "read", ""),
        ("/clients/{id}", {"operationId": "deleteClient"}, "delete", "destructive", ""),
        ("/clients", {"operationId": "create", "description": "Does not delete anything."}, "post", "write", ""),
    ],
)  # fmt: skip
def test_the_words_of_an_operation_add_to_its_method(
    path: str, operation: dict[str, Any], method: str, effect: str, word: str
) -> None:
    tool = _only(_document(path, operation, method))

    assert (tool.effect, tool.effect_word) == (effect, word)


def test_server_sent_events_are_a_list() -> None:
    stream = {"text/event-stream; charset=utf-8": {"schema": {"type": "string"}}}
    signature = _signature({"responses": {"200": {"description": "", "content": stream}}}, method="get")
    assert signature == "api.t.op() -> list[dict]"


def test_an_operation_becomes_a_tool() -> None:
    operation = {
        "operationId": "clients/get-list",
        "tags": ["clients", "more"],
        "summary": "Get clients",
        "description": "All of them.",
        "deprecated": True,
        "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}, "description": "How many"}],
        "responses": {"200": {"content": {"application/json": {"schema": {"type": "array"}}}}},
    }
    tool = _only(_document("/clients", operation, "get"))
    assert tool.id == "api.clients.get_list"
    assert (tool.summary, tool.description, tool.effect, tool.deprecated) == (
        "Get clients", "All of them.", Effect.READ, True,
    )  # fmt: skip
    assert tool.tags == ("clients", "more")
    assert "clients/get-list" in tool.aliases
    assert tool.retrieval_text == "clients/get-list GET /clients"
    assert [(p.name, p.location, p.required, p.description) for p in tool.parameters] == [
        ("limit", Location.QUERY, False, "How many")
    ]
    assert stubs.signature(tool) == "api.clients.get_list(*, limit: int | None = None) -> list  # Get clients"


@pytest.mark.parametrize(
    ("summary", "description", "shown"),
    [
        ("List Templates", "The templates for messages. By name.", "The templates for messages"),
        ("List Templates", "", "List Templates"),
        ("List templates by name", "All of them.", "List templates by name"),
        ("", "The templates. By name.", "The templates"),
    ],
)
def test_a_summary_that_only_says_the_name_gives_way_to_the_description(
    summary: str, description: str, shown: str
) -> None:
    operation = {"operationId": "list_templates_templates_get", "summary": summary, "description": description}
    assert _only(_document("/templates", operation, "get")).summary == shown


@pytest.mark.parametrize(
    ("method", "effect"),
    [("get", Effect.READ), ("head", Effect.READ), ("post", Effect.WRITE), ("patch", Effect.WRITE),
     ("delete", Effect.DESTRUCTIVE)],
)  # fmt: skip
def test_the_effect_follows_the_method(method: str, effect: Effect) -> None:
    assert _only(_document("/x", {"operationId": "op"}, method)).effect is effect


def test_path_and_operation_parameters_are_merged_and_headers_of_the_transport_dropped() -> None:
    names = ("Authorization", "Accept", "content-type", "X-Trace", "X-Api-Key")
    headers = [{"name": name, "in": "header", "schema": {"type": "string"}} for name in names]
    document = _document("/x/{id}", {"operationId": "op", "tags": ["t"], "parameters": headers}, "get")
    document["paths"]["/x/{id}"]["parameters"] = [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
        {"name": "X-Trace", "in": "header", "schema": {"type": "integer"}},
    ]
    document["components"] = {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-API-Key"}}}
    assert stubs.signature(_only(document)) == "api.t.op(*, id: int, X_Trace: str | None = None) -> Any"


def test_a_placeholder_that_nobody_declares_is_a_text() -> None:
    assert _signature({}, "/x/{id}/{other}", "get") == "api.t.op(*, id: str, other: str) -> Any"


def test_the_fields_of_an_object_body_are_arguments() -> None:
    body = {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["name", "id"],
                    "properties": {
                        "id": {"type": "integer", "readOnly": True},
                        "name": {"type": "string"},
                        "from": {"type": "string"},
                        "dryRun": {"type": "boolean"},
                    },
                }
            }
        },
    }
    parameters = [{"name": "dryRun", "in": "query", "schema": {"type": "string"}}]
    assert _signature({"requestBody": body, "parameters": parameters}) == (
        "api.t.op(*, name: str, dryRun: str | None = None, from_: str | None = None, body_dryRun: bool | None = None)"
        " -> Any"
    )


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "array", "items": {"type": "string"}}, "api.t.op(*, body: list[str]) -> Any"),
        ({}, "api.t.op(*, body: Any = None) -> Any"),
        (
            {"oneOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "object", "properties": {"a": {}}}]},
            'api.t.op(*, body: list[int] | {"a"?: Any}) -> Any',
        ),
        (
            {
                "oneOf": [
                    {"type": "object", "required": ["kind", "a"], "properties": {"kind": {"enum": ["x"]}, "a": {}}},
                    {"type": "object", "required": ["kind"], "properties": {"kind": {"enum": ["y"]}, "b": {}}},
                ]
            },
            'api.t.op(*, kind: Literal["x", "y"], a: Any = None, b: Any = None) -> Any',
        ),
        (
            {"type": "object", "required": ["a", "undeclared"], "properties": {"a": {"type": "integer"}}},
            "api.t.op(*, a: int, undeclared: Any) -> Any",
        ),
    ],
)
def test_bodies_that_are_no_plain_objects(schema: dict[str, Any], expected: str) -> None:
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    signature = _signature({"requestBody": body})
    assert signature.replace("dict", '{"a"?: Any}') == expected


def test_a_body_that_must_have_something_in_it_is_required_though_nobody_says_so() -> None:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
    body = {"content": {"application/json": {"schema": schema}}}
    assert _signature({"requestBody": body}) == "api.t.op(*, a: int) -> Any"
    assert _signature({"requestBody": body}, method="delete").startswith("api.t.op(*, a: int | None = None) -> Any")


def test_a_body_that_can_hold_nothing_is_no_argument() -> None:
    body = {"content": {"application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {}}}}}
    assert _signature({"requestBody": body}, method="get") == "api.t.op() -> Any"


@pytest.mark.parametrize(
    ("responses", "expected"),
    [
        ({"204": {"description": "gone"}}, "None"),
        ({"200": {"content": {"application/json": {"schema": {"type": "integer"}}}}}, "int"),
        ({"200": {"content": {"text/csv": {}}}}, "str"),
        ({"200": {"content": {"image/png": {}}}}, "Content"),
        ({"201": {"content": {"application/vnd.x+json": {"schema": {"type": "boolean"}}}}}, "bool"),
        ({"default": {"content": {"application/json": {"schema": {"type": "string"}}}}}, "str"),
        ({"200": {"$ref": "#/components/responses/Nowhere"}}, "Any"),
        ({}, "Any"),
    ],
)
def test_the_result_is_that_of_the_successful_answer(responses: dict[str, Any], expected: str) -> None:
    assert _signature({"responses": responses}).endswith(f"-> {expected}")


def test_what_cannot_be_read_costs_no_other_operation() -> None:
    document = {
        "openapi": "3.1.0",
        "paths": {
            "/good": {
                "get": {"operationId": "good", "parameters": "none", "tags": 7, "responses": [], "requestBody": 1}
            },
            "/bad": 17,
            "/worse": {"get": "text", "put": {"$ref": "#/nowhere"}, "post": {"operationId": 5, "parameters": [1, {}]}},
        },
    }
    surface = load_openapi(document, name="api")
    assert sorted(tool.id for tool in surface.tools) == ["api.good.good", "api.worse.create"]
    assert [stubs.full(tool) for tool in surface.tools]
    assert [warning.pointer for warning in surface.warnings] == [
        "/paths/~1bad",
        "/paths/~1worse/get",
        "/paths/~1worse/put",
        "/paths/~1good/get/parameters",
        "/paths/~1good/get/requestBody",
        "/paths/~1worse/post/parameters/0",
        "/paths/~1worse/post/parameters/1",
    ]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "is a list: an API document"),
        ({"info": {}}, "neither `openapi: 3.x` nor `swagger: 2.0` at the top level (found: info)"),
        ({"openapi": "3.1.0", "paths": []}, "`paths` is not a mapping"),
    ],
)
def test_what_is_no_api_document_is_refused(document: Any, said: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_openapi(document, name="api", uri="file:///api.json")
    assert said in str(caught.value)


def test_swagger_2_0_is_read_too() -> None:
    document = {
        "swagger": "2.0",
        "host": "api.example.com",
        "basePath": "/v2",
        "schemes": ["http", "https"],
        "consumes": ["application/json"],
        "definitions": {"Pet": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
        "paths": {
            "/pets": {
                "post": {
                    "operationId": "addPet",
                    "tags": ["pets"],
                    "parameters": [
                        {"in": "body", "name": "pet", "required": True, "schema": {"$ref": "#/definitions/Pet"}},
                        {"in": "query", "name": "tags", "type": "array", "items": {"type": "string"}},
                    ],
                    "responses": {"200": {"schema": {"$ref": "#/definitions/Pet"}}},
                }
            },
            "/upload": {
                "post": {
                    "operationId": "upload",
                    "parameters": [
                        {"in": "formData", "name": "file", "type": "file", "required": True},
                        {"in": "formData", "name": "note", "type": "string"},
                    ],
                }
            },
        },
    }
    surface = load_openapi(document, name="api")
    assert surface.servers == ("https://api.example.com/v2",)
    assert [stubs.signature(tool) for tool in surface.tools] == [
        "api.pets.add_pet(*, name: str, tags: list[str] | None = None) -> Pet",
        "api.upload.upload(*, file: Content, note: str | None = None) -> Any",
    ]


@pytest.mark.parametrize("name", SMALL)
def test_real_documents_load_whole(name: str, shared_data: Callable[[str], Path]) -> None:
    check_loads_whole(published(shared_data, name), name, SMALL[name])


def test_ids_are_those_that_programs_are_written_for(shared_data: Callable[[str], Path]) -> None:
    lines = (shared_data("programs") / "programs.jsonl").read_text(encoding="utf-8").splitlines()
    called = {name for line in lines for name in json.loads(line)["operations"] if name.startswith("github.")}
    catalog = Catalog(load_openapi(parse_document(published(shared_data, "github.json")), name="github").tools)
    assert len(called) > 50
    assert all(catalog.get(name) for name in called)  # raises ToolNotFound for a name that is no exact one


def test_of_two_operations_of_one_method_and_path_the_first_counts() -> None:
    answers = {"responses": {"200": {"description": ""}}}
    path = {
        "get": {"operationId": "wipe", "summary": "Delete everything.", **answers},
        "additionalOperations": {"GET": {"operationId": "look", "summary": "Look.", **answers}},
    }
    surface = load_openapi(
        {"openapi": "3.2.0", "info": {"title": "x", "version": "1"}, "paths": {"/a": path}}, name="s"
    )
    assert [(tool.summary, tool.effect) for tool in surface.tools] == [("Delete everything.", Effect.DESTRUCTIVE)]
    (warning,) = surface.warnings
    assert warning == ("/paths/~1a/additionalOperations/GET", "GET /a is described twice: the first one counts")


def test_a_placeholder_with_a_mark_is_filled_by_the_declared_parameter() -> None:
    parameter = {"name": "path", "in": "path", "required": True, "schema": {"type": "string"}}
    tool = _only(_document("/key/{**path}", {"parameters": [parameter]}, "get"))

    assert [one.name for one in tool.parameters] == ["path"]
    assert tool.invocation.path == "/key/{path}"
    assert tool.invocation.expanded == {"path"}
    assert tool.key == "GET /key/{**path}"


def test_a_list_in_a_cookie_of_its_own_style_repeats_the_name() -> None:
    color = {"name": "color", "in": "cookie", "style": "cookie", "schema": {"type": "array"}}
    (parameter,) = _only(_document("/x", {"parameters": [color]}, "get")).parameters
    assert (parameter.style, parameter.explode) == ("cookie", True)


def test_the_extension_of_swagger_allows_null() -> None:
    due = {"name": "due", "in": "query", "type": "string", "enum": ["a"], "x-nullable": True}
    document = {"swagger": "2.0", "paths": {"/x": {"get": {"parameters": [due]}}}}
    (parameter,) = _only(document).parameters
    assert parameter.schema.is_nullable()
    assert fits(parameter.schema, None)
    assert quick_check(parameter.schema)(None)
