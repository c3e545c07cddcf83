"""Calls over the wire, and their failures."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from codemode.catalog.arguments import validate
from codemode.errors import (
    AddressNotAllowed,
    AnswerInvalid,
    ArgumentsInvalid,
    CallError,
    ConfigurationError,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from codemode.sources.openapi.document import load_openapi
from codemode.transports.auth.credentials import Credential
from codemode.transports.base import CallContext
from codemode.transports.content import Content, ContentStore
from codemode.transports.http.transport import HttpTransport, Reach
from tests.unit.codemode.transports.recorder import Answered, Received, always

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from codemode.catalog.tool import Tool
    from tests.unit.codemode.transports.recorder import Recorder


def _tool(path: str = "/things", method: str = "get", **operation: Any) -> Tool:
    responses: dict[str, Any] = {"200": {"content": {"application/json": {"schema": {}}}}}
    document = {
        "openapi": "3.1.0",
        "paths": {path: {method: {"operationId": "op", "responses": responses, **operation}}},
    }
    return load_openapi(document, name="api").tools[0]


def _body(schema: dict[str, Any], media_type: str = "application/json", **media: Any) -> dict[str, Any]:
    return {"required": True, "content": {media_type: {"schema": schema, **media}}}


def _parameter(name: str, place: str, schema: dict[str, Any] | None = None, **rest: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": schema or {"type": "string"}, "required": place == "path", **rest}


async def _call(recorder: Recorder, tool: Tool, arguments: dict[str, Any] | None = None, **rest: Any) -> Any:
    reach = Reach(
        "api", recorder.url, retries=0, **{key: rest.pop(key) for key in list(rest) if key in Reach.__slots__}
    )
    transport = HttpTransport(reach, **rest)
    try:
        return await transport.call(tool, validate(tool, arguments or {}), CallContext())
    finally:
        await transport.aclose()


async def _sent(recorder: Recorder, tool: Tool, arguments: dict[str, Any] | None = None, **rest: Any) -> Received:
    await _call(recorder, tool, arguments, **rest)
    return recorder.received[-1]


async def test_every_argument_travels_in_its_place(recorder: Recorder) -> None:
    tool = _tool(
        "/users/{user}/files({id}).json",
        parameters=[
            _parameter("user", "path"),
            _parameter("id", "path", {"type": "integer"}),
            _parameter("filter[state]", "query"),
            _parameter("tags", "query", {"type": "array", "items": {"type": "string"}}, explode=False),
            _parameter("X-Trace", "header"),
            _parameter("session", "cookie"),
        ],
    )
    arguments = {"user": "ann lee", "id": 7, "filter_state": "a&b", "tags": ["x", "y"], "X_Trace": "t", "session": "s"}
    received = await _sent(recorder, tool, arguments)
    assert (received.method, received.target) == (
        "GET", "/users/ann%20lee/files(7).json?filter%5Bstate%5D=a%26b&tags=x,y",
    )  # fmt: skip
    assert (received.headers["X-Trace"], received.headers["Cookie"]) == ("t", "session=s")
    assert received.headers["Accept"].startswith("application/json")


async def test_a_parameter_with_json_content_travels_as_json(recorder: Recorder) -> None:
    content = {"application/json": {"schema": {"type": "object"}}}
    parameters = [
        {"name": name, "in": place, "content": content} for name, place in (("q", "query"), ("X-Q", "header"))
    ]
    value = {"a": ["é", 1]}
    received = await _sent(recorder, _tool(parameters=parameters), {"q": value, "X_Q": value})
    assert received.target == "/things?q=%7B%22a%22%3A%5B%22%C3%A9%22%2C1%5D%7D"
    assert received.headers["X-Q"] == '{"a":["\\u00e9",1]}'


async def test_a_whole_query_string_is_one_object(recorder: Recorder) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "array"}}}
    content = {"application/x-www-form-urlencoded": {"schema": schema}}
    tool = _tool(parameters=[{"name": "search", "in": "querystring", "content": content}])
    assert (await _sent(recorder, tool, {"search": {"a": 1, "b": ["x", "y"]}})).target == "/things?a=1&b=x&b=y"


@pytest.mark.parametrize(
    ("media_type", "value", "target"),
    [
        ("application/json", {"a": [1, "x&y=z"]}, "/things?%7B%22a%22%3A%5B1%2C%22x%26y%3Dz%22%5D%7D"),
        ("application/jsonpath", "$.a[?@.b>1]", "/things?%24.a%5B%3F%40.b%3E1%5D"),
        ("text/plain", "a=1&b", "/things?a%3D1%26b"),
    ],
)
async def test_a_whole_query_string_may_be_no_form(
    recorder: Recorder, media_type: str, value: Any, target: str
) -> None:
    schema = {"type": "object" if media_type.endswith("json") else "string"}
    tool = _tool(parameters=[{"name": "q", "in": "querystring", "content": {media_type: {"schema": schema}}}])
    assert (await _sent(recorder, tool, {"q": value})).target == target


@pytest.mark.parametrize(
    ("style", "explode", "path", "expected"),
    [
        ("label", True, "/t{v}", "/t.a%2C.b"),
        ("matrix", False, "/t/{v}", "/t/;v=a%2C,b"),
        ("matrix", True, "/t/{v}", "/t/;v=a%2C;v=b"),
        ("simple", False, "/t/{v}/x", "/t/a%2C,b/x"),
    ],
)
async def test_lists_in_paths_keep_their_separators(
    recorder: Recorder, style: str, explode: bool, path: str, expected: str
) -> None:
    schema = {"type": "array", "items": {"type": "string"}}
    tool = _tool(path, parameters=[_parameter("v", "path", schema, style=style, explode=explode)])
    assert (await _sent(recorder, tool, {"v": ["a,", "b"]})).target == expected


@pytest.mark.parametrize(
    ("collection", "expected"),
    [
        ("csv", "v=a,b"), ("ssv", "v=a%20b"), ("tsv", "v=a%09b"), ("pipes", "v=a%7Cb"), ("multi", "v=a&v=b"),
    ],
)  # fmt: skip
async def test_the_collection_formats_of_swagger(recorder: Recorder, collection: str, expected: str) -> None:
    parameter = {
        "name": "v",
        "in": "query",
        "type": "array",
        "items": {"type": "string"},
        "collectionFormat": collection,
    }
    document = {"swagger": "2.0", "paths": {"/t": {"get": {"operationId": "op", "parameters": [parameter]}}}}
    tool = load_openapi(document, name="api").tools[0]
    assert (await _sent(recorder, tool, {"v": ["a", "b"]})).target == f"/t?{expected}"


async def test_a_fixed_query_is_sent_and_a_fragment_is_not(recorder: Recorder) -> None:
    tool = _tool("/responses?beta=true#create", "post")
    assert (await _sent(recorder, tool)).target == "/responses?beta=true"


async def test_a_json_body_is_made_of_its_fields(recorder: Recorder) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "from": {"type": "string"}}}
    received = await _sent(recorder, _tool(method="post", requestBody=_body(schema)), {"a": 1, "from_": "é"})
    assert received.headers["Content-Type"] == "application/json"
    assert json.loads(received.body) == {"a": 1, "from": "é"}


async def test_a_field_that_is_called_body_is_a_field(recorder: Recorder) -> None:
    schema = {"type": "object", "required": ["body"], "properties": {"body": {"type": "string"}}}
    received = await _sent(recorder, _tool(method="post", requestBody=_body(schema)), {"body": "text"})
    assert json.loads(received.body) == {"body": "text"}


async def test_a_whole_body_is_sent_as_it_is(recorder: Recorder) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    received = await _sent(recorder, _tool(method="post", requestBody=_body(schema)), {"body": {"a": 1, "more": [2]}})
    assert json.loads(received.body) == {"a": 1, "more": [2]}


@pytest.mark.parametrize(
    ("media_type", "schema", "argument", "expected_type", "expected"),
    [
        ("application/json", {"type": "array", "items": {}}, [1, 2], "application/json", b"[1,2]"),
        ("application/jsonl", {"type": "array"}, [{"a": 1}, {"b": 2}], "application/jsonl", b'{"a":1}\n{"b":2}\n'),
        ("text/plain", {"type": "string"}, "hello", "text/plain", b"hello"),
        ("application/xml", {"type": "string"}, "<a/>", "application/xml", b"<a/>"),
        ("application/octet-stream", {"type": "string", "format": "binary"}, {"$base64": "AAE="},
         "application/octet-stream", b"\x00\x01"),
        ("application/vnd.x+json", {"type": "object"}, {"a": None}, "application/vnd.x+json", b'{"a":null}'),
    ],
)  # fmt: skip
async def test_whole_bodies(
    recorder: Recorder, media_type: str, schema: dict[str, Any], argument: Any, expected_type: str, expected: bytes
) -> None:
    received = await _sent(recorder, _tool(method="put", requestBody=_body(schema, media_type)), {"body": argument})
    assert (received.headers["Content-Type"], received.body) == (expected_type, expected)


async def test_a_json_patch_is_sent_as_one_and_a_merge_patch_as_the_other(recorder: Recorder) -> None:
    names = ("application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json")
    tool = _tool(method="patch", requestBody={"required": True, "content": {name: {"schema": {}} for name in names}})
    assert (await _sent(recorder, tool, {"body": [{"op": "test"}]})).headers["Content-Type"] == names[0]
    assert (await _sent(recorder, tool, {"body": {"a": 1}})).headers["Content-Type"] == names[1]


async def test_a_form_writes_nested_fields_in_brackets(recorder: Recorder) -> None:
    properties = {
        "name": {"type": "string"},
        "meta": {"type": "object"},
        "items": {"type": "array", "items": {"type": "object"}},
        "expand": {"type": "array", "items": {"type": "string"}},
    }
    schema = {"type": "object", "properties": properties}
    encoding = {"expand": {"style": "deepObject", "explode": True}}
    tool = _tool(method="post", requestBody=_body(schema, "application/x-www-form-urlencoded", encoding=encoding))
    arguments = {"name": "a b&c", "meta": {"k": True}, "items": [{"p": 1}], "expand": ["x"]}
    received = await _sent(recorder, tool, arguments)
    assert received.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert received.body == b"name=a+b%26c&meta%5Bk%5D=true&items%5B0%5D%5Bp%5D=1&expand%5B0%5D=x"


async def test_multipart_carries_files_json_and_text(recorder: Recorder) -> None:
    properties = {
        "file": {"type": "string", "format": "binary"},
        "meta": {"type": "object"},
        "note": {"type": "string"},
        "more": {"type": "array", "items": {"type": "string", "format": "binary"}},
    }
    contents = ContentStore()
    kept = contents.put(Content(b"\x89PNG", "image/png", 'a"b.png'), "")
    tool = _tool(method="post", requestBody=_body({"type": "object", "properties": properties}, "multipart/form-data"))
    arguments = {"file": kept, "meta": {"a": 1}, "note": "hi", "more": ["one"]}
    received = await _sent(recorder, tool, arguments, contents=contents)
    boundary = received.headers["Content-Type"].partition("boundary=")[2].encode()
    assert received.body.replace(boundary, b"B").split(b"--B") == [
        b"",
        b'\r\nContent-Disposition: form-data; name="file"; filename="a%22b.png"\r\nContent-Type: image/png\r\n\r\n'
        b"\x89PNG\r\n",
        b'\r\nContent-Disposition: form-data; name="meta"\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n',
        b'\r\nContent-Disposition: form-data; name="note"\r\n\r\nhi\r\n',
        b'\r\nContent-Disposition: form-data; name="more"; filename="more"\r\n'
        b"Content-Type: text/plain; charset=utf-8\r\n\r\none\r\n",
        b"--\r\n",
    ]


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({"Content-Type": "application/json"}, b'{"a": [1, 2.5, null]}', {"a": [1, 2.5, None]}),
        ({"Content-Type": "application/problem+json; charset=utf-8"}, b"[]", []),
        ({"Content-Type": "text/plain"}, b"plain", "plain"),
        ({"Content-Type": "text/csv; charset=latin-1"}, "é".encode("latin-1"), "é"),
        ({"Content-Type": "application/x-ndjson"}, b'{"a":1}\n\n{"a":2}\n', [{"a": 1}, {"a": 2}]),
        ({"Content-Type": "text/event-stream"}, b"event: x\ndata: {\"a\": 1}\n\ndata: two\n\n",
         [{"event": "x", "data": {"a": 1}}, {"data": "two"}]),
        ({"Content-Type": "application/json"}, b"", None),
        ({}, b'{"a": 1}', {"a": 1}),
        ({"Content-Type": "application/json"}, b'{"a": NaN, "b": "\\ud800"}', {"a": "NaN", "b": "\ufffd"}),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, gzip.compress(b"[1]", mtime=0), [1]),
    ],
)  # fmt: skip
async def test_answers_become_json_data(
    recorder: Recorder, headers: dict[str, str], body: bytes, expected: Any
) -> None:
    recorder.answer = lambda _: Answered(headers=headers, body=body)
    assert await _call(recorder, _tool(responses={})) == expected


async def test_a_binary_answer_is_a_reference_that_can_be_sent_on(recorder: Recorder) -> None:
    recorder.answer = lambda received: (
        Answered(headers={"Content-Type": "image/png", "Content-Disposition": 'attachment; filename="../x.png"'},
                 body=b"\x89PNG")
        if received.method == "GET" else Answered()
    )  # fmt: skip
    contents = ContentStore()
    reference = await _call(recorder, _tool(responses={}), contents=contents)
    assert {key: reference[key] for key in ("media_type", "name", "size_bytes")} == {
        "media_type": "image/png", "name": "x.png", "size_bytes": 4,
    }  # fmt: skip
    upload = _tool(method="put", requestBody=_body({"type": "string", "format": "binary"}, "application/octet-stream"))
    received = await _sent(recorder, upload, {"body": reference}, contents=contents)
    assert received.body == b"\x89PNG"
    with pytest.raises(CallError, match="no longer stored, or never was"):
        await _call(recorder, upload, {"body": {"$content": "c_guess"}}, contents=contents)


async def test_an_error_status_says_what_the_service_said(recorder: Recorder) -> None:
    problem = {"title": "Conflict", "detail": "the membership is frozen already", "status": 409}
    recorder.answer = lambda _: Answered(
        409, {"Content-Type": "application/problem+json"}, json.dumps(problem).encode()
    )
    with pytest.raises(UpstreamError) as caught:
        await _call(recorder, _tool())
    assert str(caught.value) == "api answered 409 Conflict: the membership is frozen already"
    assert (caught.value.status, caught.value.body, caught.value.retry_after_s) == (409, problem, None)


async def test_retry_advice_comes_along(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(429, {"Retry-After": "7"}, b"slow down")
    with pytest.raises(UpstreamError, match="429 Too Many Requests: slow down; retry after 7 s") as caught:
        await _call(recorder, _tool())
    assert caught.value.retry_after_s == 7


@pytest.mark.parametrize(
    ("answered", "said"),
    [
        (Answered(headers={"Content-Type": "text/html"}, body=b"<h1>Log in</h1>"),
         "api answered 200 with text/html, but JSON is declared: 'Log in'"),
        (Answered(body=b'{"a": '), "api answered 200 with invalid JSON"),
        (Answered(body=b"[" * 100_000), "api answered 200 with invalid JSON"),
        (Answered(body=b" " * 5_000), "the answer is larger than 4,096 bytes"),
        (Answered(headers={"Content-Encoding": "gzip", "Content-Type": "application/json"}, body=b"no gzip"),
         "the answer cannot be decompressed"),
        (Answered(headers={"Content-Encoding": "gzip", "Content-Type": "application/json"},
                  body=gzip.compress(b" " * 1_000_000)), "the answer is larger than 4,096 bytes"),
    ],
)  # fmt: skip
async def test_an_answer_that_cannot_be_used_is_a_typed_error(
    recorder: Recorder, answered: Answered, said: str
) -> None:
    recorder.answer = lambda _: answered
    limit = 4_096 if "4,096" in said else 1_000_000
    with pytest.raises(AnswerInvalid) as caught:
        await _call(recorder, _tool(), response_limit_bytes=limit)
    assert said in str(caught.value)
    assert caught.value.status == 200


async def test_an_error_that_cannot_be_read_is_still_an_error(recorder: Recorder) -> None:
    packed = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    recorder.answer = lambda _: Answered(status=409, headers=packed, body=b"no gzip")
    with pytest.raises(UpstreamError, match="the answer cannot be decompressed") as caught:
        await _call(recorder, _tool(method="post"))
    assert (type(caught.value), caught.value.status) == (UpstreamError, 409)


async def test_a_service_that_does_not_answer_is_left_after_the_time_out(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(hang=True)
    with pytest.raises(UpstreamTimeout, match=r"api did not answer within 1 s; it is unknown whether it did the work"):
        await _call(recorder, _tool(), timeout_s=1)


async def test_a_connection_that_breaks_leaves_the_outcome_unknown(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(body=b"[1,", cut=True)
    with pytest.raises(UpstreamTimeout, match="broke before the answer was complete"):
        await _call(recorder, _tool(method="post"))


async def test_a_service_that_is_not_there_is_unreachable_and_its_address_is_for_the_operator(
    recorder: Recorder,
) -> None:
    transport = HttpTransport(Reach("api", "http://127.0.0.1:1"))
    with pytest.raises(UpstreamUnreachable) as caught:
        await transport.call(_tool(), {}, CallContext())
    await transport.aclose()
    assert "http://127.0.0.1:1" in str(caught.value)
    assert "127.0.0.1" not in caught.value.for_model()


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest", "//169.254.169.254/latest", "http://127.0.0.2:{port}/", "http://127.0.0.1:1/",
        "https://127.0.0.1:{port}/", "http://2130706433:{port}/", "http://0x7f.1:{port}/", "http://u@127.0.0.1:{port}/",
        "http://127.0.0.1:{port}@127.0.0.2/", "http://127.0.0.1:{port}\\@127.0.0.2/", "file:///etc/passwd",
        "http://[::ffff:127.0.0.1]:{port}/",
    ],
)  # fmt: skip
async def test_a_redirect_to_another_host_is_never_followed(recorder: Recorder, location: str) -> None:
    target = location.replace("{port}", recorder.url.rpartition(":")[2])
    recorder.answer = lambda _: Answered(302, {"Location": target}, b"")
    with pytest.raises(UpstreamError, match=r"answered 302, a redirect to .*, another host, which is not") as raised:
        await _call(recorder, _tool(), authentication=always(Credential.bearer("secret-token")))
    assert len(recorder.received) == 1
    assert "u@" not in str(raised.value)


async def test_a_redirect_to_a_permitted_host_is_followed_without_credentials(recorder: Recorder) -> None:
    elsewhere = recorder.url.replace("127.0.0.1", "localhost")
    recorder.answer = lambda received: (
        Answered(302, {"Location": f"{elsewhere}/blob?sig=abc", "Set-Cookie": "a=b"}, b"")
        if received.target.startswith("/things")
        else Answered(headers={"Content-Type": "application/zip"}, body=b"PK\x03\x04")
    )
    own = [_parameter("X-Own", "header"), _parameter("sid", "cookie")]
    tool = _tool(parameters=own, responses={"200": {"description": ""}})
    more: dict[str, Any] = {"authentication": always(Credential.bearer("secret-token")), "permitted": (elsewhere,)}
    value = await _call(recorder, tool, {"X_Own": "a", "sid": "b"}, **more)
    assert value["media_type"] == "application/zip"
    sent = recorder.received[1]
    assert (sent.target, sent.headers["Host"]) == ("/blob?sig=abc", elsewhere.removeprefix("http://"))
    assert not {"Authorization", "Cookie", "X-Own"} & sent.headers.keys()


async def test_a_redirect_to_another_host_says_which_setting_permits_it(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(302, {"Location": "https://files.test/blob.zip?sig=abc"}, b"")
    with pytest.raises(UpstreamError, match=r"sources\.api\.servers: \[https://files\.test\]"):
        await _call(recorder, _tool())


async def test_a_write_that_is_answered_elsewhere_was_done(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(status=303, headers={"Location": "/there"})
    with pytest.raises(AnswerInvalid, match="the work was done"):
        await _call(recorder, _tool(method="post"))


async def test_a_redirect_on_the_same_host_is_followed_for_reads_only(recorder: Recorder) -> None:
    recorder.answer = lambda received: (
        Answered(body=b"[1]") if received.target == "/new" else Answered(307, {"Location": "/new"}, b"")
    )
    assert await _call(recorder, _tool()) == [1]
    with pytest.raises(UpstreamError, match=r"a redirect to http://127.*/new, which is not followed for POST"):
        await _call(recorder, _tool(method="post"))


@pytest.mark.parametrize(
    ("credential", "where", "expected"),
    [
        (Credential.bearer("s3cr3t"), "Authorization", "Bearer s3cr3t"),
        (Credential.basic("ann", "s3cr3t"), "Authorization", "Basic YW5uOnMzY3IzdA=="),
        (Credential.api_key("header", "X-Key", "s3cr3t"), "X-Key", "s3cr3t"),
        (Credential.api_key("header", "Authorization", "s3cr3t", prefix="token"), "Authorization", "token s3cr3t"),
        (Credential.api_key("cookie", "sid", "s3cr3t"), "Cookie", "sid=s3cr3t"),
    ],
)
async def test_credentials_are_applied_and_never_shown(
    recorder: Recorder, credential: Credential, where: str, expected: str
) -> None:
    echoed = json.dumps({"message": f"bad {expected}", "list": [expected]}).encode()
    recorder.answer = lambda _: Answered(401, body=echoed)
    with pytest.raises(UpstreamError) as caught:
        await _call(recorder, _tool(), authentication=always(credential))
    assert recorder.received[0].headers[where] == expected
    for text in (str(caught.value), repr(caught.value.body), repr(credential), repr(caught.value)):
        assert "s3cr3t" not in text
        assert "YW5uOnMzY3IzdA" not in text


async def test_a_key_in_the_query_comes_after_the_arguments(recorder: Recorder) -> None:
    tool = _tool(parameters=[_parameter("q", "query")])
    received = await _sent(
        recorder, tool, {"q": "x"}, authentication=always(Credential.api_key("query", "key", "a b&c"))
    )
    assert received.target == "/things?q=x&key=a%20b%26c"


async def test_no_cookie_of_an_answer_comes_back(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(headers={"Set-Cookie": "sid=1; Path=/", "Content-Type": "application/json"})
    transport = HttpTransport(Reach("api", recorder.url))
    for _ in range(2):
        await transport.call(_tool(), {}, CallContext())
    await transport.aclose()
    assert "Cookie" not in recorder.received[1].headers


@pytest.mark.parametrize(
    ("base", "servers", "own", "location", "expected"),
    [
        ("/api", ["https://x.test/v1"], None, "", "/api/things"),
        ("", ["{base}/v1"], None, "", "/v1/things"),
        ("/other", ["{base}/v1"], None, "", "/other/things"),
        ("/v4", ["https://x.test/v4"], ["https://x.test/v4beta"], "", "/v4beta/things"),
        ("/v4", ["{base}/v4"], ["{base}/v4beta"], "", "/v4beta/things"),
        (None, ["/v1"], None, "{base}/docs/openapi.json", "/v1/things"),
        (None, [], None, "{base}/openapi.json", "/things"),
        (None, ["{base}/v2"], None, "{base}/openapi.json", "/v2/things"),
    ],
)
async def test_where_a_call_goes(
    recorder: Recorder, base: str | None, servers: list[str], own: list[str] | None, location: str, expected: str
) -> None:
    def urls(texts: list[str]) -> list[dict[str, str]]:
        return [{"url": text.replace("{base}", recorder.url)} for text in texts]

    operation: dict[str, Any] = {"operationId": "op", "responses": {}}
    if own is not None:
        operation["servers"] = urls(own)
    document = {"openapi": "3.1.0", "servers": urls(servers), "paths": {"/things": {"get": operation}}}
    surface = load_openapi(document, name="api")
    base_url = None if base is None else recorder.url + base
    reach = Reach("api", base_url, location=location.replace("{base}", recorder.url), servers=surface.servers)
    transport = HttpTransport(reach)
    await transport.call(surface.tools[0], {}, CallContext())
    await transport.aclose()
    assert recorder.received[0].target == expected


@pytest.mark.parametrize(
    ("base_url", "servers", "own", "location", "said"),
    [
        (
            None,
            ["https://api.x.test/v1"],
            None,
            "/srv/api.json",
            "write base_url: https://api.x.test/v1 if you trust it",
        ),
        (None, [], None, "/srv/api.json", "write its base_url"),
        (None, ["http://169.254.169.254/"], None, "https://docs.x.test/api.json", "if you trust it"),
        ("https://api.x.test", ["https://api.x.test"], ["https://uploads.x.test"], "", "is not under base_url"),
    ],
)
async def test_an_address_that_the_operator_did_not_write_is_not_called(
    base_url: str | None, servers: list[str], own: list[str] | None, location: str, said: str
) -> None:
    operation: dict[str, Any] = {"operationId": "op"}
    if own:
        operation["servers"] = [{"url": url} for url in own]
    document = {"openapi": "3.1.0", "servers": [{"url": u} for u in servers], "paths": {"/x": {"get": operation}}}
    surface = load_openapi(document, name="api")
    transport = HttpTransport(Reach("api", base_url, location=location, servers=surface.servers))
    with pytest.raises(AddressNotAllowed) as caught:
        await transport.call(surface.tools[0], {}, CallContext())
    assert said in str(caught.value)
    assert "x.test" not in caught.value.for_model()
    await transport.aclose()


@pytest.mark.parametrize("url", ["ftp://x", "localhost:80", "http://u:p@x/", "http://x/?a=1", "http://x:99999", ""])
def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        HttpTransport(Reach("api", url))


async def test_an_object_in_the_query_cannot_pass_for_other_parameters(recorder: Recorder) -> None:
    parameters = [_parameter("filter", "query", {"type": "object"}), _parameter("admin", "query")]
    tool = _tool(parameters=parameters)
    assert (await _sent(recorder, tool, {"filter": {"state": "a"}})).target == "/things?state=a"
    with pytest.raises(
        ArgumentsInvalid, match="filter would send 'admin', which the service could read as another parameter"
    ):
        await _call(recorder, tool, {"filter": {"admin": "1"}})


def test_content_of_nothing_is_kept_for_no_longer_than_other_content() -> None:
    contents = ContentStore(10 * 1024).of("owner")
    first, *_, last = [contents.put(Content(b"", name=str(number))) for number in range(11)]
    assert contents.get(last).data == b""
    with pytest.raises(CallError, match="no longer stored, or never was"):
        contents.get(first)


@pytest.mark.parametrize("name", ["admin", "Admin", " admin", "admin[]", "admin[0]", "%61dmin", "\uff41dmin", "action"])
@pytest.mark.parametrize("depth", [0, 1])
async def test_nor_beside_them(recorder: Recorder, name: str, depth: int) -> None:
    """The policy judged one of the two values; the service may use the other."""
    parameters = [_parameter("filter", "query", {"type": "object"}), _parameter("admin", "query")]
    tool = _tool(path="/things?action=list", parameters=parameters)
    given = {"filter": {"x": {name: "1"}} if depth else {name: "1"}, "admin": "0"}
    with pytest.raises(ArgumentsInvalid, match="which the service could read as another parameter"):
        await _call(recorder, tool, given)
    assert recorder.received == []


async def test_nor_in_cookies_nor_in_a_form(recorder: Recorder) -> None:
    parameters = [_parameter("filter", "cookie", {"type": "object"}), _parameter("user", "cookie")]
    with pytest.raises(ArgumentsInvalid, match="filter would send 'user'"):
        await _call(recorder, _tool(parameters=parameters), {"filter": {"user": "you"}, "user": "me"})
    form = {
        "schema": {"type": "object", "properties": {"to": {"type": "string"}, "more": {"type": "object"}}},
        "encoding": {"more": {"style": "form", "explode": True}},
    }
    body = {"content": {"application/x-www-form-urlencoded": form}}
    with pytest.raises(CallError, match="more would send 'To', which could be read as another field; nothing was sent"):
        await _call(recorder, _tool(method="post", requestBody=body), {"to": "me", "more": {"To": "you"}})
    assert recorder.received == []


async def test_an_address_that_is_too_long_is_not_sent(recorder: Recorder) -> None:
    with pytest.raises(ArgumentsInvalid, match="characters long, and servers accept 16,000: send less"):
        await _call(recorder, _tool(parameters=[_parameter("q", "query")]), {"q": "x" * 20_000})
    assert recorder.received == []


async def test_a_page_comes_with_the_arguments_of_the_next(recorder: Recorder) -> None:
    responses = {"200": {"content": {"application/json": {"schema": {"type": "array"}}}}}
    tool = _tool(parameters=[_parameter("page", "query", {"type": "integer"})], responses=responses)
    headers = {"Content-Type": "application/json", "Link": '<https://elsewhere.test/things?page=2>; rel="next"'}
    recorder.answer = lambda received: (
        Answered(body=b"[3]") if "page=2" in received.target else Answered(headers=headers, body=b"[1, 2]")
    )
    transport = HttpTransport(Reach("api", recorder.url))
    first = await transport.call_page(tool, {}, CallContext())
    assert (first.items, first.next_arguments) == ([1, 2], {"page": 2})
    second = await transport.call_page(tool, first.next_arguments or {}, CallContext())
    with pytest.raises(CallError, match="has no pages"):
        await transport.call_page(_tool(method="post"), {}, CallContext())
    await transport.aclose()
    assert (second.items, second.next_arguments) == ([3], {"page": 3})  # a counted list ends at an empty page


async def test_a_next_url_is_asked_with_its_own_query_at_the_operations_own_address(recorder: Recorder) -> None:
    parameters = [_parameter("q", "query"), _parameter("id", "path")]
    tool = _tool(path="/users/{id}/things", parameters=parameters)
    url = "https://elsewhere.test/admin/secrets?$skiptoken=a b%20c&q=x"
    recorder.answer = lambda received: (
        Answered(body=b"{}")
        if "skiptoken" in received.target
        else Answered(body=json.dumps({"value": [1], "@odata.nextLink": url}).encode())
    )
    transport = HttpTransport(Reach("api", recorder.url))
    first = await transport.call_page(
        tool,
        {
            "id": "7",
            "q": "x",
        },
        CallContext(),
    )
    assert (first.next_arguments, first.next_query) == ({"id": "7", "q": "x"}, "$skiptoken=a b%20c&q=x")
    await transport.call_page(tool, first.next_arguments or {}, CallContext(query=first.next_query))
    await transport.aclose()
    assert [received.target for received in recorder.received] == [
        "/users/7/things?q=x",
        "/users/7/things?$skiptoken=a%20b%20c&q=x",
    ]


@pytest.mark.parametrize("query", ["_method=DELETE", "x=1&X-HTTP-Method-Override=DELETE"])
async def test_a_next_url_does_not_change_the_method(recorder: Recorder, query: str) -> None:
    transport = HttpTransport(Reach("api", recorder.url))
    with pytest.raises(CallError, match="would turn the request into another method"):
        await transport.call_page(_tool(), {}, CallContext(query=query))
    await transport.aclose()
    assert recorder.received == []


async def test_a_key_that_a_service_repeats_in_its_next_url_stays_secret(recorder: Recorder) -> None:
    key = "k3y-0f-the-0perator"
    recorder.answer = lambda _: Answered(body=json.dumps({"data": [1], "next": f"/things?cursor=2&key={key}"}).encode())
    transport = HttpTransport(
        Reach("api", recorder.url), authentication=always(Credential.api_key("query", "key", key))
    )
    first = await transport.call_page(_tool(), {}, CallContext())
    assert key not in first.next_query
    await transport.call_page(_tool(), {}, CallContext(query=first.next_query))
    await transport.aclose()
    assert recorder.received[-1].target == f"/things?cursor=2&key={key}"


async def test_hostile_arguments_are_refused_or_stay_in_their_place(
    recorder: Recorder, shared_data: Callable[[str], Path]
) -> None:
    text = (shared_data("security") / "escapes.yaml").read_text(encoding="utf-8")
    records = [record for record in yaml.load(text, yaml.CSafeLoader) if record["kind"] == "tool_args"]
    assert len(records) == 24
    harmless = {"arg-path-query-break", "arg-path-fragment", "arg-path-userinfo", "arg-ssrf-url"}
    for record in records:
        arguments = {**record["args"]}
        if "args_py" in record:
            arguments |= {"name": "a" * 1_000_000}
        try:
            await _call(recorder, _declared(record["tool"]), arguments)
        except ArgumentsInvalid:
            assert record["id"] not in harmless
        else:
            assert record["id"] in harmless, record["id"]
    assert [received.target for received in recorder.received] == [
        "/v1/users/u1/files/x%3Fadmin%3D1",
        "/v1/users/u1%23/files/n1",
        "/v1/x%40127.0.0.1/status",
        "/v1/eu/status?url=http%3A%2F%2F169.254.169.254%2Flatest%2F",
    ]


def _declared(tool: dict[str, Any]) -> Tool:
    parameters, fields = [], {}
    for part in tool["params"]:
        schema = {key: value for key, value in part.items() if key not in ("name", "in")}
        if part["in"] == "body":
            fields[part["name"]] = schema
        else:
            parameters.append(_parameter(part["name"], part["in"], schema))
    body = {"requestBody": _body({"type": "object", "properties": fields})} if fields else {}
    return _tool(tool["path"], tool["method"].lower(), parameters=parameters, **body)
