"""Requests of every style, type and place, decoded by an independent library."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.etree import ElementTree as ET

import pytest
from openapi_core.deserializing.styles import style_deserializers
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.formparser import parse_form_data
from werkzeug.test import EnvironBuilder

from codemode.catalog.arguments import validate
from codemode.errors import CallError
from codemode.sources.openapi.document import load_openapi
from codemode.transports.base import CallContext
from codemode.transports.content import Content, ContentStore
from codemode.transports.http.transport import HttpTransport, Reach

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.unit.codemode.transports.recorder import Received, Recorder

VALUES: dict[str, tuple[dict[str, Any], Any]] = {
    "string": ({"type": "string"}, "blue"),
    "odd string": ({"type": "string"}, "bl ue&é=%41+?"),
    "empty string": ({"type": "string"}, ""),
    "integer": ({"type": "integer"}, -7),
    "number": ({"type": "number"}, 1.5),
    "boolean": ({"type": "boolean"}, True),
    "array": ({"type": "array", "items": {"type": "string"}}, ["blue", "black", "brown"]),
    "integers": ({"type": "array", "items": {"type": "integer"}}, [1, 2]),
    "one item": ({"type": "array", "items": {"type": "string"}}, ["blue"]),
    "object": ({"type": "object", "additionalProperties": {"type": "string"}}, {"R": "100", "G": "two"}),
}
#: Styles of each place, with the types that the library decodes.
STYLES: dict[str, dict[str, Iterable[str]]] = {
    "path": {"simple": VALUES, "label": VALUES, "matrix": VALUES},
    "query": {
        "form": VALUES,
        "pipeDelimited": ("array", "integers", "one item", "object"),
        "spaceDelimited": ("array", "integers", "one item", "object"),
        "deepObject": ("object",),
    },
    "header": {"simple": VALUES},
    "cookie": {"form": VALUES},
}
CASES = [
    (place, style, explode, name)
    for place, styles in STYLES.items()
    for style, names in styles.items()
    for explode in (False, True)
    for name in names
    if not (style == "deepObject" and not explode)  # says the same
    and not (style in ("pipeDelimited", "spaceDelimited") and explode)  # what form says
    and not (name == "odd string" and place in ("header", "cookie"))  # refused: no ASCII
    and not (name == "empty string" and place in ("path", "header"))  # refused: nothing would be there
    and not (name == "object" and explode and place in ("query", "cookie") and style == "form")  # below
]


async def _sent(recorder: Recorder, operation: dict[str, Any], arguments: dict[str, Any], **more: Any) -> Received:
    path, method = more.pop("path", "/t"), more.pop("method", "get")
    responses: dict[str, Any] = {"200": {"content": {"application/json": {"schema": {}}}}}
    document = {
        "openapi": "3.1.0",
        "paths": {path: {method: {"operationId": "op", "responses": responses, **operation}}},
        "components": {"schemas": more.pop("schemas", {})},
    }
    (tool,) = load_openapi(document, name="api").tools
    transport = HttpTransport(Reach("api", recorder.url), **more)
    try:
        await transport.call(tool, validate(tool, arguments), CallContext())
    finally:
        await transport.aclose()
    return recorder.received[-1]


def _cast(value: Any, schema: dict[str, Any]) -> Any:
    """Convert a text to a type. The library's own caster is not public."""
    match schema.get("type"):
        case "array":
            return [_cast(item, schema["items"]) for item in value]
        case "integer" | "number" | "boolean":
            return json.loads(value)
        case _:
            return value


async def test_a_value_is_read_back_as_it_was(recorder: Recorder) -> None:
    for case in CASES:
        sent, read = await read_back(recorder, *case)
        assert read == sent, case


