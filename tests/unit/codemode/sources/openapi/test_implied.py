"""Arguments that a document implies: the type of the answer, and the version to change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog.arguments import validate
from codemode.catalog.catalog import Catalog
from codemode.catalog.stubs import signature
from codemode.gateway.call import ToolCall
from codemode.gateway.gateway import Gateway
from codemode.sources.openapi.document import load_openapi
from codemode.transports.base import CallContext
from codemode.transports.http.transport import HttpTransport, Reach
from tests.unit.codemode.transports.recorder import Answered

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from tests.unit.codemode.transports.recorder import Recorder

ROWS = {"schema": {"type": "array", "items": {"type": "object"}}}
ETAG = {"200": {"description": "", "headers": {"ETag": {}}}}


def _tools(**methods: Any) -> dict[str, Tool]:
    operations = {name: {"operationId": name, "responses": {}, **operation} for name, operation in methods.items()}
    tools = load_openapi({"openapi": "3.1.0", "paths": {"/t": operations}}, name="api").tools
    return {tool.id.rpartition(".")[2]: tool for tool in tools}


def _answering(*types: str, **more: Any) -> Tool:
    content = {name: ROWS if name == "application/json" else {} for name in types}
    return _tools(get={"responses": {"200": {"description": "", "content": content}}, **more})["get"]


@pytest.mark.parametrize(
    ("types", "choice"),
    [
        (("application/json", "text/csv", "application/pdf"), ["application/json", "text/csv", "application/pdf"]),
        (("text/csv", "application/pdf"), ["text/csv", "application/pdf"]),
        (("application/json", "application/xml", "text/plain", "text/json"), None),
        (("application/json", "application/vnd.api+json"), None),
        (("application/json", "text/event-stream"), None),
        (("text/csv",), None),
    ],
)
def test_the_type_of_the_answer_can_be_chosen_where_types_differ(types: tuple[str, ...], choice: list[str]) -> None:
    parameter = _answering(*types).parameter("accept")
    assert (parameter.schema.get("enum") if parameter else None) == choice


def test_a_declared_accept_header_counts_first() -> None:
    accept = {"name": "Accept", "in": "header", "schema": {"enum": ["application/json", "application/vnd.x.raw+json"]}}
    parameter = _answering("application/json", parameters=[accept]).parameter("accept")
    assert parameter is not None
    assert parameter.schema.get("enum") == ["application/json", "application/vnd.x.raw+json"]


async def test_the_chosen_type_is_asked_for_and_its_answer_is_not_compared(recorder: Recorder) -> None:
    recorder.answer = lambda seen: (
        Answered(headers={"Content-Type": "text/csv"}, body=b"a,b\r\n1,2\r\n")
        if seen.headers["Accept"] == "text/csv"
        else Answered(body=b"[]")
    )
    tool = _answering("application/json", "text/csv")
    transport = HttpTransport(Reach("api", recorder.url))
    gateway = Gateway(Catalog((tool,)), {"api": transport})
    chosen = await gateway.call(ToolCall("e", "1", tool.id, {"accept": "text/csv"}))
    usual = await gateway.call(ToolCall("e", "2", tool.id, {}))
    await transport.aclose()
    assert (chosen.value, chosen.note, usual.value) == ("a,b\r\n1,2\r\n", "", [])
    assert recorder.received[1].headers["Accept"] == "application/json"


@pytest.mark.parametrize(
    ("methods", "takes"),
    [
        ({"put": {"responses": {"412": {"description": ""}}}}, True),
        ({"patch": {"responses": {"428": {"description": ""}}}}, True),
        ({"get": {"responses": ETAG}, "put": {}}, True),
        ({"get": {"responses": ETAG}}, False),
        ({"put": {}}, False),
    ],
)
def test_a_conditional_write_takes_the_version_that_it_changes(methods: dict[str, Any], takes: bool) -> None:
    tool = _tools(**methods)[[*methods][-1]]
    assert ("If_Match" in signature(tool)) is takes
    if takes:
        assert validate(tool, {"If_Match": '"v1"'}) == {"If_Match": '"v1"'}


def test_a_declared_condition_stays_as_it_is() -> None:
    declared = {"name": "if-match", "in": "header", "required": True, "schema": {"type": "string"}}
    tool = _tools(put={"responses": {"412": {"description": ""}}, "parameters": [declared]})["put"]
    assert [(p.wire_name, p.required) for p in tool.parameters] == [("if-match", True)]


@pytest.mark.parametrize("place", ["header", "query"])
@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"type": "string", "default": "2024-08-13"}, "2024-08-13"),
        ({"type": "boolean", "default": True}, "true"),
        ({"type": "string", "enum": ["json"]}, "json"),
        ({"const": 2}, "2"),
    ],
)
async def test_a_required_argument_whose_value_the_document_fixes_is_filled_in(
    recorder: Recorder, place: str, schema: dict[str, Any], sent: str
) -> None:
    needed = {"name": "X-Api", "in": place, "required": True, "schema": schema}
    tool = _answering("application/json", parameters=[needed])
    transport = HttpTransport(Reach("api", recorder.url))
    await transport.call(tool, validate(tool, {}), CallContext())
    await transport.aclose()
    received = recorder.received[-1]
    assert (received.headers.get("X-Api") or received.target.partition("=")[2]) == sent


def test_a_required_argument_without_a_fixed_value_stays_required() -> None:
    needed = {"name": "X-Api", "in": "header", "required": True, "schema": {"enum": ["a", "b"]}}
    assert [p.required for p in _answering("application/json", parameters=[needed]).parameters] == [True]
