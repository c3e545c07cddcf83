"""What an operation answers when it succeeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemode.catalog.schema import Dialect, Schema
from codemode.sources.openapi.bodies import is_json, item_schema, kind_of
from codemode.transports.http.invocation import BodyKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.sources.openapi.operations import Operation

_NOTHING = {"type": "null"}
_TEXT = {"type": "string"}
_BINARY = {"type": "string", "format": "binary"}


def returns_of(operation: Operation) -> tuple[Schema | None, tuple[str, ...]]:
    """The schema of the successful answer (None where none is documented) and the media types it may have."""
    bare = False
    for node in _successes(operation):
        content = _content(operation, node)
        if content:
            return _schema_of(node, content), tuple(content)
        bare = True
    return (operation.node.at(_NOTHING) if bare and not _may_answer_anything(operation) else None), ()


def _successes(operation: Operation) -> Iterator[Schema]:
    declared = operation.node.get("responses")
    if not isinstance(declared, Mapping):
        return
    good = sorted(str(code) for code in declared if str(code)[:1] == "2")
    for code in (*good, *(("default",) if "default" in declared and not good else ())):
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
    chosen = next((name for name in content if is_json(str(name))), None) or str(next(iter(content)))
    media = content[chosen]
    schema = media.get("schema") if isinstance(media, Mapping) else None
    items = item_schema(media)
    if items is not None:
        return node.at(items)
    kind = kind_of(chosen)
    if kind is BodyKind.TEXT:
        return node.at(_TEXT)
    if kind is BodyKind.BYTES:
        return node.at(_BINARY)
    return node.at(schema) if isinstance(schema, Mapping) and schema else None


def _may_answer_anything(operation: Operation) -> bool:
    """A GET that documents no content documents nothing; other methods may well answer with nothing."""
    return operation.method == "GET"