async def read_back(recorder: Recorder, place: str, style: str, explode: bool, name: str) -> tuple[Any, Any]:
    """Send a value, and return it with what the library reads."""
    schema, value = VALUES[name]
    parameter = {"name": "v", "in": place, "schema": schema, "style": style, "explode": explode, "required": True}
    path = "/t/{v}/x" if place == "path" else "/t"
    received = await _sent(recorder, {"parameters": [parameter]}, {"v": value}, path=path)
    parts = urlsplit(received.target)
    segment = unquote(parts.path.removeprefix("/t/").removesuffix("/x"))
    star = "*" if explode else ""
    pairs = [pair.partition("=")[::2] for pair in received.headers.get("Cookie", "").split("; ") if pair]
    location: Any = {
        "path": {"v": segment, f".v{star}": segment, f";v{star}": segment},
        "query": ImmutableMultiDict(parse_qsl(parts.query, keep_blank_values=True)),
        "header": {"v": received.headers.get("V", "")},
        "cookie": ImmutableMultiDict(pairs),
    }[place]
    if style == "spaceDelimited":  # the library expects the escaped separator
        location = {"v": location["v"].replace(" ", "%20")}
    found = style_deserializers[style](explode, "v", schema["type"], location)
    return value, _cast(found, schema)


@pytest.mark.parametrize("style", ["form", "pipeDelimited", "spaceDelimited"])
async def test_what_is_exploded_stands_for_itself(recorder: Recorder, style: str) -> None:
    def parameter(schema: dict[str, Any]) -> dict[str, Any]:
        return {"name": "v", "in": "query", "schema": schema, "style": style, "explode": True}

    array = {"parameters": [parameter({"type": "array", "items": {"type": "string"}})]}
    assert (await _sent(recorder, array, {"v": ["a,b", "c d"]})).target == "/t?v=a%2Cb&v=c%20d"
    thing = {"parameters": [parameter({"type": "object"})]}
    assert (await _sent(recorder, thing, {"v": {"R": 1, "G": "x y"}})).target == "/t?R=1&G=x%20y"


@pytest.mark.parametrize(
    ("style", "expected"),
    [("form", "v=a%2Cb,c"), ("pipeDelimited", "v=a%2Cb%7Cc"), ("spaceDelimited", "v=a%2Cb%20c")],
)
async def test_a_separator_in_a_value_is_told_from_one_between_values(
    recorder: Recorder, style: str, expected: str
) -> None:
    schema = {"type": "array", "items": {"type": "string"}}
    parameter = {"name": "v", "in": "query", "schema": schema, "style": style, "explode": False}
    assert (await _sent(recorder, {"parameters": [parameter]}, {"v": ["a,b", "c"]})).target == f"/t?{expected}"


async def test_reserved_characters_stay_where_they_may_and_never_end_a_value(recorder: Recorder) -> None:
    parameter = {"name": "v", "in": "query", "schema": {"type": "string"}, "allowReserved": True}
    received = await _sent(recorder, {"parameters": [parameter]}, {"v": "a/b?c:d@e!$'()*,;=[]&f#g+h i"})
    assert received.target == "/t?v=a/b?c:d@e!$'()*,;=[]%26f%23g%2Bh%20i"


async def test_cookies_hold_lists_and_objects(recorder: Recorder) -> None:
    def parameter(name: str, schema: dict[str, Any], explode: bool) -> dict[str, Any]:
        return {"name": name, "in": "cookie", "schema": schema, "explode": explode}

    array = {"type": "array", "items": {"type": "string"}}
    parameters = [
        parameter("a", array, False), parameter("b", array, True), parameter("c", {"type": "object"}, False),
        parameter("d", {"type": "object"}, True),
    ]  # fmt: skip
    arguments = {"a": ["x", "y"], "b": ["x", "y"], "c": {"k": 1}, "d": {"m": 2}}
    received = await _sent(recorder, {"parameters": parameters}, arguments)
    assert received.headers["Cookie"] == "a=x,y; b=x; b=y; c=k,1; m=2"


