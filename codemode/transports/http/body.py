"""Request bodies: JSON, forms with nested fields, multipart with files, lines of JSON, text, bytes."""

from __future__ import annotations

import codecs
import json
import re
import secrets
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from urllib.parse import quote_plus as _quote_plus

from codemode.catalog.content import is_content
from codemode.errors import CallError
from codemode.transports.http import styles
from codemode.transports.http.body_choice import plan_for
from codemode.transports.http.escaping import plain_name, query_text, separator_text
from codemode.transports.http.invocation import BodyKind, FieldEncoding, is_merge_patch
from codemode.transports.http.xml import xml_of

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema
    from codemode.transports.content import OwnedContents
    from codemode.transports.http.invocation import BodyPlan

_PLAIN = FieldEncoding()
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)

#: What would end a name in a header: quotes, a backslash, and control characters.
_UNSAFE_IN_NAME = re.compile(r'["\\\x00-\x1f\x7f]')

quote_plus = partial(_quote_plus, errors="replace")


def encode_body(plan: BodyPlan, value: Any, contents: OwnedContents) -> tuple[bytes, str]:
    """Return the body and its media type.

    Raises CallError if referenced content is no longer stored, or if a field could be read as another one.
    """
    plan = plan_for(plan, value)
    match plan.kind:
        case BodyKind.JSON:
            return _json(contents.as_base64(value)), _json_type(plan.media_types, value)
        case BodyKind.FORM:
            return _form(plan, value).encode(), plan.media_type
        case BodyKind.MULTIPART:
            return _multipart(plan, value, contents)
        case BodyKind.LINES:
            lines = value if isinstance(value, list) else [value]
            before = b"\x1e" if "json-seq" in plan.media_type else b""  # RFC 7464
            return b"".join(before + _json(contents.as_base64(line)) + b"\n" for line in lines), plan.media_type
        case BodyKind.TEXT | BodyKind.BYTES:
            return _raw(plan, value, contents)


def _raw(plan: BodyPlan, value: Any, contents: OwnedContents) -> tuple[bytes, str]:
    if is_content(value) or (isinstance(value, str) and plan.kind is BodyKind.BYTES):
        content = contents.get(value)
        return content.data, content.media_type if "*" in plan.media_type else plan.media_type
    as_xml = _to_xml(plan.media_type, value, plan.schema, "root")
    if as_xml is not None:
        return as_xml, plan.media_type
    if not isinstance(value, str):
        return _json(value), plan.media_type
    match = _CHARSET.search(plan.media_type)
    return value.encode(_known(match[1] if match else "utf-8"), "replace"), plan.media_type


def _known(charset: str) -> str:
    try:
        return codecs.lookup(charset).name
    except LookupError:
        return "utf-8"


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _json_type(media_types: tuple[str, ...], value: Any) -> str:
    """Return the media type of a JSON body: a JSON Patch (RFC 6902) is a list, a merge patch (RFC 7396) an object."""
    patches = [name for name in media_types if name.startswith("application/json-patch")]
    if isinstance(value, list) and patches:
        return patches[0]
    others = [name for name in media_types if name not in patches] or list(media_types)
    return next(filter(is_merge_patch, others), others[0])


def _form(plan: BodyPlan, value: Any) -> str:
    if not isinstance(value, Mapping):
        return styles.scalar(value)
    texts = []
    names = {plain_name(name) for name in (*value, *plan.schema.properties())}
    for name, item in value.items():
        encoding = plan.encodings.get(name, _PLAIN)
        if item is None or item == {}:
            texts.append(f"{quote_plus(name)}=")  # an empty value unsets a form field
            continue
        for key, pieces in styles.pairs(name, item, _form_style(encoding, item), explode=encoding.explode):
            if key != name and plain_name(key) in names - {plain_name(name)}:
                message = f"{name} would send {key!r}, which could be read as another field; nothing was sent"
                raise CallError(message)
            parts = [separator_text(separator) + _form_text(text, encoding) for separator, text in pieces]
            texts.append(f"{quote_plus(key)}={''.join(parts)}")
    return "&".join(texts)


