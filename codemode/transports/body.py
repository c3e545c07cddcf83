"""Request bodies: JSON, forms with nested fields, multipart with files, lines of JSON, text, bytes."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from urllib.parse import quote_plus as _quote_plus

from codemode.catalog.content import is_content
from codemode.transports import styles
from codemode.transports.invocation import BodyKind, FieldEncoding

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema
    from codemode.transports.content import ContentStore
    from codemode.transports.invocation import BodyPlan

_PLAIN = FieldEncoding()

quote_plus = partial(_quote_plus, errors="replace")


def encode_body(plan: BodyPlan, value: Any, contents: ContentStore) -> tuple[bytes, str]:
    """The body and its media type. Raises CallError where content that a value refers to is no longer kept."""
    match plan.kind:
        case BodyKind.JSON:
            return _json(value), _json_type(plan.media_types, value)
        case BodyKind.FORM:
            return _form(plan, value).encode(), plan.media_type
        case BodyKind.MULTIPART:
            return _multipart(plan, value, contents)
        case BodyKind.LINES:
            lines = value if isinstance(value, list) else [value]
            return b"".join(_json(line) + b"\n" for line in lines), plan.media_type
        case BodyKind.TEXT | BodyKind.BYTES:
            return _raw(plan, value, contents)


def _raw(plan: BodyPlan, value: Any, contents: ContentStore) -> tuple[bytes, str]:
    if is_content(value) or (isinstance(value, str) and plan.kind is BodyKind.BYTES):
        content = contents.get(value)
        return content.data, content.media_type if "*" in plan.media_type else plan.media_type
    return (value.encode("utf-8", "replace") if isinstance(value, str) else _json(value)), plan.media_type


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _json_type(media_types: tuple[str, ...], value: Any) -> str:
    """Which JSON type of several: JSON Patch (RFC 6902) is a list, every kind of merge patch (RFC 7396) an object."""
    patches = [name for name in media_types if name.startswith("application/json-patch")]
    if isinstance(value, list) and patches:
        return patches[0]
    others = [name for name in media_types if name not in patches] or list(media_types)
    return next((name for name in others if "merge-patch" in name and "strategic" not in name), others[0])


def _form(plan: BodyPlan, value: Any) -> str:
    if not isinstance(value, Mapping):
        return styles.scalar(value)
    texts = []
    for name, item in value.items():
        encoding = plan.encodings.get(name, _PLAIN)
        style = encoding.style or ("deepObject" if _is_nested(item) else "form")
        if item is None or item == {}:
            texts.append(f"{quote_plus(name)}=")  # an empty value unsets a field of a form
            continue
        for key, text in styles.pairs(name, item, style, explode=encoding.explode):
            texts.append(f"{quote_plus(key)}={quote_plus(text)}")
    return "&".join(texts)


def _is_nested(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return isinstance(value, list) and any(isinstance(item, (Mapping, list)) for item in value)


def _multipart(plan: BodyPlan, value: Any, contents: ContentStore) -> tuple[bytes, str]:
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
    name: str, value: Any, schema: Schema | None, encoding: FieldEncoding, contents: ContentStore
) -> Iterator[tuple[str, bytes]]:
    if value is None:
        return
    if isinstance(value, list) and encoding.content_type != "application/json":
        for item in value:
            yield from _parts(name, item, None if schema is None else _items(schema), encoding, contents)
        return
    field = f'Content-Disposition: form-data; name="{_quoted(name)}"'
    if is_content(value) or (isinstance(value, str) and schema is not None and _is_file(schema)):
        content = contents.get(value)
        media_type = (
            content.media_type if "*" in encoding.content_type or not encoding.content_type else encoding.content_type
        )
        yield (
            f'{field}; filename="{_quoted(content.name or name)}"\r\nContent-Type: {media_type.partition(",")[0]}',
            content.data,
        )
    elif isinstance(value, (Mapping, list)):
        yield f"{field}\r\nContent-Type: {encoding.content_type or 'application/json'}", _json(value)
    else:
        yield field, styles.scalar(value).encode("utf-8", "replace")


def _items(schema: Schema) -> Schema | None:
    items = schema.first("items")
    return schema.at(items) if isinstance(items, Mapping) else None


def _is_file(schema: Schema) -> bool:
    return schema.first("format") == "binary" or "file" in schema.types()


def _quoted(name: str) -> str:
    return quote(name, safe=" !#$&'()*+,-./:;<=>?@[]^_`{|}~", errors="replace")