def _body(media_type: str, schema: dict[str, Any], **media: Any) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema, **media}}}}


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("encoding", "value", "expected"),
    [
        ({}, {"a": "x y", "b": ["1", "2"]}, "a=x+y&b=1&b=2"),
        ({}, {"a": {"k": {"l": [1, True]}}}, "a%5Bk%5D%5Bl%5D%5B0%5D=1&a%5Bk%5D%5Bl%5D%5B1%5D=true"),
        ({"b": {"style": "form", "explode": False}}, {"b": ["1,1", "2"]}, "b=1%2C1,2"),
        ({"b": {"style": "pipeDelimited", "explode": False}}, {"b": ["1", "2"]}, "b=1%7C2"),
        ({"b": {"style": "spaceDelimited", "explode": False}}, {"b": ["1", "2"]}, "b=1%202"),
        ({"a": {"style": "deepObject"}}, {"a": {"k": 1}}, "a%5Bk%5D=1"),
        ({"a": {"contentType": "application/json"}}, {"a": {"k": [1]}}, "a=%7B%22k%22%3A%5B1%5D%7D"),
        ({"a": {"allowReserved": True}}, {"a": "http://x/?y&z"}, "a=http://x/?y%26z"),
    ],
)
async def test_fields_of_a_form(
    recorder: Recorder, encoding: dict[str, Any], value: dict[str, Any], expected: str
) -> None:
    operation = _body(FORM, {"type": "object", "properties": {"a": {}, "b": {}}}, encoding=encoding)
    received = await _sent(recorder, operation, value, method="post")
    assert received.body.decode() == expected
    read = parse_qsl(received.body.decode(), keep_blank_values=True)
    assert read  # an independent decoder accepts it


@pytest.mark.parametrize(
    "media_type",
    [
        'text/plain\r\nContent-Disposition: form-data; name="role"',
        "text/plain\n",
        "text/plain; charset=\r\nX-Evil: 1",
        "text",
        "té/xt",
        "",
    ],
)
async def test_a_media_type_that_is_none_does_not_break_out_of_its_header(recorder: Recorder, media_type: str) -> None:
    """An MCP server can send any media type for an image, which became a header of an upload to the next service."""
    contents = ContentStore()
    value = contents.put(Content(b"hello", media_type, 'a"\r\nX-Evil: 1'), "")
    assert value["media_type"] == "application/octet-stream"
    schema = {"type": "object", "properties": {"picture": {"type": "string", "format": "binary"}}}
    received = await _sent(
        recorder, _body("multipart/form-data", schema), {"picture": value}, method="post", contents=contents
    )
    environ = EnvironBuilder(
        method="POST", data=received.body, content_type=received.headers["Content-Type"]
    ).get_environ()
    _, form, files = parse_form_data(environ)
    with closing(files["picture"].stream):
        assert {name.lower() for name, _ in files["picture"].headers} == {"content-disposition", "content-type"}
    assert (dict(form), [*files]) == ({}, ["picture"])


async def test_content_in_a_json_body_is_base64(recorder: Recorder) -> None:
    contents = ContentStore()
    value = {"name": "a", "files": [{"data": contents.put(Content(b"hello"), "")}, {"data": {"$base64": "aGk="}}]}
    received = await _sent(recorder, _body("application/json", {}), {"body": value}, method="post", contents=contents)
    assert json.loads(received.body) == {"name": "a", "files": [{"data": "aGVsbG8="}, {"data": "aGk="}]}


