"""The content of `/docs`: the operations and schemas of an OpenAPI document, with a command for each operation."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

from codemode.serving.http.html import Html, element, join, prose, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_KEY = '-H "Authorization: Bearer $CODEMODE_API_KEY"'
_JSON = "-H 'Content-Type: application/json'"


def described(document: Mapping[str, Any], base_url: str) -> Iterator[Html]:
    """Yield the sections of a page about an OpenAPI 3.1 document of a server at `base_url`."""
    yield prose(document["info"]["description"])
    for tag in document["tags"]:
        yield element("h2", tag["name"], id=tag["name"])
        yield prose(tag["description"])
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                if tag["name"] in operation["tags"]:
                    yield _operation(method.upper(), path, operation, base_url)
    yield element("h2", "schemas", id="schemas")
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield _schema(name, schema)


def _operation(method: str, path: str, operation: Mapping[str, Any], base_url: str) -> Html:
    parameters = [
        (_code(one["name"]), _type_of(one["schema"]), element("span", one["in"], class_="quiet"))
        for one in operation.get("parameters", ())
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if body:
        parameters.append((Html("body"), _type_of(body["schema"]), Html("")))
    responses = [
        (_code(status), _content_type(response), prose(response["description"]))
        for status, response in operation["responses"].items()
    ]
    command = _command(method, path, operation, base_url)
    return element(
        "article",
        element("h3", _code(f"{method} {path}")),
        prose(operation.get("description", "")),
        table(parameters),
        element("pre", command),
        element("details", element("summary", "responses"), table(responses)),
        id=operation["operationId"],
    )


def _command(method: str, path: str, operation: Mapping[str, Any], base_url: str) -> str:
    parts = ["curl"]
    if operation.get("security"):
        parts.append(_KEY)
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if body:
        example = next(iter(body.get("examples", {"": {"value": {}}}).values()))["value"]
        parts += [_JSON, f"-d {shlex.quote(json.dumps(example, ensure_ascii=False))}"]
    elif method != "GET":
        parts.append(f"-X {method}")
    place = re.sub(r"\{(\w+)\}", lambda found: found[1].upper(), path)
    return " ".join([*parts, shlex.quote(f"{base_url}{place}")])


def _schema(name: str, schema: Mapping[str, Any]) -> Html:
    required = schema.get("required", ())
    rows = [
        (_code(key), _type_of(value), Html("" if key in required else "optional"), prose(value.get("description", "")))
        for key, value in schema.get("properties", {}).items()
    ]
    values = prose(", ".join(f"`{value}`" for value in schema.get("enum", ())))
    return element("article", element("h3", name), prose(schema.get("description", "")), table(rows), values, id=name)


def _content_type(response: Mapping[str, Any]) -> Html:
    return join(", ", [_type_of(content["schema"]) for content in response.get("content", {}).values()])


def _type_of(schema: Mapping[str, Any]) -> Html:
    match schema:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            return element("a", name, href=f"#{name}")
        case {"anyOf": list(parts)}:
            return join(" | ", [_type_of(part) for part in parts])
        case {"enum": list(values)}:
            return join(" | ", [_code(json.dumps(value)) for value in values])
        case {"const": value}:
            return _code(json.dumps(value))
        case {"type": "array", "items": items}:
            return Html(f"list of {_type_of(items)}")
        case {"type": str(kind)}:
            return Html(schema.get("format", kind))
        case _:
            return Html("any")


def _code(text: str) -> Html:
    return element("code", text)
