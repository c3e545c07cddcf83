"""The OpenAPI document as the service uses it: operations, validation of arguments, shape of answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

#: The document. Defines routes, validation and answers, and is served as `/openapi.json`.
PATH = Path(__file__).with_name("openapi.yaml")

Schema = dict[str, Any]

_URI = "urn:gym"
_FORMATS = FormatChecker(["email"])


@dataclass(frozen=True)
class Parameter:
    """A path or query parameter."""

    name: str
    place: str
    required: bool
    schema: Schema

    def parsed(self, text: str) -> Any:
        """Return the text as the JSON value that the schema expects, or unchanged if it is not one."""
        if self.schema.get("type") in ("integer", "number", "boolean"):
            try:
                return json.loads(text)
            except ValueError:
                return text
        return text


@dataclass(frozen=True)
class Operation:
    """One operation. `answer` is the schema of a JSON answer, else None."""

    id: str
    method: str
    path: str
    parameters: tuple[Parameter, ...]
    body: Schema | None
    body_required: bool
    status: int
    media_type: str | None
    answer: Schema | None


class Document:
    """An OpenAPI document without remote references."""

    def __init__(self, contents: Schema) -> None:
        self.contents = contents
        resource = DRAFT202012.create_resource(contents)
        self._registry: Registry[Any] = Registry().with_resource(_URI, resource)
        resolver = self._registry.resolver(_URI)
        self._found = cache(lambda reference: resolver.lookup(reference).contents)
        self.operations = {
            operation.id: operation
            for path, methods in contents["paths"].items()
            for method, item in methods.items()
            for operation in [self._operation(path, method, item)]
        }

    def resolved(self, schema: Schema) -> Schema:
        """Return the referenced schema, merged with the keywords beside the reference."""
        while "$ref" in schema:
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**self._found(schema["$ref"]), **beside}
        return schema

    def mistakes(self, schema: Schema, value: object) -> list[tuple[str, str]]:
        """Return the validation errors of a value as (place such as `items/0`, message)."""
        located = {**schema, "$ref": _URI + schema["$ref"]} if "$ref" in schema else schema
        validator = Draft202012Validator(located, registry=self._registry, format_checker=_FORMATS)
        found = []
        for error in validator.iter_errors(value):
            deepest = best_match([error]) or error
            found.append(("/".join(map(str, deepest.absolute_path)), deepest.message))
        return found

    def with_defaults(self, schema: Schema, value: dict[str, Any]) -> dict[str, Any]:
        """Return an object with the schema's defaults for missing properties."""
        properties = self.resolved(schema).get("properties", {})
        defaults = {name: item["default"] for name, item in properties.items() if "default" in item}
        return {**defaults, **value}

    def shaped(self, schema: Schema, value: Any) -> Any:
        """Convert database values to the schema: its fields only, booleans, and lists from JSON text."""
        schema = self.resolved(schema)
        if value is None:
            return None
        if schema.get("type") == "object":
            return {name: self.shaped(item, value[name]) for name, item in schema["properties"].items()}
        if schema.get("type") == "array":
            items = json.loads(value) if isinstance(value, str) else value
            return [self.shaped(schema["items"], item) for item in items]
        return bool(value) if schema.get("type") == "boolean" else value

    def _operation(self, path: str, method: str, item: Schema) -> Operation:
        parameters = [self.resolved(parameter) for parameter in item.get("parameters", ())]
        body = item.get("requestBody", {})
        status, response = next(iter(item["responses"].items()))
        contents: Schema = response.get("content", {})
        media_type = next(iter(contents), None)
        return Operation(
            id=item["operationId"],
            method=method.upper(),
            path=path,
            parameters=tuple(
                Parameter(p["name"], p["in"], p.get("required", False), self.resolved(p["schema"])) for p in parameters
            ),
            body=body["content"]["application/json"]["schema"] if body else None,
            body_required=body.get("required", False),
            status=int(status),
            media_type=media_type,
            answer=contents[media_type].get("schema") if media_type else None,
        )


@cache
def load() -> Document:
    """Return the document beside this module, read once."""
    return Document(read_yaml(PATH))


def read_yaml(path: Path) -> Any:
    """Return the contents of a YAML file. PyYAML's C parser, if present, is three times as fast."""
    loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506  # both are safe loaders


@_FORMATS.checks("date", raises=ValueError)
def _is_date(value: object) -> bool:
    return not isinstance(value, str) or date.fromisoformat(value).isoformat() == value


@_FORMATS.checks("date-time", raises=ValueError)
def _is_time(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None
