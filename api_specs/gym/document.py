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

#: The document: the source of routes, validation and answers, and what `/openapi.json` serves.
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
        """The text as the JSON value that the schema asks for; the text itself where it cannot be one."""
        if self.schema.get("type") in ("integer", "number", "boolean"):
            try:
                return json.loads(text)
            except ValueError:
                return text
        return text


@dataclass(frozen=True)
class Operation:
    """One operation; `answer` is the schema of its answer, None where that is not JSON."""

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
    """A document without remote references."""

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
        """The schema that a reference leads to, with the keywords beside the reference."""
        while "$ref" in schema:
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**self._found(schema["$ref"]), **beside}
        return schema

    def mistakes(self, schema: Schema, value: object) -> list[tuple[str, str]]:
        """Where the value does not fit the schema: (place such as `items/0`, what is wrong)."""
        located = {**schema, "$ref": _URI + schema["$ref"]} if "$ref" in schema else schema
        validator = Draft202012Validator(located, registry=self._registry, format_checker=_FORMATS)
        found = []
        for error in validator.iter_errors(value):
            deepest = best_match([error]) or error
            found.append(("/".join(map(str, deepest.absolute_path)), deepest.message))
        return found

    def with_defaults(self, schema: Schema, value: dict[str, Any]) -> dict[str, Any]:
        """An object with the defaults of its schema for what was left out."""
        properties = self.resolved(schema).get("properties", {})
        defaults = {name: item["default"] for name, item in properties.items() if "default" in item}
        return {**defaults, **value}

    def shaped(self, schema: Schema, value: Any) -> Any:
        """Database values as the schema has them: listed fields only, booleans, lists from JSON text."""
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
    """The document beside this module, read once."""
    return Document(read_yaml(PATH))


def read_yaml(path: Path) -> Any:
    """The contents of a YAML file; three times as fast where PyYAML was built with its C parser."""
    loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506  # both are safe loaders


@_FORMATS.checks("date", raises=ValueError)
def _is_date(value: object) -> bool:
    return not isinstance(value, str) or date.fromisoformat(value).isoformat() == value


@_FORMATS.checks("date-time", raises=ValueError)
def _is_time(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None
