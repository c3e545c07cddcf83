"""Swagger 2.0 as OpenAPI 3.0, so that a judge of 3.0 can read it. Made from the two specifications' texts alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

METHODS = ("get", "put", "post", "delete", "options", "head", "patch")

#: `collectionFormat` as `style` and `explode`; `tsv` has no style in 3.0.
_COLLECTIONS = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}

_PARAMETER_WORDS = ("name", "in", "required", "description", "allowEmptyValue", "collectionFormat")


def as_openapi3(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document as OpenAPI 3.0; a document of 3.x as it is."""
    if not str(document.get("swagger", "")).startswith("2"):
        return dict(document)
    return {
        "openapi": "3.0.3",
        "info": document.get("info", {"title": "", "version": ""}),
        "paths": {path: _item(item, document) for path, item in document["paths"].items() if isinstance(item, Mapping)},
        "components": {"schemas": _renamed(document.get("definitions", {}))},
    }


def _item(item: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    item = _followed(item, document)
    shared = _parameters(item.get("parameters"), document)
    return {
        method: _operation(operation, shared, document)
        for method, operation in item.items()
        if method in METHODS and isinstance(operation, Mapping)
    }


def _operation(operation: Mapping[str, Any], shared: list[Any], document: Mapping[str, Any]) -> dict[str, Any]:
    own = _parameters(operation.get("parameters"), document)
    named = {(parameter.get("name"), parameter.get("in")) for parameter in own}
    parameters = [*own, *(p for p in shared if (p.get("name"), p.get("in")) not in named)]
    consumes = operation.get("consumes", document.get("consumes")) or []
    made: dict[str, Any] = {
        "parameters": [_parameter(p) for p in parameters if p.get("in") in ("path", "query", "header")],
        "responses": {"default": {"description": ""}},
    }
    body = next((p for p in parameters if p.get("in") == "body"), None)
    fields = [p for p in parameters if p.get("in") == "formData"]
    if body is not None:
        schema = _renamed(body.get("schema", {}))
        content = {str(name): {"schema": schema} for name in consumes or ["application/json"]}
        made["requestBody"] = {"required": body.get("required") is True, "content": content}
    elif fields:
        made["requestBody"] = _form(fields, consumes)
    return made


def _form(fields: list[Any], consumes: list[Any]) -> dict[str, Any]:
    has_file = any(field.get("type") == "file" for field in fields)
    forms = [str(name) for name in consumes if str(name).startswith(("multipart/", "application/x-www-form-"))]
    if has_file:
        forms = ["multipart/form-data"]
    required = [field["name"] for field in fields if field.get("required") is True]
    schema = {"type": "object", "properties": {field["name"]: _schema(field) for field in fields}}
    media: dict[str, Any] = {"schema": {**schema, "required": required} if required else schema}
    encodings = {
        field["name"]: dict(zip(("style", "explode"), _COLLECTIONS[field.get("collectionFormat", "csv")], strict=True))
        for field in fields
        if field.get("type") == "array" and field.get("collectionFormat", "csv") in _COLLECTIONS
    }
    if encodings:
        media["encoding"] = encodings
    content = dict.fromkeys(forms or ["application/x-www-form-urlencoded"], media)
    return {"required": bool(required), "content": content}


def _parameter(parameter: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {key: parameter[key] for key in ("name", "in", "required") if key in parameter}
    made["schema"] = _schema(parameter)
    if parameter["in"] == "path":
        made["required"] = True
    if parameter.get("type") == "array":
        style, explode = _COLLECTIONS.get(parameter.get("collectionFormat", "csv"), ("form", False))
        made |= {"style": style if parameter["in"] == "query" else "simple", "explode": explode}
    return made


def _schema(parameter: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in parameter.items() if key not in _PARAMETER_WORDS}
    if kept.get("type") == "file":
        return {"type": "string", "format": "binary"}
    found: dict[str, Any] = _renamed(kept)
    return found


def _parameters(declared: Any, document: Mapping[str, Any]) -> list[Any]:
    return [_followed(value, document) for value in declared or [] if isinstance(value, Mapping)]


def _followed(value: Any, document: Mapping[str, Any]) -> Any:
    reference = value.get("$ref") if isinstance(value, Mapping) else None
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return value
    target: Any = document
    for part in reference[2:].split("/"):
        target = target.get(part.replace("~1", "/").replace("~0", "~"), {}) if isinstance(target, Mapping) else {}
    return _followed(target, document)


def _renamed(value: Any) -> Any:
    if isinstance(value, list):
        return [_renamed(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    found = {key: _renamed(item) for key, item in value.items()}
    reference = found.get("$ref")
    if isinstance(reference, str):
        found["$ref"] = reference.replace("#/definitions/", "#/components/schemas/")
    if found.get("type") == "file":
        found |= {"type": "string", "format": "binary"}
    return found
