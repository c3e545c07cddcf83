"""The headers of an answer that programs receive."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog.stubs import full, stub
from codemode.errors import UpstreamError
from codemode.sources.openapi.document import load_openapi
from codemode.transports.auth.credentials import Credential
from codemode.transports.base import CallContext
from codemode.transports.http.headers import (
    LONGEST_HEADERS,
    LONGEST_VALUE,
    MOST_HEADERS,
    is_shown,
    retry_after,
    shown_headers,
)
from codemode.transports.http.transport import HttpTransport, Reach
from codemode.transports.redaction import Redactor
from tests.unit.codemode.transports.recorder import Answered, always

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.transports.base import Page
    from tests.unit.codemode.transports.recorder import Recorder


def _tool(method: str = "post", code: str = "201", **response: Any) -> Tool:
    operation = {"operationId": "op", "responses": {code: {"description": "", **response}}}
    return load_openapi({"openapi": "3.1.0", "paths": {"/t": {method: operation}}}, name="api").tools[0]


async def _response(recorder: Recorder, tool: Tool, **more: Any) -> Page:
    transport = HttpTransport(Reach("api", recorder.url, retries=0), **more)
    try:
        return await transport.call_response(tool, {}, CallContext())
    finally:
        await transport.aclose()


@pytest.mark.parametrize(
    "name", ["location", "etag", "retry-after", "x-total-count", "link", "x-author", "x-continuation-token", "digest"]
)
def test_what_leads_on_is_shown(name: str) -> None:
    assert is_shown(name)


@pytest.mark.parametrize(
    "name",
    [
        "set-cookie", "authorization", "proxy-authenticate", "www-authenticate", "x-auth-token", "x-subject-token",
        "x-api-key", "x-session-id", "x-csrf-token", "x-amz-signature", "connection", "transfer-encoding",
    ],
)  # fmt: skip
def test_secrets_and_the_connection_are_not(name: str) -> None:
    assert not is_shown(name)


def test_headers_are_bounded_and_those_that_lead_on_come_first() -> None:
    many = {f"x-{number}": "v" for number in range(2 * MOST_HEADERS)} | {"location": "/there"}
    assert len(shown_headers(many, Redactor())) == MOST_HEADERS
    assert "location" in shown_headers(many, Redactor())
    assert shown_headers({"x-long": "v" * (LONGEST_VALUE + 1), "x-short": "v"}, Redactor()) == {"x-short": "v"}
    wide = {f"x-{number}": "v" * 3_000 for number in range(MOST_HEADERS)}
    assert sum(len(name) + len(value) for name, value in shown_headers(wide, Redactor()).items()) <= LONGEST_HEADERS


async def test_a_program_receives_status_headers_and_value(recorder: Recorder) -> None:
    headers = {
        "ETag": '"v7"',
        "Location": "/t/7",
        "Set-Cookie": "sid=1",
        "X-Echo": "s3cr3t-key",
        "Content-Type": "x/json",
    }
    recorder.answer = lambda _: Answered(201, headers, b'{"id": 7}')
    page = await _response(recorder, _tool(), authentication=always(Credential.bearer("s3cr3t-key")))
    assert (page.status, page.value) == (201, {"id": 7})
    shown = {name: value for name, value in page.headers.items() if name != "content-length"}
    assert shown == {"etag": '"v7"', "location": "/t/7", "x-echo": "[redacted]", "content-type": "x/json"}


@pytest.mark.parametrize(("method", "status"), [("get", 302), ("post", 307), ("post", 303)])
async def test_a_redirect_that_is_not_followed_is_an_answer_with_its_location(
    recorder: Recorder, method: str, status: int
) -> None:
    target = "https://files.test/blob.zip?sig=abc"
    recorder.answer = lambda _: Answered(status, {"Location": target}, b"")
    page = await _response(recorder, _tool(method))
    assert (page.status, page.headers, page.value) == (status, {"location": target}, None)
    with pytest.raises(UpstreamError, match=r"a redirect to https://files\.test/blob\.zip\b") as raised:
        await HttpTransport(Reach("api", recorder.url, retries=0)).call(_tool(method), {}, CallContext())
    assert "sig=abc" not in str(raised.value)


async def test_an_answer_without_a_body_says_where_the_new_thing_is(recorder: Recorder) -> None:
    notes: list[str] = []
    recorder.answer = lambda _: Answered(201, {"Location": "/orders/8812"}, b"")
    transport = HttpTransport(Reach("api", recorder.url))
    assert await transport.call(_tool(), {}, CallContext(on_note=notes.append)) is None
    await transport.aclose()
    assert notes == ["api.t.op answered 201 with location /orders/8812; .response(…) gives its headers"]


async def test_the_value_of_head_is_its_headers(recorder: Recorder) -> None:
    tool = _tool("head", "200", headers={"X-Size": {"schema": {"type": "integer"}}, "Set-Cookie": {}})
    assert stub(tool) == 'api.t.op() -> {"x-size": str}'
    recorder.answer = lambda _: Answered(200, {"X-Size": "17", "Set-Cookie": "a=b"}, b"")
    transport = HttpTransport(Reach("api", recorder.url))
    value = await transport.call(tool, {}, CallContext())
    await transport.aclose()
    assert (value["x-size"], "set-cookie" in value) == ("17", False)


def test_declared_headers_are_shown_to_the_model() -> None:
    tool = _tool(headers={"Location": {}, "X-RateLimit-Limit": {}, "Set-Cookie": {}})
    assert ".response(...) gives status, headers (location) and value" in stub(tool)
    assert "headers: location, x-ratelimit-limit; op.response(...)" in full(tool)
    assert ".response" not in stub(_tool(headers={"X-RateLimit-Limit": {}}))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7", 7.0),
        ("1.5", 1.5),
        ("Wed, 21 Oct 2026 07:28:10 GMT", 10.0),
        ("Wed, 21 Oct 2026 07:27:00 GMT", 0.0),
        ("Wed, 21 Oct 2026 09:28:10 +0200", 10.0),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("99999999999999", None),
        ("Wed, 21 Oct 99999 07:28:10 GMT", None),
    ],
)
def test_the_advice_of_retry_after(value: str, expected: float | None) -> None:
    now = datetime(2026, 10, 21, 7, 28, tzinfo=UTC)
    assert retry_after({"retry-after": value}, now) == expected
