"""Constant parameters and headers: in every request, and not in a signature."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog import stubs
from codemode.errors import AddressNotAllowed, ConfigurationError
from codemode.settings import SourceSettings
from codemode.sources.factory import LoadedSource, load_source
from codemode.transports.base import CallContext
from tests.unit.codemode.transports.recorder import Answered

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.codemode.transports.recorder import Recorder

_PARAMETERS = [
    {"name": "account", "in": "path", "required": True, "schema": {"type": "string"}},
    {"name": "api-version", "in": "query", "required": True, "schema": {"type": "string"}},
    {"name": "tags", "in": "query", "explode": False, "schema": {"type": "array", "items": {"type": "string"}}},
    {"name": "X-Trace", "in": "header", "schema": {"type": "boolean"}},
    {"name": "name", "in": "query", "schema": {"type": "string"}},
]
_BODY = {"content": {"application/json": {"schema": {"type": "object", "properties": {"color": {"type": "string"}}}}}}
_PATHS = {
    "/{account}/items": {"get": {"operationId": "listItems", "parameters": _PARAMETERS}},
    "/plain": {"post": {"operationId": "addPlain", "requestBody": _BODY}},
}


async def _loaded(folder: Path, recorder: Recorder, **settings: Any) -> LoadedSource:
    file = folder / "doc.json"
    file.write_text(json.dumps({"openapi": "3.0.3", "paths": _PATHS}), encoding="utf-8")
    facts = {"location": str(file), "base_url": recorder.url, "credentials": [{"kind": "none"}], **settings}
    return await load_source("api", SourceSettings.model_validate(facts))


async def _call(source: LoadedSource, key: str, **arguments: Any) -> Any:
    (tool,) = (tool for tool in source.tools if tool.key == key)
    try:
        return await source.transport.call(tool, arguments, CallContext())
    finally:
        await source.transport.aclose()


async def test_constant_parameters_are_sent_and_not_shown(recorder: Recorder, tmp_path: Path) -> None:
    constants = {"account": 7, "api-version": "2026-01-01", "tags": ["a", "b"], "X_Trace": True}
    source = await _loaded(tmp_path, recorder, parameters=constants)
    (tool,) = (tool for tool in source.tools if tool.key.startswith("GET"))

    assert tool.parameter_names == ("name",)
    assert stubs.signature(tool).startswith(f"{tool.id}(*, name: str")
    await _call(source, tool.key, name="x")
    (received,) = recorder.received
    assert received.target == "/7/items?name=x&api-version=2026-01-01&tags=a,b"
    assert received.headers["X-Trace"] == "true"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("acount", "'acount' is declared nowhere; did you mean 'account'?; an overlay can declare it"),
        ("color", "'color' is declared only in its body; an overlay can declare it"),
    ],
)
async def test_a_constant_that_no_operation_takes_is_rejected(
    recorder: Recorder, tmp_path: Path, name: str, reason: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        await _loaded(tmp_path, recorder, parameters={name: 1})
    assert str(caught.value) == f"sources.api.parameters: {reason}"


async def test_headers_are_sent_with_every_request(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_TOKEN", "s3cret-value")
    recorder.answer = lambda _: Answered(body=b'{"a": "s3cret-value and support"}')
    headers = {"User-Agent": "acme ops@acme.example", "X-Team": "support", "X-Token": {"env": "TEAM_TOKEN"}}
    source = await _loaded(tmp_path, recorder, headers=headers)

    value = await _call(source, "POST /plain", color="red")
    (received,) = recorder.received
    sent = {name: received.headers[name] for name in headers}
    assert sent == {"User-Agent": "acme ops@acme.example", "X-Team": "support", "X-Token": "s3cret-value"}
    assert value["a"].endswith(" and support")  # no secret
    assert "s3cret" not in value["a"]


async def test_a_header_of_a_single_request_cannot_be_constant(recorder: Recorder, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Content-Type is set for each request, so it cannot be constant"):
        await _loaded(tmp_path, recorder, headers={"Content-Type": "text/plain"})


async def test_a_key_that_the_kind_of_the_content_does_not_use_is_rejected(recorder: Recorder, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    tool = {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}}
    file.write_text(json.dumps([tool]), encoding="utf-8")
    settings = SourceSettings(location=str(file), base_url=recorder.url, internal=True)
    with pytest.raises(ConfigurationError, match=r"sources\.api\.internal: a source of kind toolkit does not use it"):
        await load_source("api", settings)


async def test_a_server_of_one_operation_is_permitted_by_its_host(recorder: Recorder, tmp_path: Path) -> None:
    upload = {"post": {"operationId": "upload", "servers": [{"url": f"{recorder.url}/uploads"}]}}
    file = tmp_path / "doc.json"
    document = {"openapi": "3.0.3", "servers": [{"url": "https://api.example.com"}], "paths": {"/files": upload}}
    file.write_text(json.dumps(document), encoding="utf-8")
    facts = {"location": str(file), "base_url": "https://api.example.com", "credentials": [{"kind": "none"}]}

    refused = await load_source("api", SourceSettings.model_validate(facts))
    with pytest.raises(AddressNotAllowed, match=rf"write servers: \[{recorder.url}/uploads\] if you trust it"):
        await _call(refused, "POST /files")
    permitted = await load_source("api", SourceSettings.model_validate({**facts, "servers": [recorder.url]}))
    await _call(permitted, "POST /files")
    assert [one.target for one in recorder.received] == ["/uploads/files"]
