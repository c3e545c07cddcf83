"""Choose the media type and the encoding of an operation's request body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.schema import Dialect, Schema, either
from codemode.transports.http.invocation import BodyKind, BodyPlan, FieldEncoding
from codemode.transports.media_types import is_text

if TYPE_CHECKING:
    from codemode.sources.openapi.operations import Operation

#: The order of preference among the declared kinds. JSON schemas say most about types.
_PREFERENCE = (BodyKind.JSON, BodyKind.FORM, BodyKind.MULTIPART, BodyKind.LINES, BodyKind.TEXT, BodyKind.BYTES)

#: Kinds whose values are objects with fields.
_WITH_FIELDS = (BodyKind.JSON, BodyKind.FORM, BodyKind.MULTIPART)

#: Methods whose requests usually have a body (RFC 9110, section 9.3).
_WITH_BODY = ("POST", "PUT", "PATCH")

_LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq")


def body_of(operation: Operation, nodes: list[Schema]) -> BodyPlan | None:
    """Return the body of an operation, or None. `nodes` are its Parameter Objects."""
    if operation.document.dialect is Dialect.SWAGGER_2_0:
        plan = _swagger_body(operation, nodes)
    else:
        plan = _declared_body(operation)
    if plan is None and operation.method in _WITH_BODY:  # often forgotten in documents that are written by hand
        schema = operation.node.at(True)
        return BodyPlan(BodyKind.JSON, ("application/json",), schema, required=False, is_declared=False)
    return None if plan is None or _is_empty(plan) else plan


def _declared_body(operation: Operation) -> BodyPlan | None:
    declared = operation.node.get("requestBody")
    if not isinstance(declared, Mapping):
        return None
    node = operation.node.at(declared).resolved()
    content = node.get("content")
    if not isinstance(content, Mapping) or not content:
        return None
    plan = _plan(node, content, required=node.get("required") is True)
    needs_fields = all(one.schema.required() for one in plan.choices or (plan,))
    if not plan.required and operation.method in _WITH_BODY and needs_fields:
        plan = replace(plan, required=True)  # `required: true` is often forgotten, but its fields are required
    return plan


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
    if is_text(name):
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
    """Return the plan of a `content` table: that of the preferred media type, with the others as choices."""
    choices: list[BodyPlan] = []
    for media_type, media in content.items():
        one = _of_media_type(node, str(media_type), media, required=required)
        same = next((i for i, known in enumerate(choices) if _is_same(known, one)), None)
        if same is None:
            choices.append(one)
        else:
            names = sorted((*choices[same].media_types, *one.media_types), key=_is_special)
            choices[same] = replace(choices[same], media_types=tuple(names))
    choices.sort(key=lambda one: (_PREFERENCE.index(one.kind), not _is_object(one.schema), _is_special(one.media_type)))
    first = choices[0]
    if len(choices) == 1:
        return first
    objects = [part for one in choices if one.kind in _WITH_FIELDS for part in _objects(one.schema)]
    fields = either(_distinct(objects) or [first.schema])
    return replace(first, schema=fields, choices=tuple(choices), whole=either(_distinct([c.schema for c in choices])))


def _of_media_type(node: Schema, media_type: str, media: Any, *, required: bool) -> BodyPlan:
    kind = kind_of(media_type)
    schema = item_schema(media) or (media.get("schema") if isinstance(media, Mapping) else None)
    encodings = media.get("encoding") if isinstance(media, Mapping) else None
    declared = node.at(schema if isinstance(schema, (Mapping, bool)) else _default_schema(kind))
    if media_type == "*/*" and declared.resolved().first("format") == "binary":
        kind = BodyKind.BYTES
    name = _concrete_media_type(media_type, kind)
    return BodyPlan(kind, (name,), declared, required=required, encodings=_encodings(encodings))


def _is_same(first: BodyPlan, second: BodyPlan) -> bool:
    return first.kind is second.kind and bool(first.schema.value == second.schema.value)


def _is_special(media_type: str) -> bool:
    return media_type.partition(";")[0].lower() != "application/json"


def _distinct(schemas: list[Schema]) -> list[Schema]:
    return [one for i, one in enumerate(schemas) if all(one.value != other.value for other in schemas[:i])]


def _objects(schema: Schema) -> list[Schema]:
    """Return an object schema with fields, or the members of a union of objects. Empty for any other schema."""
    if not _is_object(schema):
        return []
    resolved = schema.resolved()
    return [schema] if resolved.properties() else [*resolved.variants()]


def _is_object(schema: Schema) -> bool:
    resolved = schema.resolved()
    return bool(resolved.properties() or resolved.variants()) and resolved.types() in ((), ("object",))


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
            return _plan(node, content, required=node.get("required") is True)
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
