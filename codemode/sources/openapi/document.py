"""Read OpenAPI 3.0, 3.1, 3.2 and Swagger 2.0 documents as tools."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from codemode.catalog.effects import effect_of_method, judge
from codemode.catalog.identifiers import identifier
from codemode.catalog.names import long_name, plain_paths, tool_ids
from codemode.catalog.tool import Details, Tool
from codemode.sources.loaded import SourceWarning, Surface
from codemode.sources.openapi.arguments import fixed_values, parameters_of, raw_parameters
from codemode.sources.openapi.bodies import body_of, is_json
from codemode.sources.openapi.discovery import EXPANSION
from codemode.sources.openapi.flaws import flaws_of, reserved_headers
from codemode.sources.openapi.internal import left_out, mark_of
from codemode.sources.openapi.operations import ApiDocument, Operation
from codemode.sources.openapi.pages import paging_of_extension
from codemode.sources.openapi.responses import headers_of, returns_of
from codemode.text.prose import first_sentence
from codemode.transports.http.headers import ACCEPT
from codemode.transports.http.invocation import HttpInvocation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.names import OperationKey
    from codemode.catalog.schema import Schema

#: Names of path parameters whose values may hold slashes, such as file paths and branches.
_TREE_NAME = re.compile(r"(^|[_-])(path|filepath|filename|file|dir|ref|basehead|branch|tag|key)$", re.IGNORECASE)

#: How descriptions say that a value must be URL-encoded, because it may hold slashes (GitLab, Cloudflare).
_ENCODED = re.compile(r"url[ _-]?encoded|_encoded\b", re.IGNORECASE)

#: A negated character class. A slash in it is not allowed in the value.
_NEGATED = re.compile(r"\[\^(?:\\.|[^\]\\])*+(?:\]|\\?\Z)", re.DOTALL)


def load_openapi(
    document: Any,
    *,
    name: str,
    uri: str = "",
    retrieve: Callable[[str], Any] | None = None,
    known_ids: Mapping[str, str] | None = None,
    keeps_internal: bool = False,
) -> Surface:
    """Return the tools of a parsed document, in the namespace `name`.

    Operations that cannot be read are left out and reported in the warnings. `known_ids` maps operations (`GET /path`)
    to stored ids, which are kept. `retrieve` returns the data of a referenced document by URI. `keeps_internal` keeps
    operations that the document marks as internal. Raises SourceError if the data is not an API document.
    """
    api = ApiDocument(document, uri=uri, retrieve=retrieve)
    warnings: list[SourceWarning] = []
    operations = _operations(api, warnings)
    marks = {} if keeps_internal else {key: mark for key, (_, one) in operations.items() if (mark := mark_of(one))}
    operations = {key: one for key, one in operations.items() if key not in marks}
    warnings += left_out(marks)
    warnings += dict.fromkeys(flaw for _, operation in operations.values() for flaw in flaws_of(operation))
    warnings += reserved_headers(operation for _, operation in operations.values())
    ids = tool_ids(name, (key for key, _ in operations.values()), known_ids=known_ids)
    tools = tuple(_tool(operation, key, ids[key.key], name) for key, operation in operations.values())
    return Surface(
        tools=tools,
        warnings=tuple(warnings),
        servers=api.servers,
        server_defaults=api.server_defaults,
        title=api.title,
        auth=tuple(api.security_schemes.values()),
        description=api.description,
    )


def _operations(api: ApiDocument, warnings: list[SourceWarning]) -> dict[str, tuple[OperationKey, Operation]]:
    """Return the operations by their keys. Of two with one method and path, the first counts."""
    operations: dict[str, tuple[OperationKey, Operation]] = {}
    for operation in api.operations(warnings):
        key = operation.key
        if key.key in operations:
            warnings.append(SourceWarning(operation.pointer, f"{key.key} is described twice: the first one counts"))
        else:
            operations[key.key] = key, operation
    return operations


def _tool(operation: Operation, key: OperationKey, id_: str, source: str) -> Tool:
    tags = operation.node.get("tags")
    summary = operation.text("summary")
    description = operation.text("description")
    effect, word, _ = judge(None, effect_of_method(operation.method), _names(key), summary, description)
    return Tool(
        id_,
        source=source,
        summary=first_sentence(description) if _repeats_name(summary, key) and description else summary,
        description=description,
        effect=effect,
        effect_word=word,
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        aliases=_aliases(key, id_, source),
        retrieval_text=f"{key.operation_id} {operation.method} {operation.path}".strip(),
        deprecated=operation.node.get("deprecated") is True,
        key=key.key,
        details=partial(details_of, operation),
    )


def _repeats_name(summary: str, key: OperationKey) -> bool:
    """Whether a summary only repeats the operationId, as frameworks generate it: `List Templates`."""
    name = "".join(filter(str.isalnum, key.operation_id)).lower()
    words = "".join(filter(str.isalnum, summary)).lower()
    return name.startswith(words)  # frameworks append the path and the method to an operationId


def details_of(operation: Operation) -> Details:
    """Return the parameters, the invocation and the result of an operation."""
    nodes = raw_parameters(operation)
    body = body_of(operation, nodes)
    returns, accept = returns_of(operation)
    template = operation.template
    path, query = _split(template.text)
    expanded = (str(node.get("name")) for node in nodes if node.get(EXPANSION) is True)
    invocation = HttpInvocation(
        method=operation.method,
        path=path,
        query=query,
        servers=operation.document.servers_of(operation),
        body=body,
        accept=accept,
        is_json=bool(accept) and all(is_json(name) for name in accept) and not _declares_type(nodes),
        slashed=_slashed_parameters(operation, nodes),
        expanded=template.expanded.union(expanded),
        security=operation.security,
        defaults=fixed_values(operation, nodes),
    )
    parameters = parameters_of(operation, nodes, body, accept)
    return Details(
        parameters,
        invocation,
        returns,
        (body.whole or body.schema) if body else None,
        body is not None and body.required,
        body is not None and body.merges,
        paging_of_extension(operation.node, parameters),
        headers=headers_of(operation),
    )


def _declares_type(nodes: list[Schema]) -> bool:
    """Whether an `Accept` parameter chooses the type of the answer."""
    return any(node.get("in") == "header" and str(node.get("name")).lower() == ACCEPT for node in nodes)


def _names(key: OperationKey) -> tuple[str, ...]:
    """Return the names of an operation: its operationId, and the last path segment unless it is a placeholder."""
    end = _split(key.path)[0].rstrip("/").rpartition("/")[2]
    end = end.rpartition(":")[2] if ":" in end else "" if "{" in end else end
    return tuple(name for name in (key.operation_id, end) if name)


def _aliases(key: OperationKey, id_: str, source: str) -> tuple[str, ...]:
    """Return the aliases: the operationId, as written and in snake case, the guessable ids, and the unshortened id."""
    operation_id = key.operation_id
    if not operation_id:
        return ()
    whole = long_name(source, id_, key)
    names = dict.fromkeys((operation_id, identifier(operation_id), *plain_paths(key), whole))
    return tuple(name for name in names if name and name != id_.partition(".")[2])


def _split(path: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Split a path into the path and its fixed query. A `#` suffix only makes the key unique and is dropped."""
    path, _, query = path.partition("#")[0].partition("?")
    pairs = tuple((key, value) for part in query.split("&") if part for key, _, value in [part.partition("=")])
    return path, pairs


def _slashed_parameters(operation: Operation, nodes: list[Schema]) -> frozenset[str]:
    """Return the path parameters whose values may hold slashes, by their name or their declaration."""
    marked = {node.get("name") for node in nodes if node.get("in") == "path" and _holds_slashes(node)}
    return frozenset(name for name in operation.placeholders if name in marked or _TREE_NAME.search(name))


def _holds_slashes(node: Schema) -> bool:
    """Whether a Parameter Object allows slashes in its value, or has an example with one."""
    if node.get("x-multi-segment") is True or node.get("allowReserved") is True:
        return True
    schema = (node.at(node.get("schema")) if "schema" in node.value else node).resolved()
    pattern = schema.first("pattern")
    if isinstance(pattern, str) and "/" in _NEGATED.sub("", pattern):
        return True
    sample_values = [str(value) for value in (node.get("example"), schema.first("example"), schema.first("default"))]
    return (
        any("/" in text or "%2f" in text.lower() for text in sample_values)
        or _ENCODED.search(f"{node.get('name')} {node.get('description')} {schema.first('description')}") is not None
    )
