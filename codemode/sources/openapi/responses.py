"""The successful response of an operation: its schema and its media types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemode.catalog.schema import Dialect, Schema
from codemode.sources.openapi.bodies import is_json, item_schema, kind_of
from codemode.transports.http.headers import is_shown
from codemode.transports.http.invocation import BodyKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.sources.openapi.operations import Operation

_NO_CONTENT = {"type": "null"}
_TEXT = {"type": "string"}
_BINARY = {"type": "string", "format": "binary"}

#: Server-sent events, as `codemode.transports.http.answers.events` returns them.
_EVENT = {"type": "object", "properties": {"event": _TEXT, "id": _TEXT, "data": {}}, "required": ["data"]}
_EVENTS = {"type": "array", "items": _EVENT}


def returns_of(operation: Operation) -> tuple[Schema | None, tuple[str, ...]]:
    """Return the schema of the successful response, or None if it is undocumented, and its media types."""
    if operation.method == "HEAD":
        return operation.node.at(_object_of(headers_of(operation))), ()
    has_no_content = False
    for node in _successes(operation):
        content = _content(operation, node)
        if content:
            return _schema_of(node, content), tuple(content)
        has_no_content = True
    return (operation.node.at(_NO_CONTENT) if has_no_content and not _is_undocumented(operation) else None), ()


def headers_of(operation: Operation) -> dict[str, Schema]:
    """Return the declared headers of the successful response that programs receive, by name in lower case."""
    for node in _successes(operation):
        declared = node.get("headers")
        if isinstance(declared, Mapping) and declared:
            named = {str(name).lower(): node.at(header).resolved() for name, header in declared.items()}
            return {name: header for name, header in named.items() if is_shown(name)}
    return {}


def _object_of(headers: Mapping[str, Schema]) -> dict[str, Any]:
    properties = {name: {"type": "string", **_about(header)} for name, header in headers.items()}
    return {"type": "object", "properties": properties, "additionalProperties": _TEXT}


def _about(header: Schema) -> dict[str, Any]:
    description = header.get("description")
    return {"description": description} if isinstance(description, str) else {}


def _successes(operation: Operation) -> Iterator[Schema]:
    declared = operation.node.get("responses")
    if not isinstance(declared, Mapping):
        return
    successful = sorted(str(code) for code in declared if str(code)[:1] == "2")
    for code in (*successful, *(("default",) if "default" in declared and not successful else ())):
        node = operation.node.at(declared.get(code)).resolved()
        if isinstance(node.value, Mapping):
            yield node


def _content(operation: Operation, node: Schema) -> Mapping[str, Any]:
    if operation.document.dialect is not Dialect.SWAGGER_2_0:
        content = node.get("content")
        return content if isinstance(content, Mapping) else {}
    schema = node.get("schema")
    if not isinstance(schema, Mapping):
        return {}
    produces = operation.node.get("produces", operation.document.root.get("produces"))
    names = [str(name) for name in produces] if isinstance(produces, list) and produces else ["application/json"]
    return {name: {"schema": schema} for name in names}


def _schema_of(node: Schema, content: Mapping[str, Any]) -> Schema | None:
    media_type = next((name for name in content if is_json(str(name))), None) or str(next(iter(content)))
    media = content[media_type]
    schema = media.get("schema") if isinstance(media, Mapping) else None
    items = item_schema(media)
    if items is not None:
        return node.at(items)
    if media_type.partition(";")[0].strip().lower() == "text/event-stream":
        return node.at(_EVENTS)
    kind = kind_of(media_type)
    if kind is BodyKind.TEXT:
        return node.at(_TEXT)
    if kind is BodyKind.BYTES:
        return node.at(_BINARY)
    return node.at(schema) if isinstance(schema, Mapping) and schema else None


def _is_undocumented(operation: Operation) -> bool:
    """Whether a response without documented content has any. A GET returns something; other methods may not."""
    return operation.method == "GET"
