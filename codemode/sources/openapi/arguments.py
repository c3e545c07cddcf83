"""From the parameters and the body of an operation to one flat set of keyword arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemode.catalog.identifiers import parameter_names
from codemode.catalog.schema import Dialect, Schema
from codemode.catalog.tool import Location, Parameter
from codemode.sources.openapi.bodies import is_form
from codemode.transports.http.invocation import BodyKind

if TYPE_CHECKING:
    from codemode.sources.openapi.operations import Operation
    from codemode.transports.http.invocation import BodyPlan

#: Headers that the transport sets (RFC 9110; the first three are named so by OpenAPI 3.1, Parameter Object).
TRANSPORT_HEADERS = frozenset(
    (
        "accept",
        "content-type",
        "authorization",
        "accept-charset",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "cookie",
        "host",
        "keep-alive",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    )
)

#: `querystring` (OpenAPI 3.2) is one object that is spread over the whole query.
_PLACES = {
    "path": Location.PATH,
    "query": Location.QUERY,
    "querystring": Location.QUERY,
    "header": Location.HEADER,
    "cookie": Location.COOKIE,
}

_ORDER = (Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE)

#: What rarely matters to who calls stands last among its like.
_ASIDE = (Location.HEADER, Location.COOKIE)

_DEFAULT_STYLE = {Location.PATH: "simple", Location.HEADER: "simple", Location.QUERY: "form", Location.COOKIE: "form"}

#: Swagger 2.0's `collectionFormat` as style and explode of 3.x.
_COLLECTIONS = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}


def parameters_of(operation: Operation, nodes: list[Schema], body: BodyPlan | None) -> tuple[Parameter, ...]:
    """All keyword arguments of an operation, required ones first, otherwise in the document's order by place.

    `nodes` are its Parameter Objects, as `raw_parameters` finds them.
    """
    found = [*_declared(operation, nodes), *_from_body(body)]
    found.sort(key=lambda part: part.place)
    names = parameter_names([(part.location.value, part.wire_name) for part in found])
    made = [part.named(name) for part, name in zip(found, names, strict=True)]
    return tuple(sorted(made, key=lambda parameter: (not parameter.required, parameter.location in _ASIDE)))


def raw_parameters(operation: Operation) -> list[Schema]:
    """The Parameter Objects that hold for an operation; those of the operation come before those of its path."""
    seen: set[tuple[str, str]] = set()
    found = []
    for node in (operation.node, operation.item):
        declared = node.get("parameters")
        for value in declared if isinstance(declared, list) else []:
            parameter = node.at(value).resolved()
            key = (str(parameter.get("in")), str(parameter.get("name")))
            if isinstance(parameter.value, Mapping) and key not in seen:
                seen.add(key)
                found.append(parameter)
    return found


class _Part:
    """An argument before it has a name."""

    __slots__ = ("description", "explode", "location", "place", "required", "reserved", "schema", "style", "wire_name")

    def __init__(self, wire_name: str, location: Location, schema: Schema, *, required: bool, description: Any) -> None:
        self.wire_name = wire_name
        self.location = location
        self.schema = schema
        self.required = required
        self.description = description if isinstance(description, str) else ""
        self.style = ""
        self.explode = False
        self.reserved = False
        self.place = _ORDER.index(location) if location in _ORDER else len(_ORDER)

    def named(self, name: str) -> Parameter:
        return Parameter(
            name=name,
            wire_name=self.wire_name,
            location=self.location,
            required=self.required,
            schema=self.schema,
            description=self.description,
            style=self.style,
            explode=self.explode,
            allow_reserved=self.reserved,
        )


def _declared(operation: Operation, nodes: list[Schema]) -> list[_Part]:
    parts = []
    schemes = operation.document.scheme_parameters
    holes = operation.path
    for node in nodes:
        name, place = node.get("name"), str(node.get("in"))
        if not isinstance(name, str) or place not in _PLACES:
            continue  # body and formData of Swagger 2.0 are the body's
        if (place, name.lower()) in schemes or (place == "header" and name.lower() in TRANSPORT_HEADERS):
            continue
        if place == "path" and f"{{{name}}}" not in holes:
            continue
        if place == "querystring" and not is_form(node.get("content")):
            continue
        parts.append(_declared_part(node, name, _PLACES[place], operation.document.dialect))
    named = {part.wire_name for part in parts if part.location is Location.PATH}
    parts.extend(_undeclared_holes(operation, named))
    return parts


def _declared_part(node: Schema, name: str, location: Location, dialect: Dialect) -> _Part:
    schema, is_json = _schema_of(node, dialect)
    required = location is Location.PATH or node.get("required") is True
    part = _Part(name, location, schema, required=required, description=node.get("description"))
    if is_json:
        part.style = "json"
        return part
    if dialect is Dialect.SWAGGER_2_0:
        part.style, part.explode = _COLLECTIONS.get(str(node.get("collectionFormat", "csv")), ("form", False))
        if location in (Location.PATH, Location.HEADER) and part.style == "form":
            part.style = "simple"
        return part
    style = node.get("style")
    part.style = style if isinstance(style, str) else _DEFAULT_STYLE[location]
    explode = node.get("explode")
    part.explode = explode if isinstance(explode, bool) else part.style in ("form", "deepObject")
    part.reserved = node.get("allowReserved") is True
    return part


def _schema_of(node: Schema, dialect: Dialect) -> tuple[Schema, bool]:
    """The schema of a Parameter Object, and whether the value travels as JSON text."""
    if dialect is Dialect.SWAGGER_2_0:
        return node, False  # type, items, enum, minimum … stand in the parameter itself
    schema = node.get("schema")
    if isinstance(schema, (Mapping, bool)):
        return node.at(schema), False
    content = node.get("content")
    for media_type, value in content.items() if isinstance(content, Mapping) else ():
        inner = value.get("schema") if isinstance(value, Mapping) else None
        return node.at(inner if isinstance(inner, Mapping) else {}), "json" in str(media_type)
    return node.at({}), False


def _undeclared_holes(operation: Operation, declared: set[str]) -> list[_Part]:
    """Placeholders of the path that no parameter declares: text, for without them nothing can be sent."""
    parts = []
    for name in dict.fromkeys(operation.placeholders):
        if name not in declared:
            schema = operation.node.at({"type": "string"})
            part = _Part(name, Location.PATH, schema, required=True, description="")
            part.style = "simple"
            parts.append(part)
    return parts


def _from_body(body: BodyPlan | None) -> list[_Part]:
    if body is None:
        return []
    flat = flat_fields(body)
    if flat is None:
        about = body.schema.first("description")
        needed = body.required and not body.is_open
        return [_Part("body", Location.BODY, body.schema, required=needed, description=about)]
    fields, required = flat
    return [
        _Part(
            name,
            Location.BODY_FIELD,
            schema,
            required=body.required and name in required,
            description=schema.first("description"),
        )
        for name, schema in fields.items()
    ]


def flat_fields(body: BodyPlan) -> tuple[dict[str, Schema], frozenset[str]] | None:
    """The fields of an object body and those that must be there; None where the body is no plain object.

    The fields of a union of objects are those of all its members; those must be there that every member requires.
    """
    if body.kind not in (BodyKind.JSON, BodyKind.FORM, BodyKind.MULTIPART):
        return None
    schema = body.schema.resolved()
    own, required = _sendable(schema)
    variants = next((part.variants() for part in schema.conjuncts() if part.variants()), ())
    members = [_sendable(variant.resolved()) for variant in variants if variant.get("type") != "null"]
    if members and not own and not all(fields for fields, _ in members):
        return None
    if not own and not members:
        return None
    if schema.types() not in ((), ("object",)):
        return None
    fields = dict(own)
    for name in dict.fromkeys(name for member, _ in members for name in member):
        fields.setdefault(name, _either([member[name] for member, _ in members if name in member]))
    common = frozenset.intersection(*(names for _, names in members)) if members else frozenset()
    return fields, (required | common) & frozenset(fields)


def _either(schemas: list[Schema]) -> Schema:
    """The field of a union: whatever one of its members allows."""
    distinct = list({id(schema.value): schema for schema in schemas}.values())
    if len(distinct) == 1:
        return distinct[0]
    if len({schema.base for schema in distinct}) > 1:  # references would be read from the wrong document
        return distinct[0].at(True)
    return distinct[0].at({"anyOf": [schema.value for schema in distinct]})


def _sendable(schema: Schema) -> tuple[dict[str, Schema], frozenset[str]]:
    """The properties that a request may have; one that is required though nobody declares it may be anything."""
    properties = schema.properties()
    required = schema.required()
    fields = {name: value for name, value in properties.items() if value.first("readOnly") is not True}
    if properties:
        fields |= {name: schema.at(True) for name in sorted(required - properties.keys())}
    return fields, frozenset(required & fields.keys())
