"""Convert GraphQL types to JSON Schema: arguments, and results with their default selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLUnionType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
    is_required_input_field,
    value_from_ast_untyped,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graphql import GraphQLArgument, GraphQLDefaultInput, GraphQLField, GraphQLNamedType, GraphQLType

    IsData = Callable[[GraphQLNamedType, str, GraphQLField], bool]

#: The nesting of objects in a default selection, and the most fields. Larger selections nest less.
DEPTH, MOST_FIELDS = 2, 100

#: The fields of a connection: its items, and whether there are more.
_PARTS = ("edges", "nodes", "pageInfo")

#: The most union members whose fields are selected.
_MOST_UNION_MEMBERS = 10

_SCALARS: dict[str, dict[str, Any]] = {
    "Int": {"type": "integer"},
    "Float": {"type": "number"},
    "String": {"type": "string"},
    "ID": {"type": "string"},
    "Boolean": {"type": "boolean"},
    "Date": {"type": "string", "format": "date"},
    "DateTime": {"type": "string", "format": "date-time"},
    "Time": {"type": "string", "format": "time"},
    "UUID": {"type": "string", "format": "uuid"},
    "URI": {"type": "string", "format": "uri"},
    "URL": {"type": "string", "format": "uri"},
    "Upload": {"type": "string", "format": "binary"},
    "FileUpload": {"type": "string", "format": "binary"},
}


def arguments_schema(arguments: Mapping[str, GraphQLArgument]) -> dict[str, Any]:
    """Return arguments as a JSON Schema object. Input objects are in `$defs`: they may be recursive."""
    defs: dict[str, Any] = {}
    properties = {name: _described(_input_schema(one.type, defs), one) for name, one in arguments.items()}
    required = [name for name, one in arguments.items() if is_required_argument(one)]
    return {"type": "object", "properties": properties, "required": required, "$defs": defs}


class Selection:
    """The default selection of a field: its text, the JSON Schema of the result, and the field with the items.

    Fields that are no data, such as mutations below the root, are not selected.
    """

    def __init__(self, field: GraphQLField, is_data: IsData = lambda *_: True) -> None:
        self._is_data = is_data
        self.items = items_field(field)
        for depth in range(DEPTH, -1, -1):
            self._count = 0
            self.text, self.returns = self._of(field.type, depth, ())
            if self._count <= MOST_FIELDS:
                break

    def _of(self, type_: GraphQLType, depth: int, parents: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
        if isinstance(type_, GraphQLNonNull):
            return self._of(type_.of_type, depth, parents)
        if isinstance(type_, GraphQLList):
            text, items = self._of(type_.of_type, depth, parents)
            return text, {"type": "array", "items": items}
        named_type = get_named_type(type_)
        if is_leaf_type(named_type):
            self._count += 1
            return "", _leaf(named_type)
        if isinstance(named_type, GraphQLUnionType):
            return self._of_union(named_type, depth, parents)
        return self._of_object(named_type, depth, parents)

    def _of_object(self, named_type: Any, depth: int, parents: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
        parts = ["__typename"] if isinstance(named_type, GraphQLInterfaceType) else []
        properties: dict[str, Any] = {"__typename": {"type": "string"}} if parts else {}
        is_connection = _is_connection(named_type)
        for name, field in named_type.fields.items():
            if not _is_plain(field) or not self._is_data(named_type, name, field):
                continue
            inner = get_named_type(field.type)
            is_part = (is_connection and name in ("edges", "nodes", "pageInfo", "node")) or named_type.name.endswith(
                "Edge"
            )
            if is_connection and name == "nodes" and "edges" in named_type.fields:
                continue  # `edges` has the same items
            if not is_leaf_type(inner) and not is_part and (depth <= 0 or field.args or inner.name in parents):
                continue
            is_free = is_part and name != "pageInfo"
            text, schema = self._of(field.type, depth if is_free else depth - 1, (*parents, named_type.name))
            if text or is_leaf_type(inner):
                parts.append(f"{name} {{ {text} }}" if text else name)
                properties[name] = _described(_nullable(schema, field.type), field)
        if not parts and not parents:
            parts.append("__typename")
        return " ".join(parts), {"type": "object", "title": named_type.name, "properties": properties}

    def _of_union(self, union: GraphQLUnionType, depth: int, parents: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
        """Select the plain fields of every member, except fields with different types in two members.

        Of a result or an error (`ordersOrError`), the result is selected as if the field had its type.
        """
        result = result_of(union)
        if result is not None:
            return self._of_result(union, result, depth, parents)
        parts, kinds = ["__typename"], dict[str, str]()
        properties: dict[str, Any] = {"__typename": {"type": "string", "enum": [one.name for one in union.types]}}
        for member in union.types[:_MOST_UNION_MEMBERS]:
            names = []
            for name, field in member.fields.items():
                is_leaf = is_leaf_type(get_named_type(field.type)) and not field.args and not field.deprecation_reason
                if (
                    is_leaf
                    and self._is_data(member, name, field)
                    and kinds.setdefault(name, str(field.type)) == str(field.type)
                ):
                    names.append(name)
                    properties[name] = self._of(field.type, 0, parents)[1]
            parts += [f"... on {member.name} {{ {' '.join(names)} }}"] if names else []
        return " ".join(parts), {"type": "object", "properties": properties}

    def _of_result(
        self, union: GraphQLUnionType, result: GraphQLObjectType, depth: int, parents: tuple[str, ...]
    ) -> tuple[str, dict[str, Any]]:
        text, schema = self._of_object(result, depth, parents)
        parts = ["__typename", f"... on {result.name} {{ {text} }}"]
        for member in union.types[:_MOST_UNION_MEMBERS]:
            leaves = (name for name, field in member.fields.items() if is_leaf_type(get_named_type(field.type)))
            names = [name for name in leaves if name not in result.fields and not member.fields[name].args]
            if member is not result and names:
                parts.append(f"... on {member.name} {{ {' '.join(names)} }}")
        return " ".join(parts), schema


def result_of(type_: GraphQLType) -> GraphQLObjectType | None:
    """Return the member of a union that is no error, if all others are. None for other types."""
    named_type = get_named_type(type_)
    if not isinstance(named_type, GraphQLUnionType) or len(named_type.types) < _FEWEST_MEMBERS:
        return None
    results = [member for member in named_type.types if not _is_error(member)]
    return results[0] if len(results) == 1 else None


def error_types(type_: GraphQLType) -> frozenset[str]:
    """Return the names of the members of a union that are errors beside one result."""
    result, named_type = result_of(type_), get_named_type(type_)
    members = named_type.types if result is not None and isinstance(named_type, GraphQLUnionType) else ()
    return frozenset(member.name for member in members if member is not result)


def _is_error(member: GraphQLObjectType) -> bool:
    names = (member.name, *(interface.name for interface in member.interfaces))
    return any(name.endswith(_ERRORS) for name in names)


#: A union of a result and an error has two members.
_FEWEST_MEMBERS = 2

#: Ends of the names of errors in unions.
_ERRORS = ("Error", "Errors", "NotFound", "Exception", "Failure", "Problem")


def _is_plain(field: GraphQLField) -> bool:
    return field.deprecation_reason is None and not any(map(is_required_argument, field.args.values()))


def items_field(field: GraphQLField) -> str:
    """Return the field with a connection's items, `edges` or `nodes`. Empty for other fields."""
    named_type: Any = get_named_type(field.type)
    if not _is_connection(named_type) or "after" not in field.args:
        return ""
    return "edges" if "edges" in named_type.fields else "nodes"


