"""GraphQL types as JSON Schema: of arguments, and of the selection that is asked for where a program says none."""

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
    from graphql import GraphQLDefaultInput, GraphQLField, GraphQLNamedType, GraphQLSchema, GraphQLType

#: Levels of objects in objects that a selection has, where they come to no more than so many fields.
DEPTH, MOST_FIELDS = 2, 100

#: Fields of a connection that hold its items, and say whether there are more.
_PARTS = ("edges", "nodes", "pageInfo")

#: Members of a union that are asked for with their own fields.
_MOST_MEMBERS = 10

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
}


def arguments_schema(field: GraphQLField) -> dict[str, Any]:
    """The arguments of a field as the JSON Schema of an object; input objects stand in `$defs`, for they may nest."""
    defs: dict[str, Any] = {}
    properties = {name: _described(_input(one.type, defs), one) for name, one in field.args.items()}
    required = [name for name, one in field.args.items() if is_required_argument(one)]
    return {"type": "object", "properties": properties, "required": required, "$defs": defs}


class Selection:
    """What is asked of a field's value: its fields as text, how many they are, and the JSON Schema of the answer."""

    def __init__(self, schema: GraphQLSchema, field: GraphQLField) -> None:
        self._schema = schema
        self.items = items_field(field)
        for depth in range(DEPTH, -1, -1):
            self._count = 0
            self.text, self.returns = self._of(field.type, depth, ())
            if self._count <= MOST_FIELDS:
                break

    def _of(self, type_: GraphQLType, depth: int, above: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
        if isinstance(type_, GraphQLNonNull):
            return self._of(type_.of_type, depth, above)
        if isinstance(type_, GraphQLList):
            text, items = self._of(type_.of_type, depth, above)
            return text, {"type": "array", "items": items}
        named = get_named_type(type_)
        if is_leaf_type(named):
            self._count += 1
            return "", _leaf(named)
        if isinstance(named, GraphQLUnionType):
            return self._of_union(named, above)
        return self._of_object(named, depth, above)

    def _of_object(self, named: Any, depth: int, above: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
        parts = ["__typename"] if isinstance(named, GraphQLInterfaceType) else []
        properties: dict[str, Any] = {"__typename": {"type": "string"}} if parts else {}
        is_connection = _is_connection(named)
        for name, field in named.fields.items():
            if field.deprecation_reason is not None or any(map(is_required_argument, field.args.values())):
                continue
            inner = get_named_type(field.type)
            is_part = (is_connection and name in ("edges", "nodes", "pageInfo", "node")) or named.name.endswith("Edge")
            if is_connection and name == "nodes" and "edges" in named.fields:
                continue  # the same items twice
            if not is_leaf_type(inner) and not is_part and (depth <= 0 or field.args or inner.name in above):
                continue
            is_free = is_part and name != "pageInfo"
            text, found = self._of(field.type, depth if is_free else depth - 1, (*above, named.name))
            if text or is_leaf_type(inner):
                parts.append(f"{name} {{ {text} }}" if text else name)
                properties[name] = _described(_nullable(found, field.type), field)
        return " ".join(parts or ["__typename"]), {"type": "object", "title": named.name, "properties": properties}

    def _of_union(self, union: GraphQLUnionType, above: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
        """The fields of every member, but for those that two members have of different types."""
        parts, kinds = ["__typename"], dict[str, str]()
        properties: dict[str, Any] = {"__typename": {"type": "string", "enum": [one.name for one in union.types]}}
        for member in union.types[:_MOST_MEMBERS]:
            names = []
            for name, field in member.fields.items():
                is_plain = is_leaf_type(get_named_type(field.type)) and not field.args and not field.deprecation_reason
                if is_plain and kinds.setdefault(name, str(field.type)) == str(field.type):
                    names.append(name)
                    properties[name] = self._of(field.type, 0, above)[1]
            parts += [f"... on {member.name} {{ {' '.join(names)} }}"] if names else []
        return " ".join(parts), {"type": "object", "properties": properties}


def items_field(field: GraphQLField) -> str:
    """Which field of a connection holds its items, `edges` or `nodes`; empty where a field is no connection."""
    named: Any = get_named_type(field.type)
    if not _is_connection(named) or "after" not in field.args:
        return ""
    return "edges" if "edges" in named.fields else "nodes"


def _is_connection(named: GraphQLNamedType) -> bool:
    """Whether a type has items and says whether there are more (Relay, Cursor Connections, 2 and 5)."""
    if not isinstance(named, GraphQLObjectType) or "pageInfo" not in named.fields:
        return False
    info = get_named_type(named.fields["pageInfo"].type)
    has_items = "edges" in named.fields or "nodes" in named.fields
    return has_items and isinstance(info, GraphQLObjectType) and {"hasNextPage", "endCursor"} <= info.fields.keys()


def _input(type_: GraphQLType, defs: dict[str, Any]) -> dict[str, Any]:
    if isinstance(type_, GraphQLNonNull):
        return _input(type_.of_type, defs)
    if isinstance(type_, GraphQLList):
        return {"type": "array", "items": _input(type_.of_type, defs)}
    if not isinstance(type_, GraphQLInputObjectType):
        return _leaf(type_)
    if type_.name not in defs:
        made: dict[str, Any] = {"type": "object", "additionalProperties": False}
        defs[type_.name] = made  # before its fields, for it may hold itself
        made["properties"] = {name: _described(_input(one.type, defs), one) for name, one in type_.fields.items()}
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
