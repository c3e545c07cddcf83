"""Fields of forms and parts of multipart bodies, as services read them."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

import pytest

from codemode.catalog.schema import Dialect, Schema
from codemode.transports.content import Content, ContentStore
from codemode.transports.http.body import encode_body
from codemode.transports.http.invocation import BodyKind, BodyPlan, FieldEncoding

CONTENTS = ContentStore().of("")


def _encoded(kind: BodyKind, value: Any, properties: dict[str, Any], **encodings: FieldEncoding) -> bytes:
    schema = Schema.of({"type": "object", "properties": properties}, dialect=Dialect.OPENAPI_3_1)
    plan = BodyPlan(kind, ("x/y",), schema, required=True, encodings=encodings)
    return encode_body(plan, value, CONTENTS)[0]


@pytest.mark.parametrize("value", ["general", 7, True, None, ["a"], {"a": 1}, 'say "x"'])
def test_a_form_field_that_is_declared_as_json_is_json(value: Any) -> None:
    body = _encoded(BodyKind.FORM, {"to": value}, {}, to=FieldEncoding(content_type="application/json"))
    ((name, text),) = parse_qsl(body.decode(), keep_blank_values=True)
    assert (name, json.loads(text) if text else None) == ("to", value)


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("résumé 2026.txt", "résumé 2026.txt"),
        ("報告 100%.pdf", "報告 100%.pdf"),
        ('a"\r\nX: 1\\.txt', "a%22%0D%0AX: 1%5C.txt"),
        ("\ud800.txt", "?.txt"),
    ],
)
def test_names_of_files_and_fields_are_utf_8_and_stay_in_their_quotes(name: str, sent: str) -> None:
    reference = CONTENTS.put(Content(b"x", "text/plain", name))
    body = _encoded(BodyKind.MULTIPART, {name: reference}, {})
    disposition = body.split(b"\r\n")[1].decode()
    assert disposition == f'Content-Disposition: form-data; name="{sent}"; filename="{sent}"'


@pytest.mark.parametrize(
    ("schema", "is_file"),
    [
        ({"type": "string", "format": "binary"}, True),
        ({"type": "string", "contentMediaType": "application/octet-stream"}, True),
        ({"type": "string", "contentMediaType": "image/png", "contentEncoding": "base64"}, False),
        ({"type": "string", "contentMediaType": "application/json"}, False),
        ({"type": "string", "contentMediaType": "text/html"}, False),
        ({"type": "string"}, False),
    ],
)
@pytest.mark.parametrize("is_list", [False, True])
def test_text_is_a_file_where_the_document_declares_one(schema: dict[str, Any], is_file: bool, is_list: bool) -> None:
    declared = {"type": "array", "items": schema} if is_list else schema
    body = _encoded(BodyKind.MULTIPART, {"up": ["hello"] if is_list else "hello"}, {"up": declared})
    assert (b'; filename="up"' in body) is is_file