async def test_parts_of_a_multipart_body(recorder: Recorder) -> None:
    binary = {"type": "string", "format": "binary"}
    properties = {
        "picture": binary,
        "meta": {"type": "object"},
        "rows": {"type": "string"},
        "label": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "order": {"type": "object", "properties": {"id": {"type": "integer", "xml": {"attribute": True}}}},
        "plain": {"type": "integer"},
    }
    encoding = {
        "picture": {"contentType": "image/png, image/jpeg", "headers": {"X-Kind": {"schema": {"const": "avatar"}}}},
        "rows": {"contentType": "text/csv"},
        "label": {"contentType": "application/json"},
        "tags": {"contentType": "application/json"},
        "order": {"contentType": "application/xml"},
    }
    contents = ContentStore()
    value = {
        "picture": contents.put(Content(b"\x89PNG\r\n--x", "image/png", "a.png"), ""),
        "meta": {"k": [1]},
        "rows": "a,b\r\n1,2",
        "label": 'say "x"',
        "tags": ["a", "b"],
        "order": {"id": 7},
        "plain": 5,
    }
    operation = _body("multipart/form-data", {"type": "object", "properties": properties}, encoding=encoding)
    received = await _sent(recorder, operation, value, method="post", contents=contents)
    environ = EnvironBuilder(
        method="POST", data=received.body, content_type=received.headers["Content-Type"]
    ).get_environ()
    _, form, files = parse_form_data(environ)
    picture = files["picture"]
    with closing(picture.stream):
        assert picture.read() == b"\x89PNG\r\n--x"
    assert (picture.filename, picture.content_type, picture.headers["X-Kind"]) == ("a.png", "image/png", "avatar")
    assert dict(form) == {
        "meta": '{"k":[1]}',
        "rows": "a,b\r\n1,2",
        "label": '"say \\"x\\""',
        "tags": '["a","b"]',
        "order": '<?xml version="1.0" encoding="UTF-8"?>\n<order id="7"/>',
        "plain": "5",
    }


@pytest.mark.parametrize("method", ["get", "delete"])
async def test_bodies_go_out_with_every_method(recorder: Recorder, method: str) -> None:
    operation = _body("application/json", {"type": "object", "properties": {"a": {"type": "integer"}}})
    received = await _sent(recorder, operation, {"a": 1}, method=method)
    assert (received.method.lower(), received.body, received.headers["Content-Length"]) == (method, b'{"a":1}', "7")


@pytest.mark.parametrize(
    ("media_type", "value", "expected"),
    [
        ("application/x-ndjson", [{"a": "é"}, 2], '{"a":"é"}\n2\n'.encode()),
        ("application/json-seq", [{"a": 1}], b'\x1e{"a":1}\n'),
        ("text/plain; charset=iso-8859-1", "é", b"\xe9"),
        ("text/plain; charset=no-such", "é", b"\xc3\xa9"),
        ("application/octet-stream", {"$base64": "/wA="}, b"\xff\x00"),
        ("application/json-patch+json", [{"op": "remove", "path": "/a"}], b'[{"op":"remove","path":"/a"}]'),
        ("application/merge-patch+json", {"a": None}, b'{"a":null}'),
        ("application/xml", "<already/>", b"<already/>"),
    ],
)
async def test_whole_bodies(recorder: Recorder, media_type: str, value: Any, expected: bytes) -> None:
    received = await _sent(recorder, _body(media_type, {}), {"body": value}, method="patch")
    assert (received.body, received.headers["Content-Type"]) == (expected, media_type)


PET = {
    "type": "object",
    "xml": {"name": "pet", "namespace": "urn:pets", "prefix": "p"},
    "properties": {
        "id": {"type": "integer", "xml": {"attribute": True}},
        "name": {"type": "string"},
        "tags": {"type": "array", "xml": {"name": "tags", "wrapped": True}, "items": {"xml": {"name": "tag"}}},
        "photo": {"type": "array", "items": {"type": "string", "xml": {"name": "url"}}},
        "scores": {"type": "array", "items": {"type": "integer"}},
        "owner": {"$ref": "#/components/schemas/Owner"},
        "note": {"xml": {"nodeType": "text"}},
    },
}


