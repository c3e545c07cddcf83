"""Choose the media type and the encoding of an operation's request body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.schema import Dialect, Schema
from codemode.transports.http.invocation import BodyKind, BodyPlan, FieldEncoding

if TYPE_CHECKING:
    from codemode.sources.openapi.operations import Operation

#: The order of preference among the declared kinds. JSON schemas say most about types.
_PREFERENCE = (BodyKind.JSON, BodyKind.FORM, BodyKind.MULTIPART, BodyKind.LINES, BodyKind.TEXT, BodyKind.BYTES)

#: Methods whose requests usually have a body (RFC 9110, section 9.3).
_WITH_BODY = ("POST", "PUT", "PATCH")

_LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq")


def body_of(operation: Operation, nodes: list[Schema]) -> BodyPlan | None:
    """Return the body of an operation, or None. `nodes` are its Parameter Objects."""
    if operation.document.dialect is Dialect.SWAGGER_2_0:
        return _swagger_body(operation, nodes)
    declared = operation.node.get("requestBody")
    if not isinstance(declared, Mapping):
        return None
    node = operation.node.at(declared).resolved()
    content = node.get("content")
    if not isinstance(content, Mapping) or not content:
        return None
    plan = _plan(node, content, required=node.get("required") is True)
    if not plan.required and operation.method in _WITH_BODY and plan.schema.required():
        plan = replace(plan, required=True)  # `required: true` is often forgotten, but its fields are required
    return None if _is_empty(plan) else plan


def kind_of(media_type: str) -> BodyKind:
    """Return the body kind of a media type."""
    name = media_type.partition(";")[0].strip().lower()
    if name == "application/x-www-form-urlencoded":
        return BodyKind.FORM
    if name.startswith("multipart/"):
        return BodyKind.MULTIPART
    if name in _LINES:
        return BodyKind.LINES
    if is_json(name) or name == "*/*":
        return BodyKind.JSON
    if name.startswith("text/") or name.endswith(("xml", "yaml", "javascript", "graphql", "sdp")):
        return BodyKind.TEXT
    return BodyKind.BYTES


def is_json(media_type: str) -> bool:
    """Whether a media type is JSON, or has the `+json` suffix (RFC 6839)."""
    name = media_type.partition(";")[0].strip().lower()
    return name.endswith(("/json", "+json")) or name == "text/json"


def is_form(content: Any) -> bool:
    """Whether a `content` table has a form media type."""
    return isinstance(content, Mapping) and any(kind_of(str(name)) is BodyKind.FORM for name in content)


def item_schema(media: Any) -> Any:
    """Return the array schema of a streamed media type (OpenAPI 3.2, `itemSchema`), or None."""
    items = media.get("itemSchema") if isinstance(media, Mapping) else None
    return {"type": "array", "items": items} if isinstance(items, (Mapping, bool)) else None


def _plan(node: Schema, content: Mapping[str, Any], *, required: bool) -> BodyPlan:
    by_kind: dict[BodyKind, list[str]] = {}
    for media_type in content:
        by_kind.setdefault(kind_of(str(media_type)), []).append(str(media_type))
    kind = next(kind for kind in _PREFERENCE if kind in by_kind)
    media_types = tuple(sorted(by_kind[kind], key=lambda name: name.partition(";")[0].lower() != "application/json"))
    media = content[media_types[0]]
    schema = item_schema(media) or (media.get("schema") if isinstance(media, Mapping) else None)
    encodings = media.get("encoding") if isinstance(media, Mapping) else None
    declared = node.at(schema if isinstance(schema, (Mapping, bool)) else _default_schema(kind))
    if "*/*" in media_types and declared.resolved().first("format") == "binary":
        kind = BodyKind.BYTES
    return BodyPlan(
        kind=kind,
        media_types=tuple(_concrete_media_type(media_type, kind) for media_type in media_types),
        schema=declared,
        required=required,
        encodings=_encodings(encodings),
    )


def _is_empty(plan: BodyPlan) -> bool:
    """Whether the body is an object without any fields, such as the body of Stripe's GET operations."""
    schema = plan.schema.resolved()
    if schema.get("type") == "null":
        return True
    if plan.required or schema.types() != ("object",) or schema.properties() or schema.variants():
        return False
    return schema.first("additionalProperties") in (None, False) and schema.get("properties") == {}


