"""Convert Google's discovery documents to OpenAPI 3.1.

https://developers.google.com/discovery/v1/reference/apis
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from codemode.errors import SourceError

#: The extension of path parameters that span several segments. Their slashes are not encoded.
EXPANSION = "x-reserved-expansion"

#: The query parameters of all methods that are useful to programs.
_COMMON = ("fields",)

_KEPT_KEYWORDS = ("description", "enum", "format", "pattern", "readOnly", "deprecated")
_NUMBERS = {"minimum": "minimum", "maximum": "maximum"}
_EXPANDED = re.compile(r"\{\+(\w+)\}")

_OAUTH = {
    "authorizationUrl": "https://accounts.google.com/o/oauth2/v2/auth",
    "tokenUrl": "https://oauth2.googleapis.com/token",
}


def is_discovery(document: Any) -> bool:
    """Whether a document describes a REST API in the format of Google's discovery service."""
    return isinstance(document, Mapping) and document.get("kind") == "discovery#restDescription"


def as_openapi(document: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a discovery document to OpenAPI 3.1.

    Paths are relative to `rootUrl`, because upload paths lie outside `servicePath`. Raises SourceError if the document
    does not follow the discovery format.
    """
    try:
        return _converted(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"is not a valid Google discovery document: {type(error).__name__}: {error}"
        raise SourceError(message) from None


def _converted(document: Mapping[str, Any]) -> dict[str, Any]:
    scopes = document.get("auth", {}).get("oauth2", {}).get("scopes", {})
    flow = {**_OAUTH, "scopes": {name: scope.get("description", "") for name, scope in scopes.items()}}
    paths: dict[str, Any] = {}
    for tags, name, method in _methods(document, ()):
        for path, operation in _operations(document, tags, name, method):
            paths.setdefault(path, {})[method["httpMethod"].lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": document.get("title", ""),
            "description": document.get("description", ""),
            "version": document.get("version", ""),
        },
        "servers": [{"url": document.get("rootUrl", "").rstrip("/")}] if document.get("rootUrl") else [],
        "paths": paths,
        "components": {
            "schemas": {name: _schema(schema) for name, schema in document.get("schemas", {}).items()},
            "securitySchemes": {
                "oauth2": {"type": "oauth2", "flows": {"authorizationCode": flow}},
                "key": {"type": "apiKey", "in": "query", "name": "key"},
            },
        },
    }


def _methods(
    node: Mapping[str, Any], parents: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str, Mapping[str, Any]]]:
    """Yield every method with the names of its enclosing resources."""
    for name, method in node.get("methods", {}).items():
        yield parents, name, method
    for name, resource in node.get("resources", {}).items():
        yield from _methods(resource, (*parents, name))


def _operations(
    document: Mapping[str, Any], tags: tuple[str, ...], name: str, method: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the operation of a method, and a second one for its media upload if it has one."""
    template = f"/{document.get('servicePath', '')}{method['path']}"
    operation_id = ".".join((*tags, name))
    operation: dict[str, Any] = {
        "operationId": operation_id,
        "tags": [".".join(tags) or document.get("name", "")],
        "description": method.get("description", "").strip(),
        "deprecated": method.get("deprecated", False),
        "parameters": [*_parameters(document, method, template)],
        "security": [{"oauth2": []}, {"key": []}] if method.get("scopes") else [{"key": []}, {"oauth2": []}, {}],
        "responses": {"200": _response(method)},
    }
    body = _reference(method.get("request"))
    json_body = {"requestBody": {"required": True, "content": {"application/json": {"schema": body}}}} if body else {}
    yield _path(template, operation_id), {**operation, **json_body}
    upload = method.get("mediaUpload", {})
    template = upload.get("protocols", {}).get("simple", {}).get("path")
    if template:
        accepted = next(iter(upload.get("accept", ())), "*/*")
        content = {accepted: {"schema": {"type": "string", "format": "binary"}}}
        yield (
            _path(f"{template}?uploadType=media", f"{operation_id}.media"),
            {
                **operation,
                "operationId": f"{operation_id}_media",
                "description": f"Upload the content. {operation['description']}",
                "requestBody": {"required": True, "content": content},
            },
        )


def _path(template: str, operation_id: str) -> str:
    """Return the path with the operationId behind `#`: methods with multi-segment parameters share paths."""
    path = _EXPANDED.sub(r"{\1}", template)
    return f"{path}#{operation_id}"


def _parameters(document: Mapping[str, Any], method: Mapping[str, Any], template: str) -> Iterator[dict[str, Any]]:
    common = {name: one for name, one in document.get("parameters", {}).items() if name in _COMMON}
    downloads = {"alt": {"location": "query", "type": "string", "enum": ["json", "media"], "default": "json"}}
    declared = {
        **common,
        **(downloads if method.get("supportsMediaDownload") else {}),
        **method.get("parameters", {}),
    }
    expanded = set(_EXPANDED.findall(template))
    for name, one in declared.items():
        schema = _schema({key: value for key, value in one.items() if key not in ("description", "required")})
        yield {
            "name": name,
            "in": one.get("location", "query"),
            "required": one.get("required", False) or one.get("location") == "path",
            "description": one.get("description", ""),
            "deprecated": one.get("deprecated", False),
            "schema": {"type": "array", "items": schema} if one.get("repeated") else schema,
            **({EXPANSION: True} if name in expanded else {}),
        }


def _response(method: Mapping[str, Any]) -> dict[str, Any]:
    schema = _reference(method.get("response"))
    content: dict[str, Any] = {"application/json": {"schema": schema}} if schema else {}
    if method.get("supportsMediaDownload"):
        content["*/*"] = {"schema": {"type": "string", "format": "binary"}}
    return {"description": "The response", **({"content": content} if content else {})}


def _reference(node: Any) -> dict[str, str] | None:
    name = node.get("$ref") if isinstance(node, Mapping) else None
    return {"$ref": f"#/components/schemas/{name}"} if name else None


def _schema(node: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a discovery schema (JSON Schema draft 3 with named references) to OpenAPI 3.1."""
    reference = _reference(node)
    if reference:
        return {**reference, **({"description": node["description"]} if "description" in node else {})}
    converted: dict[str, Any] = {key: node[key] for key in _KEPT_KEYWORDS if key in node}
    kind = node.get("type")
    if kind and kind != "any":
        is_long = kind == "string" and node.get("format") in ("int64", "uint64")
        converted["type"] = ["string", "integer"] if is_long else kind
    for key in _NUMBERS:
        if kind in ("integer", "number") and key in node:
            converted[key] = float(node[key]) if kind == "number" else int(node[key])
    if "default" in node:
        converted["default"] = _value(node["default"], kind)
    if isinstance(node.get("items"), Mapping):
        converted["items"] = _schema(node["items"])
    if isinstance(node.get("additionalProperties"), Mapping):
        converted["additionalProperties"] = _schema(node["additionalProperties"])
    properties = node.get("properties")
    if isinstance(properties, Mapping):
        converted["properties"] = {name: _schema(one) for name, one in properties.items()}
        required = [name for name, one in properties.items() if one.get("required") is True]
        converted |= {"required": required} if required else {}
    return converted


def _value(text: Any, kind: Any) -> Any:
    """Convert a default to its type. Discovery writes all defaults as strings."""
    match kind:
        case "boolean":
            return str(text).lower() == "true"
        case "integer" if re.fullmatch(r"-?\d{1,18}", str(text)):
            return int(text)
        case _:
            return text
