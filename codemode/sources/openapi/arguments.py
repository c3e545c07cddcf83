"""Flatten the parameters and the body of an operation into keyword arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from codemode.catalog.identifiers import parameter_names
from codemode.catalog.request_fields import request_fields
from codemode.catalog.schema import Dialect, Schema
from codemode.catalog.tool import Location, Parameter
from codemode.sources.openapi.bodies import is_form, is_json
from codemode.sources.openapi.implied import implied_arguments
from codemode.transports.http.invocation import BodyKind

if TYPE_CHECKING:
    from codemode.sources.openapi.operations import Operation
    from codemode.transports.http.invocation import BodyPlan

#: Headers that the transport sets (RFC 9110). OpenAPI 3.1 excludes the first three from parameters (Parameter Object).
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

#: `querystring` (OpenAPI 3.2) is one object whose fields form the whole query.
_LOCATIONS = {
    "path": Location.PATH,
    "query": Location.QUERY,
    "querystring": Location.QUERY,
    "header": Location.HEADER,
    "cookie": Location.COOKIE,
}

_ORDER = (Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE)

#: Arguments that rarely matter to callers. They come last among the required and among the optional ones.
_SORTED_LAST = (Location.HEADER, Location.COOKIE)

#: Where a required argument is filled in if the document fixes its value.
_FIXABLE = (Location.HEADER, Location.QUERY)

_DEFAULT_STYLE = {Location.PATH: "simple", Location.HEADER: "simple", Location.QUERY: "form", Location.COOKIE: "form"}

#: The styles that explode by default (OpenAPI 3.2, Parameter Object).
_EXPLODED = ("form", "deepObject", "cookie")

#: Swagger 2.0's `collectionFormat` as `style` and `explode` of OpenAPI 3.x.
_COLLECTION_FORMATS = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}


def parameters_of(
    operation: Operation, nodes: list[Schema], body: BodyPlan | None, types: Sequence[str] = ()
) -> tuple[Parameter, ...]:
    """Return all keyword arguments of an operation: required ones first, then by location and document order.

    `nodes` are its Parameter Objects, as `raw_parameters` returns them. `types` are the media types of the answer.
    """
    arguments = [*_declared_arguments(operation, nodes), *_body_arguments(body)]
    for name, schema, about in implied_arguments(operation, nodes, types):
        argument = _Argument(name, Location.HEADER, schema, required=False, description=about)
        argument.style = "simple"
        arguments.append(argument)
    arguments.sort(key=lambda argument: argument.order)
    names = parameter_names([(argument.location.value, argument.wire_name) for argument in arguments])
    parameters = [argument.with_name(name) for argument, name in zip(arguments, names, strict=True)]
    return tuple(sorted(parameters, key=lambda parameter: (not parameter.required, parameter.location in _SORTED_LAST)))


def raw_parameters(operation: Operation) -> list[Schema]:
    """Return the Parameter Objects of an operation. Its own precede and override those of its path."""
    seen: set[tuple[str, str]] = set()
    parameters = []
    for node in (operation.node, operation.item):
        declared = node.get("parameters")
        for value in declared if isinstance(declared, list) else []:
            parameter = node.at(value).resolved()
            key = (str(parameter.get("in")), str(parameter.get("name")))
            if isinstance(parameter.value, Mapping) and key not in seen:
                seen.add(key)
                parameters.append(parameter)
    return parameters


class _Argument:
    """An argument that has no Python name yet."""

    __slots__ = ("description", "explode", "location", "order", "required", "reserved", "schema", "style", "wire_name")

    def __init__(self, wire_name: str, location: Location, schema: Schema, *, required: bool, description: Any) -> None:
        self.wire_name = wire_name
        self.location = location
        self.schema = schema
        self.required = required
        self.description = description if isinstance(description, str) else ""
        self.style = ""
        self.explode = False
        self.reserved = False
        self.order = _ORDER.index(location) if location in _ORDER else len(_ORDER)

    def with_name(self, name: str) -> Parameter:
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


def _declared_arguments(operation: Operation, nodes: list[Schema]) -> list[_Argument]:
    arguments = []
    schemes = operation.document.scheme_parameters
    placeholders = operation.placeholders
    for node in nodes:
        name, location = node.get("name"), str(node.get("in"))
        if not isinstance(name, str) or location not in _LOCATIONS:
            continue  # `body` and `formData` of Swagger 2.0 are read with the body
        if (location, name.lower()) in schemes or (location == "header" and name.lower() in TRANSPORT_HEADERS):
            continue
        if location == "path" and name not in placeholders:
            continue
        arguments.append(_declared_argument(node, name, _LOCATIONS[location], operation.document.dialect))
    path_names = {argument.wire_name for argument in arguments if argument.location is Location.PATH}
    arguments.extend(_undeclared_placeholders(operation, path_names))
    return arguments


def _declared_argument(node: Schema, name: str, location: Location, dialect: Dialect) -> _Argument:
    schema, in_json = _schema_of(node, dialect)
    required = location is Location.PATH or node.get("required") is True
    if location in _FIXABLE and fixed_value(schema) is not None:
        required = False  # the transport sends the value
    argument = _Argument(name, location, schema, required=required, description=node.get("description"))
    if node.get("in") == "querystring" and not is_form(node.get("content")):
        argument.style = "whole_json" if in_json else "whole_text"
        return argument
    if in_json:
        argument.style = "json"
        return argument
    if dialect is Dialect.SWAGGER_2_0:
        argument.style, argument.explode = _COLLECTION_FORMATS.get(
            str(node.get("collectionFormat", "csv")), ("form", False)
        )
        if location in (Location.PATH, Location.HEADER) and argument.style == "form":
            argument.style = "simple"
        return argument
    style = node.get("style")
    argument.style = style if isinstance(style, str) else _DEFAULT_STYLE[location]
    explode = node.get("explode")
    argument.explode = explode if isinstance(explode, bool) else argument.style in _EXPLODED
    argument.reserved = node.get("allowReserved") is True
    return argument


def fixed_values(operation: Operation, nodes: list[Schema]) -> dict[tuple[Location, str], Any]:
    """Return the values of required arguments that the document fixes, by location and wire name."""
    fixed: dict[tuple[Location, str], Any] = {}
    for node in nodes:
        location = _LOCATIONS.get(str(node.get("in")))
        if node.get("required") is True and location in _FIXABLE:
            value = fixed_value(_schema_of(node, operation.document.dialect)[0])
            if value is not None:
                fixed[location, str(node.get("name"))] = value
    return fixed


def fixed_value(schema: Schema) -> Any:
    """Return the default of a schema, or its only value. None for neither."""
    default = schema.first("default")
    if default is not None:
        return default
    values = schema.first("enum")
    return schema.first("const") if not isinstance(values, list) or len(values) != 1 else values[0]


def _schema_of(node: Schema, dialect: Dialect) -> tuple[Schema, bool]:
    """Return the schema of a Parameter Object, and whether the value is sent as JSON text."""
    if dialect is Dialect.SWAGGER_2_0:
        return node, False  # in Swagger 2.0 the parameter itself holds `type`, `items`, `enum` …
    schema = node.get("schema")
    if isinstance(schema, (Mapping, bool)):
        return node.at(schema), False
    content = node.get("content")
    for media_type, value in content.items() if isinstance(content, Mapping) else ():
        inner = value.get("schema") if isinstance(value, Mapping) else None
        return node.at(inner if isinstance(inner, Mapping) else {}), is_json(str(media_type))
    return node.at({}), False


def _undeclared_placeholders(operation: Operation, declared: set[str]) -> list[_Argument]:
    """Return a string argument for each undeclared placeholder: without it the path cannot be sent."""
    arguments = []
    for name in dict.fromkeys(operation.placeholders):
        if name not in declared:
            schema = operation.node.at({"type": "string"})
            argument = _Argument(name, Location.PATH, schema, required=True, description="")
            argument.style = "simple"
            arguments.append(argument)
    return arguments


def _body_arguments(body: BodyPlan | None) -> list[_Argument]:
    if body is None or not body.is_declared:
        return []
    flat = flat_fields(body)
    if flat is None:
        about = body.schema.first("description")
        needed = body.required and not body.is_open
        return [_Argument("body", Location.BODY, body.schema, required=needed, description=about)]
    fields, required = flat
    return [
        _Argument(
            name,
            Location.BODY_FIELD,
            schema,
            required=body.required and name in required,
            description=schema.first("description"),
        )
        for name, schema in fields.items()
    ]


def flat_fields(body: BodyPlan) -> tuple[dict[str, Schema], frozenset[str]] | None:
    """Return the fields of an object body and the names of the required ones, or None if it is not a plain object."""
    return request_fields(body.schema) if body.kind in (BodyKind.JSON, BodyKind.FORM, BodyKind.MULTIPART) else None