def _is_connection(named_type: GraphQLNamedType) -> bool:
    """Whether a type is a connection (Relay, GraphQL Cursor Connections Specification, sections 2 and 5)."""
    if not isinstance(named_type, GraphQLObjectType) or "pageInfo" not in named_type.fields:
        return False
    info = get_named_type(named_type.fields["pageInfo"].type)
    has_items = "edges" in named_type.fields or "nodes" in named_type.fields
    return has_items and isinstance(info, GraphQLObjectType) and {"hasNextPage", "endCursor"} <= info.fields.keys()


def _input_schema(type_: GraphQLType, defs: dict[str, Any]) -> dict[str, Any]:
    if isinstance(type_, GraphQLNonNull):
        return _input_schema(type_.of_type, defs)
    if isinstance(type_, GraphQLList):
        return {"type": "array", "items": _input_schema(type_.of_type, defs)}
    if not isinstance(type_, GraphQLInputObjectType):
        return _leaf(type_)
    if type_.name not in defs:
        made: dict[str, Any] = {"type": "object", "additionalProperties": False}
        defs[type_.name] = made  # before its fields: it may be recursive
        made["properties"] = {
            name: _described(_input_schema(one.type, defs), one) for name, one in type_.fields.items()
        }
        made["required"] = [name for name, one in type_.fields.items() if is_required_input_field(one)]
        if type_.description:
            made["description"] = type_.description
        if getattr(type_, "is_one_of", False):
            made |= {"minProperties": 1, "maxProperties": 1}
    return {"$ref": f"#/$defs/{type_.name}"}


def _leaf(type_: Any) -> dict[str, Any]:
    if isinstance(type_, GraphQLEnumType):
        return {"type": "string", "enum": list(type_.values)}
    return dict(_SCALARS.get(type_.name) or {"description": type_.description or type_.name})


def _described(schema: dict[str, Any], declared: Any) -> dict[str, Any]:
    about = {"description": declared.description} if declared.description else {}
    default = _default(getattr(declared, "default", None))
    plain = {"default": default} if isinstance(default, (str, int, float, bool)) else {}
    return {**schema, **about, **plain}


def _default(default: GraphQLDefaultInput | None) -> Any:
    if default is None:
        return None
    return value_from_ast_untyped(default.literal) if default.literal is not None else default.value


def _nullable(schema: dict[str, Any], type_: GraphQLType) -> dict[str, Any]:
    if isinstance(type_, GraphQLNonNull) or not isinstance(schema.get("type"), str) or "enum" in schema:
        return schema
    return {**schema, "type": [schema["type"], "null"]}
