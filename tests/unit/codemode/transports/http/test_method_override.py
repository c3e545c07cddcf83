"""Requests that a service would treat as another method than the policy judged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.codemode.transports.recorder import Recorder

TEXT = {"type": "string"}
FREE = {"type": "object", "additionalProperties": TEXT}


def parameter(name: str, place: str = "query", schema: Any = None) -> dict[str, Any]:
    return {"parameters": [{"name": name, "in": place, "schema": schema or TEXT}]}


def body(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}


FORM, PARTS, JSON = "application/x-www-form-urlencoded", "multipart/form-data", "application/json"
FIELD = {"type": "object", "properties": {"_method": TEXT, "a": TEXT}}
INNER = {"type": "object", "properties": {"filter": FREE}}

#: Ways to override an operation's method: the declaration, and arguments with `DELETE` in the place of M.
WAYS: dict[str, tuple[dict[str, Any], str]] = {
    "header": (parameter("X-HTTP-Method-Override", "header"), "X_HTTP_Method_Override=M"),
    "SharePoint's header": (parameter("X-HTTP-Method", "header"), "X_HTTP_Method=M"),
    "IBM's header": (parameter("x-method-override", "header"), "x_method_override=M"),
    "a header as CGI reads it": (parameter("X_HTTP_Method_Override", "header"), "X_HTTP_Method_Override=M"),
    "query": (parameter("_method"), "_method=M"),
    "the header's name in the query": (parameter("X-HTTP-Method-Override"), "X_HTTP_Method_Override=M"),
    "a name that is spread over the query": (parameter("filter", schema=FREE), "filter={'_method': M}"),
    "a name as PHP reads it": (parameter("filter", schema=FREE), "filter={' .method': M}"),
    "field of a form": (body(FORM, FIELD), "_method=M"),
    "field of a form that is open": (body(FORM, FREE), "body={'_method': M}"),
    "part": (body(PARTS, FIELD), "_method=M"),
    "field of JSON": (body(JSON, FIELD), "_method=M"),
    "field of JSON that is open": (body(JSON, FREE), "body={'_method': M}"),
}


def service(folder: Path, recorder: Recorder, operation: dict[str, Any], **source: Any) -> CodeMode:
    document = {"openapi": "3.1.0", "paths": {"/t": {"post": {"operationId": "op", "tags": ["t"], **operation}}}}
    (folder / "api.json").write_text(json.dumps(document), encoding="utf-8")
    settings = {
        "sources": {"api": {"location": str(folder / "api.json"), "base_url": recorder.url, **source}},
        "state_folder": str(folder / "state"),
        "cache_folder": str(folder / "cache"),
        "journal": {"enabled": False},
    }
    return CodeMode.from_settings(Settings.model_validate(settings))


async def errors_of(service: CodeMode, arguments: str, *methods: str) -> list[str]:
    """Return the error of a call for each method, "" if it was made."""
    async with service:
        (tool,) = service.catalog.tools
        made = f"try:\n        {tool.id}({arguments})\n    except ToolError as error:\n        told[-1] = str(error)"
        outcome = await service.execute(f"told = []\nfor M in {methods!r}:\n    told.append('')\n    {made}\ntold")
    assert outcome.failure is None or outcome.failure.type == "ApprovalRequired", outcome.failure
    return outcome.value if outcome.ok else [outcome.failure.type if outcome.failure else ""]


@pytest.mark.parametrize("way", WAYS)
async def test_a_write_becomes_no_delete(recorder: Recorder, tmp_path: Path, way: str) -> None:
    operation, arguments = WAYS[way]
    methods = ("DELETE", "delete", "Delete", "PURGE", "GET, DELETE")
    told = await errors_of(service(tmp_path, recorder, operation), arguments, *methods)
    for method, error in zip(methods, told, strict=True):
        assert f"= {method!r} would turn the request into another method, which is destructive" in error
    assert recorder.received == []


async def test_what_does_no_more_than_the_tool_is_sent(recorder: Recorder, tmp_path: Path) -> None:
    operation, arguments = WAYS["field of a form"]
    told = await errors_of(service(tmp_path, recorder, operation), arguments, "PUT", "patch", "GET")
    assert told == ["", "", ""]
    assert [one.body for one in recorder.received] == [b"_method=PUT", b"_method=patch", b"_method=GET"]


async def test_a_tool_that_is_declared_destructive_is_asked_about_as_one(recorder: Recorder, tmp_path: Path) -> None:
    operation, arguments = WAYS["header"]
    there = service(tmp_path, recorder, operation, effect={"*": "destructive"})
    assert await errors_of(there, arguments, "DELETE") == ["ApprovalRequired"]
    assert recorder.received == []


async def test_other_names_are_what_they_are(recorder: Recorder, tmp_path: Path) -> None:
    assert await errors_of(service(tmp_path, recorder, parameter("method")), "method=M", "DELETE") == [""]
    assert len(recorder.received) == 1
