"""The media type of a body that is declared in several, chosen by what was passed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog.arguments import validate
from codemode.catalog.stubs import full
from codemode.errors import ArgumentsInvalid, UpstreamError
from codemode.sources.openapi.document import load_openapi
from codemode.transports.base import CallContext
from codemode.transports.content import Content, ContentStore
from codemode.transports.http.transport import HttpTransport, Reach
from tests.unit.codemode.transports.recorder import Answered

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from tests.unit.codemode.transports.recorder import Received, Recorder

JSON, FORM, MULTIPART = "application/json", "application/x-www-form-urlencoded", "multipart/form-data"
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
FILE = {"type": "string", "format": "binary"}
CONTENTS = ContentStore()
TABLE = CONTENTS.put(Content(b"a,b", "text/csv", "t.csv"), "")
PICTURE = CONTENTS.put(Content(b"\x89PNG", "image/png", "p.png"), "")


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _tool(content: dict[str, Any] | None, *, method: str = "post", required: bool = True) -> Tool:
    media = {name: {"schema": schema} for name, schema in (content or {}).items()}
    body = {} if content is None else {"requestBody": {"required": required, "content": media}}
    document = {"openapi": "3.1.0", "paths": {"/t": {method: {"operationId": "op", "responses": {}, **body}}}}
    return load_openapi(document, name="api").tools[0]


async def _sent(recorder: Recorder, tool: Tool, **arguments: Any) -> Received:
    transport = HttpTransport(Reach("api", recorder.url, retries=0), contents=CONTENTS)
    try:
        await transport.call(tool, validate(tool, arguments), CallContext())
    finally:
        await transport.aclose()
    return recorder.received[-1]


SAME = _object(file=FILE, note=TEXT)
APART = {JSON: _object(url=TEXT, note=TEXT), MULTIPART: _object(file=FILE, note=TEXT)}
EDIT = {JSON: _object(image=TEXT), MULTIPART: _object(image=FILE)}
PATCH = {"application/json-patch+json": {"type": "array", "items": {}}, "application/merge-patch+json": _object(a=TEXT)}
RAW = {JSON: _object(a=TEXT), "text/csv": TEXT, "application/octet-stream": FILE}


@pytest.mark.parametrize(
    ("content", "arguments", "media_type"),
    [
        ({JSON: SAME, FORM: SAME, MULTIPART: SAME}, {"file": PICTURE, "note": "x"}, MULTIPART),
        ({JSON: SAME, FORM: SAME, MULTIPART: SAME}, {"file": "text", "note": "x"}, MULTIPART),
        ({JSON: SAME, FORM: SAME, MULTIPART: SAME}, {"note": "x"}, JSON),
        ({JSON: _object(a=FILE)}, {"a": {"$base64": "aGk="}}, JSON),
        (APART, {"url": "https://x.test/p.png", "note": "x"}, JSON),
        (APART, {"file": PICTURE}, MULTIPART),
        (APART, {"file": "text", "note": "x"}, MULTIPART),
        (EDIT, {"image": "https://x.test/p.png"}, JSON),
        (EDIT, {"image": PICTURE}, MULTIPART),
        ({FORM: _object(a=TEXT), MULTIPART: _object(a=TEXT, b=FILE)}, {"a": "x"}, FORM),
        ({FORM: _object(a=TEXT), MULTIPART: _object(a=TEXT, b=FILE)}, {"a": "x", "b": "y"}, MULTIPART),
        ({JSON: {"oneOf": [_object(a=TEXT), _object(b=TEXT)]}, MULTIPART: _object(c=FILE)}, {"b": "x"}, JSON),
        ({JSON: {"oneOf": [_object(a=TEXT), _object(b=TEXT)]}, MULTIPART: _object(c=FILE)}, {"c": "x"}, MULTIPART),
        (PATCH, {"a": "x"}, "application/merge-patch+json"),
        (PATCH, {"body": {"a": None}}, "application/merge-patch+json"),
        (PATCH, {"body": [{"op": "remove", "path": "/a"}]}, "application/json-patch+json"),
        (RAW, {"a": "x"}, JSON),
        (RAW, {"body": {"a": "x"}}, JSON),
        (RAW, {"body": "a,b\r\n1,2"}, "text/csv"),
        (RAW, {"body": PICTURE}, "application/octet-stream"),
        (RAW, {"body": TABLE}, "text/csv"),
        (None, {"body": {"a": 1}}, JSON),
        (None, {"body": [1]}, JSON),
    ],
)
async def test_the_value_chooses_the_media_type(
    recorder: Recorder, content: dict[str, Any] | None, arguments: dict[str, Any], media_type: str
) -> None:
    received = await _sent(recorder, _tool(content, method="patch" if content is PATCH else "post"), **arguments)
    assert received.headers["Content-Type"].partition(";")[0] == media_type


def test_a_field_that_only_one_media_type_requires_is_optional_and_each_is_checked_as_a_whole() -> None:
    url, file = (_object(**{name: schema}) | {"required": [name]} for name, schema in (("url", TEXT), ("file", FILE)))
    tool = _tool({JSON: url, MULTIPART: file})
    assert [(p.name, p.required) for p in tool.parameters] == [("url", False), ("file", False)]
    with pytest.raises(ArgumentsInvalid, match="invalid together"):
        validate(tool, {})


async def test_a_body_that_the_document_forgot_is_sent_and_advised(recorder: Recorder) -> None:
    tool = _tool(None)
    assert tool.parameters == ()
    assert "body={...} is sent as JSON" in full(tool)
    assert json.loads((await _sent(recorder, tool, body={"name": "Ann"})).body) == {"name": "Ann"}
    assert (await _sent(recorder, tool)).body == b""
    recorder.answer = lambda _: Answered(status=422)
    with pytest.raises(UpstreamError, match=r"no body was sent; .* body=\{\.\.\.\} sends it as JSON"):
        await _sent(recorder, tool)
    with pytest.raises(ArgumentsInvalid, match="no parameter 'body'"):
        validate(_tool(None, method="get"), {"body": {}})