PROFILE = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "address": {"type": "object", "properties": {"city": {"type": "string"}, "tags": {"type": "array"}}},
    },
}
MERGE = {"requestBody": {"required": True, "content": {"application/merge-patch+json": {"schema": PROFILE}}}}


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ({"id": 1, "address": {"city": None}}, {"id": 1, "address": {"city": None}}),
        ({"body": {"id": 1, "name": None}}, {"id": 1, "name": None}),
        (
            {"body": {"id": 1, "address": {"city": None, "tags": [None]}}},
            {"id": 1, "address": {"city": None, "tags": [None]}},
        ),
    ],
)
async def test_null_removes_a_member_of_a_merge_patch(
    recorder: Recorder, arguments: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert json.loads((await _sent(recorder, MERGE, arguments, method="patch")).body) == sent


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"id": 1, "name": None}, "name=None: leave name out to keep it; body={'name': None, …} removes it"),
        ({"body": {"id": None}}, "'id' is a required property"),
        ({"id": 1, "address": {"city": 5, "tags": None}}, "5 is not of type 'string'"),
        ({"body": {"id": 1, "name": [None]}}, "is not of type 'string'"),
    ],
)
async def test_what_null_does_not_remove_is_a_mistake(recorder: Recorder, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(CallError) as error:
        await _sent(recorder, MERGE, arguments, method="patch")
    assert says in str(error.value)
    assert recorder.received == []


async def test_null_in_other_bodies_is_what_the_schema_says(recorder: Recorder) -> None:
    plain = _body("application/json", PROFILE)
    received = await _sent(recorder, plain, {"id": 1, "name": None}, method="patch")
    assert json.loads(received.body) == {"id": 1}
    with pytest.raises(CallError, match="None is not of type 'string'"):
        await _sent(recorder, plain, {"body": {"id": 1, "name": None}}, method="patch")


async def test_a_value_as_xml(recorder: Recorder) -> None:
    owner = {"type": "object", "properties": {"full": {"type": "string", "xml": {"prefix": "o", "namespace": "urn:o"}}}}
    value = {
        "id": 7,
        "name": "Rex & <Co>",
        "tags": [{"k": 1}, {"k": 2}],
        "photo": ["a", "b"],
        "scores": [1, 2],
        "owner": {"full": "Ann"},
        "gone": None,
        "note": "!",
    }
    operation = _body("application/xml", {"$ref": "#/components/schemas/Pet"})
    received = await _sent(recorder, operation, {"body": value}, method="post", schemas={"Pet": PET, "Owner": owner})
    assert received.body.decode() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<p:pet xmlns:p="urn:pets" id="7"><name>Rex &amp; &lt;Co&gt;</name>'
        "<tags><tag><k>1</k></tag><tag><k>2</k></tag></tags><url>a</url><url>b</url>"
        '<scores>1</scores><scores>2</scores><owner><o:full xmlns:o="urn:o">Ann</o:full></owner>!</p:pet>'
    )
    root = ET.fromstring(received.body)  # noqa: S314 -- made here
    assert (root.tag, root.get("id"), root.findtext("owner/{urn:o}full")) == ("{urn:pets}pet", "7", "Ann")


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"$ref": "#/components/schemas/Plain"}, {"a": True}, "<Plain><a>true</a></Plain>"),
        ({"type": "object"}, {}, "<root/>"),
        (
            {"type": "array", "items": {"xml": {"name": "i"}}, "xml": {"wrapped": True, "name": "l"}},
            [1],
            "<l><i>1</i></l>",
        ),
    ],
)
async def test_the_root_of_xml(recorder: Recorder, schema: dict[str, Any], value: Any, expected: str) -> None:
    schemas = {"Plain": {"type": "object", "properties": {"a": {"type": "boolean"}}}}
    received = await _sent(recorder, _body("text/xml", schema), {"body": value}, method="put", schemas=schemas)
    assert received.body.decode().partition("\n")[2] == expected


@pytest.mark.parametrize("value", [{"a b": 1}, {"a": "\x00"}, {"<x>": 1}, {"1": 2}])
async def test_what_xml_cannot_hold_is_not_sent(recorder: Recorder, value: Any) -> None:
    with pytest.raises(CallError, match="XML"):
        await _sent(recorder, _body("application/xml", {"type": "object"}), {"body": value}, method="post")
    assert recorder.received == []