def _concrete_media_type(media_type: str, kind: BodyKind) -> str:
    """Replace a media range such as `text/*` by a media type. Byte bodies keep it: each content has its own type."""
    defaults = {BodyKind.JSON: "application/json", BodyKind.TEXT: "text/plain"}
    return defaults.get(kind, media_type) if "*" in media_type else media_type


def _default_schema(kind: BodyKind) -> dict[str, Any]:
    if kind is BodyKind.BYTES:
        return {"type": "string", "format": "binary"}
    return {"type": "string"} if kind is BodyKind.TEXT else {}


def _encodings(declared: Any) -> dict[str, FieldEncoding]:
    encodings = {}
    for name, value in declared.items() if isinstance(declared, Mapping) else ():
        if isinstance(value, Mapping):
            style = value.get("style")
            explode = value.get("explode")
            encodings[str(name)] = FieldEncoding(
                style=style if isinstance(style, str) else "",
                explode=explode if isinstance(explode, bool) else style in (None, "form", "deepObject"),
                content_type=str(value.get("contentType") or ""),
                allow_reserved=value.get("allowReserved") is True,
                headers=tuple(_fixed_headers(value.get("headers"))),
            )
    return encodings


def _fixed_headers(declared: Any) -> Iterator[tuple[str, str]]:
    """Yield the part headers whose value the document fixes."""
    for name, header in declared.items() if isinstance(declared, Mapping) else ():
        schema = header.get("schema") if isinstance(header, Mapping) else None
        known = schema if isinstance(schema, Mapping) else {}
        value = next((known[key] for key in ("const", "default") if key in known), None)
        is_sendable = isinstance(value, str) and _HEADER.fullmatch(f"{name}: {value}") is not None
        if is_sendable and not str(name).lower().startswith("content-"):
            yield str(name), str(value)


#: A header that is one line of printable ASCII (RFC 9110, 5.5).
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+: [!-~]([ -~]*[!-~])?")


def _swagger_body(operation: Operation, nodes: list[Schema]) -> BodyPlan | None:
    consumes = operation.node.get("consumes", operation.document.root.get("consumes"))
    declared = [str(name) for name in consumes] if isinstance(consumes, list) else []
    for node in nodes:
        if node.get("in") == "body":
            media_types = declared or ["application/json"]
            content = {name: {"schema": node.get("schema")} for name in media_types}
            plan = _plan(node, content, required=node.get("required") is True)
            return None if _is_empty(plan) else plan
    fields = [node for node in nodes if node.get("in") == "formData"]
    return _form(operation, fields, declared) if fields else None


def _form(operation: Operation, fields: list[Schema], consumes: list[str]) -> BodyPlan:
    """Return form parameters as one object schema. In Swagger 2.0 a parameter is its own schema."""
    has_file = any(node.get("type") == "file" for node in fields)
    declares_multipart = any(name.startswith("multipart/") for name in consumes)
    is_multipart = has_file or (declares_multipart and "application/x-www-form-urlencoded" not in consumes)
    schema = {
        "type": "object",
        "properties": {str(node.get("name")): node.value for node in fields},
        "required": [node.get("name") for node in fields if node.get("required") is True],
    }
    return BodyPlan(
        kind=BodyKind.MULTIPART if is_multipart else BodyKind.FORM,
        media_types=("multipart/form-data" if is_multipart else "application/x-www-form-urlencoded",),
        schema=operation.node.at(schema),
        required=bool(schema["required"]),
        encodings={str(node.get("name")): _collection(node) for node in fields},
    )


def _collection(node: Schema) -> FieldEncoding:
    styles = {"multi": ("form", True), "ssv": ("spaceDelimited", False), "pipes": ("pipeDelimited", False)}
    style, explode = styles.get(str(node.get("collectionFormat", "csv")), ("form", False))
    return FieldEncoding(style=style, explode=explode)
