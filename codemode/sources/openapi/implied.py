"""Arguments that a document implies without declaring them: the type of the answer, and the version to change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemode.sources.openapi.bodies import is_json
from codemode.transports.http.headers import ACCEPT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codemode.catalog.schema import Schema
    from codemode.sources.openapi.operations import Operation

_IF_MATCH = "If-Match"

#: Statuses of conditional requests (RFC 9110, 15.5.13; RFC 6585, 3).
_CONDITIONAL = ("412", "428")
_CHANGING = ("PUT", "PATCH", "DELETE", "POST")

#: Other names of what JSON says as well.
_LIKE_JSON = ("xml", "yaml", "/*", "text/plain", "text/json", "event-stream")

#: Most types of the answer that one can be chosen of.
_MOST_TYPES = 8


def implied_arguments(
    operation: Operation, nodes: Sequence[Schema], types: Sequence[str]
) -> Iterator[tuple[str, Schema, str]]:
    """Yield the header names, schemas and descriptions of such arguments. `types` are those of the answer."""
    declared = {str(node.get("name")).lower(): node for node in nodes if node.get("in") == "header"}
    choice = answer_types(declared.get(ACCEPT), types)
    if choice:
        yield ACCEPT, operation.node.at({"type": "string", "enum": [*choice]}), "The type of the answer."
    if _IF_MATCH.lower() not in declared and _is_conditional(operation):
        about = "The ETag of the version to change, from .response(...).headers.etag of its read."
        yield _IF_MATCH, operation.node.at({"type": "string"}), about


def answer_types(declared: Schema | None, types: Sequence[str]) -> tuple[str, ...]:
    """Return the media types that a program can choose between, empty if there is nothing to choose.

    `declared` is an `Accept` parameter, whose values count first.
    """
    values = _values(declared) if declared is not None else ()
    named = dict.fromkeys(name.partition(";")[0].strip() for name in (*values, *types))
    others = [name for name in named if name in values or not _is_like_json(name)]
    as_json = [name for name in named if is_json(name) and name not in others]
    choice = (*as_json[:1], *others)[:_MOST_TYPES]
    return choice if len(choice) > 1 else ()


def _values(declared: Schema) -> tuple[str, ...]:
    schema = declared.at(declared.get("schema")) if isinstance(declared.get("schema"), Mapping) else declared
    values: Any = schema.resolved().first("enum")
    return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()


def _is_like_json(name: str) -> bool:
    return is_json(name) or name.lower().endswith(_LIKE_JSON)


def _is_conditional(operation: Operation) -> bool:
    """Return whether an operation changes a version: it may answer that another one is there, or a read has an ETag."""
    responses = operation.node.get("responses")
    if operation.method not in _CHANGING or not isinstance(responses, Mapping):
        return False
    if any(str(code) in _CONDITIONAL for code in responses):
        return True
    read = operation.item.get("get")
    read = operation.item.at(read).resolved() if isinstance(read, Mapping) else None
    answers = read.get("responses") if read is not None else None
    succeeded = answers.get("200", answers.get(200)) if isinstance(answers, Mapping) else None
    headers = read.at(succeeded).resolved().get("headers") if read is not None and succeeded else None
    return isinstance(headers, Mapping) and any(str(name).lower() == "etag" for name in headers)
