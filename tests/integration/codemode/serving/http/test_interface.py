"""The OpenAPI document of the HTTP API."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from codemode import CodeMode
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.web.problems import ERRORS_PAGE, problem
from tests.integration.codemode.serving.http.described import check

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[5]


@pytest.fixture
async def document(tmp_path: Path) -> dict[str, Any]:
    async with CodeMode.from_functions(shop=[len]) as service:
        app = create_app(service, Callers({"key": Caller("key")}, KeyFile(tmp_path / "keys.json")))
        return app.openapi()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, found in document["paths"].items():
        for operation in found.values():
            yield path, operation


def test_the_document_is_valid(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    validate(document, cls=OpenAPIV31SpecValidator)


def test_operations_have_short_names_and_a_declared_tag(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, operation in operations(document)]
    assert len(names) == len(set(names)) > 15
    assert {"search", "execute", "get_execution", "cancel_execution", "stream_events", "decide"} <= set(names)
    tags = {tag["name"] for tag in document["tags"]}
    for _, operation in operations(document):
        assert set(operation["tags"]) <= tags
        assert operation["description"]


def test_operations_below_v1_need_a_key_and_declare_their_problems(document: dict[str, Any]) -> None:
    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    for path, operation in operations(document):
        assert (operation.get("security") == [{"key": []}]) is path.startswith("/v1/"), path
        if path.startswith("/v1/"):
            needed = {"200", "401", "429", "default"} | ({"404"} if "{" in path else set())
            assert needed <= set(operation["responses"]), path


def test_every_answer_has_a_schema(document: dict[str, Any]) -> None:
    for path, operation in operations(document):
        for status, response in operation["responses"].items():
            ((media_type, content),) = response["content"].items()
            if status in ("200", "202"):
                assert media_type in ("application/json", "text/event-stream", "application/octet-stream"), path
                assert content["schema"], path
            else:
                assert media_type == "application/problem+json", path
                assert content["schema"] == {"$ref": "#/components/schemas/Problem"}


def test_programs_may_be_accepted_with_their_address(document: dict[str, Any]) -> None:
    for path in ("/v1/execute", "/v1/executions/{execution}/resume", "/v1/executions/{execution}/rollback"):
        assert set(document["paths"][path]["post"]["responses"]["202"]["headers"]) == {"Location", "Retry-After"}


def test_examples_match_their_schema(document: dict[str, Any]) -> None:
    count = 0
    for _, operation in operations(document):
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        for example in body.get("examples", {}).values():
            check(document, body["schema"], example["value"])
            count += 1
    assert count > 5


def test_the_type_of_a_problem_is_an_anchor_of_the_page_of_errors(document: dict[str, Any]) -> None:
    name = problem(404, "tool_not_found", "x")
    content = json.loads(bytes(name.body))
    check(document, {"$ref": "#/components/schemas/Problem"}, content)
    assert content["type"] == f"{ERRORS_PAGE}#tool_not_found"
    page = ROOT / "docs" / "reference" / "errors.md"
    assert ERRORS_PAGE.endswith(str(page.relative_to(ROOT)))
    anchors = re.findall(r'<a id="(\w+)"></a>`(\w+)`', page.read_text(encoding="utf-8"))
    assert len(anchors) > 40
    assert all(anchor == code for anchor, code in anchors)
