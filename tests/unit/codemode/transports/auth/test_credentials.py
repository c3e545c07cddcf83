"""Secrets are taken out of what leaves, and nothing else is changed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codemode.sources.openapi.document import load_openapi
from codemode.transports.auth.credentials import Credential
from codemode.transports.base import CallContext
from codemode.transports.http.transport import HttpTransport, Reach
from codemode.transports.redaction import Redactor
from tests.unit.codemode.transports.recorder import Answered, Received, Recorder, always

TOKEN = 'a/long"tokén'


async def test_a_service_that_gives_back_what_it_was_sent_gives_no_secret(recorder: Recorder) -> None:
    def echo(received: Received) -> Answered:
        return Answered(body=json.dumps({"headers": received.headers, "target": received.target}).encode())

    recorder.answer = echo
    transport = HttpTransport(
        Reach("api", recorder.url),
        authentication=always(Credential.bearer("s3cr3t-token"), Credential.api_key("query", "key", "another key/1")),
    )
    tool = load_openapi({"openapi": "3.1.0", "paths": {"/things": {"get": {}}}}, name="api").tools[0]
    answer = await transport.call(tool, {}, CallContext())
    await transport.aclose()
    assert recorder.received[0].headers["Authorization"] == "Bearer s3cr3t-token"
    assert answer["headers"]["Authorization"] == "Bearer [redacted]"
    assert answer["target"] == "/things?key=[redacted]"


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"a": [TOKEN]}).encode(),
        json.dumps({"a": [TOKEN]}, ensure_ascii=False).encode(),
        json.dumps({"a": [TOKEN]}).replace("/", "\\/").encode(),
    ],
)
def test_a_secret_is_found_however_json_was_written(body: bytes) -> None:
    assert Redactor([TOKEN]).answer(json.loads(body), body) == {"a": ["[redacted]"]}


KEY = "Zm9v+YmFy/YmF6=="


@pytest.mark.parametrize(
    "body",
    [
        rb'{"a": ["Zm9v\u002BYmFy/YmF6=="]}',  # System.Text.Json
        rb'{"a": ["Zm9v\u002bYmFy\/YmF6\u003d\u003d"]}',
        json.dumps({"a": [KEY]}).encode("utf-16"),
        json.dumps({"a": [KEY]}).encode("utf-32-le"),
    ],
)
def test_a_secret_is_found_whatever_is_escaped_that_need_not_be_and_in_wide_characters(body: bytes) -> None:
    assert Redactor([KEY]).answer(json.loads(body), body) == {"a": ["[redacted]"]}


async def test_a_secret_is_found_in_a_text_in_any_charset(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(200, {"Content-Type": "text/plain; charset=utf-16"}, KEY.encode("utf-16"))
    authentication = always(Credential.bearer(KEY))
    transport = HttpTransport(Reach("api", recorder.url), authentication=authentication)
    operation: dict[str, Any] = {"responses": {"200": {"content": {"text/plain": {}}}}}
    tool = load_openapi({"openapi": "3.1.0", "paths": {"/things": {"get": operation}}}, name="api").tools[0]
    answer = await transport.call(tool, {}, CallContext())
    await transport.aclose()
    assert answer.strip("\ufeff") == "[redacted]"


def test_an_answer_without_secrets_is_left_alone() -> None:
    data = {"a": 1}
    assert Redactor(["s3cr3t-token"]).answer(data, b'{"a": 1}') is data


def test_a_short_secret_does_not_spoil_data_that_hold_the_word() -> None:
    redactor = Redactor(["demo"])
    assert redactor.answer({"title": "a demo"}, b'{"title": "a demo"}') == {"title": "a demo"}
    assert redactor.text("wrong key demo") == "wrong key [redacted]"