def _form_style(encoding: FieldEncoding, item: Any) -> str:
    if encoding.style:
        return encoding.style
    if _is_json(encoding.content_type):
        return "json"
    return "deepObject" if _is_nested(item) else "form"


def _form_text(text: str, encoding: FieldEncoding) -> str:
    return query_text(text, reserved=True) if encoding.allow_reserved else quote_plus(text)


def _is_json(media_type: str) -> bool:
    return media_type.partition(";")[0].strip().lower().endswith(("/json", "+json"))


def _is_nested(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return isinstance(value, list) and any(isinstance(item, (Mapping, list)) for item in value)


def _multipart(plan: BodyPlan, value: Any, contents: OwnedContents) -> tuple[bytes, str]:
    boundary = f"codemode-{secrets.token_hex(12)}"
    properties = plan.schema.properties()
    fields = value.items() if isinstance(value, Mapping) else [("body", value)]
    parts = []
    for name, item in fields:
        encoding = plan.encodings.get(name, _PLAIN)
        for head, data in _parts(str(name), item, properties.get(str(name)), encoding, contents):
            parts.append(b"--" + boundary.encode() + b"\r\n" + head.encode() + b"\r\n\r\n" + data + b"\r\n")
    media_type = plan.media_type.partition(";")[0]
    return b"".join(parts) + b"--" + boundary.encode() + b"--\r\n", f"{media_type}; boundary={boundary}"


def _parts(
    name: str, value: Any, schema: Schema | None, encoding: FieldEncoding, contents: OwnedContents
) -> Iterator[tuple[str, bytes]]:
    if value is None:
        return
    if isinstance(value, list) and not _is_json(encoding.content_type):
        for item in value:
            yield from _parts(name, item, None if schema is None else _items(schema), encoding, contents)
        return
    field = f'Content-Disposition: form-data; name="{_quoted(name)}"'
    more = "".join(f"\r\n{header}: {text}" for header, text in encoding.headers)
    if is_content(value) or (isinstance(value, str) and schema is not None and schema.is_file()):
        content = contents.get(value)
        media_type = (
            content.media_type if "*" in encoding.content_type or not encoding.content_type else encoding.content_type
        )
        head = f'{field}; filename="{_quoted(content.name or name)}"\r\nContent-Type: {media_type.partition(",")[0]}'
        yield head + more, content.data
    elif isinstance(value, (Mapping, list)):
        media_type = encoding.content_type or "application/json"
        yield f"{field}\r\nContent-Type: {media_type}{more}", _to_xml(media_type, value, schema, name) or _json(value)
    elif encoding.content_type:
        data = _json(value) if _is_json(encoding.content_type) else styles.scalar(value).encode("utf-8", "replace")
        yield f"{field}\r\nContent-Type: {encoding.content_type.partition(',')[0]}{more}", data
    else:
        yield f"{field}{more}", styles.scalar(value).encode("utf-8", "replace")


def _to_xml(media_type: str, value: Any, schema: Schema | None, name: str) -> bytes | None:
    """Return a value as XML, None if the media type is not XML or the value is already text."""
    is_xml = media_type.partition(";")[0].strip().lower().endswith(("/xml", "+xml"))
    if not is_xml or isinstance(value, str) or schema is None:
        return None
    return xml_of(value, schema, name)


def _items(schema: Schema) -> Schema | None:
    items = schema.first("items")
    return schema.at(items) if isinstance(items, Mapping) else None


def _quoted(name: str) -> str:
    """Return a name of a field or file as browsers send it: UTF-8, without what ends it (RFC 7578, 4.2; WHATWG)."""
    return _UNSAFE_IN_NAME.sub(lambda match: quote(match[0]), name.encode("utf-8", "replace").decode())
