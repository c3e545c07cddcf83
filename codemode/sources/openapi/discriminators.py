"""Parents with a discriminator as the union of their children (OpenAPI 3.1, Discriminator Object).

TypeSpec, .NET and Spring declare a parent with `discriminator`, and children that refer to it in `allOf`. What refers
to the parent means any child, but no `oneOf` says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from codemode.sources.documents.parse import escaped

#: The tables of schemas: of OpenAPI 3.x, and of Swagger 2.0.
_TABLES = (("components", "schemas"), ("definitions",))

#: Ending of the component that holds a parent's own fields.
_OWN = "Base"


def with_children(document: Any) -> Any:
    """Return a document in which each parent is a union. The same object if there is none.

    A parent `Shape` becomes `oneOf` of its children and of its own fields, which move to `ShapeBase`. An explicit
    `mapping` without the parent lists all that is valid.
    """
    for path in _TABLES:
        table = _table(document, path)
        parents = {name: schema for name, schema in table.items() if _is_parent(schema)}
        prefix = f"#/{'/'.join(path)}/"
        children = _children(table, parents, prefix)
        if children:
            return _replaced(document, path, _united(table, children, prefix))
    return document


def _table(document: Any, path: tuple[str, ...]) -> Mapping[str, Any]:
    for key in path:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document if isinstance(document, Mapping) else {}


def _is_parent(schema: Any) -> bool:
    if not isinstance(schema, Mapping) or not schema.get("discriminator"):
        return False
    return not any(isinstance(schema.get(key), list) and schema[key] for key in ("oneOf", "anyOf"))


def _children(table: Mapping[str, Any], parents: Mapping[str, Any], prefix: str) -> dict[str, list[str]]:
    """Return the names of the children of each parent that has any, in the order of the document."""
    if not parents:
        return {}
    children: dict[str, list[str]] = {}
    for name, schema in table.items():
        for parent in _extended(schema, prefix):
            if parent in parents and parent != name:
                children.setdefault(parent, []).append(name)
    return children


def _extended(schema: Any, prefix: str) -> Iterator[str]:
    """Yield the names of the components that a schema extends."""
    members = schema.get("allOf") if isinstance(schema, Mapping) else None
    for member in members if isinstance(members, list) else ():
        reference = member.get("$ref") if isinstance(member, Mapping) else None
        if isinstance(reference, str) and reference.startswith(prefix):
            yield reference.removeprefix(prefix).replace("~1", "/").replace("~0", "~")


def _united(table: Mapping[str, Any], children: Mapping[str, list[str]], prefix: str) -> dict[str, Any]:
    """Return the table with a union for each parent, and its own fields under a name of their own."""
    own_names = {name: _free(f"{name}{_OWN}", table) for name in children}
    own_references = {f"{prefix}{escaped(name)}": f"{prefix}{escaped(own)}" for name, own in own_names.items()}
    united = {name: _rebased(schema, own_references) for name, schema in table.items()}
    for name, own in own_names.items():
        schema = united[name]
        united[own] = _with_values(schema, children[name])
        members = [f"{prefix}{escaped(child)}" for child in children[name]]
        if not _excludes_itself(schema, name, prefix):
            members.append(f"{prefix}{escaped(own)}")
        kept = {key: schema[key] for key in ("title", "description", "discriminator") if key in schema}
        united[name] = {**kept, "oneOf": [{"$ref": member} for member in members]}
    return united


def _with_values(schema: Mapping[str, Any], children: list[str]) -> Mapping[str, Any]:
    """Return a parent whose discriminating property names its values."""
    discriminator, properties = schema["discriminator"], schema.get("properties")
    is_object = isinstance(discriminator, Mapping)
    name = discriminator.get("propertyName") if is_object else discriminator
    declared = properties.get(name) if isinstance(properties, Mapping) else None
    if (
        not isinstance(properties, Mapping)
        or not isinstance(declared, Mapping)
        or {"$ref", "enum", "const"} & set(declared)
    ):
        return schema
    mapping = discriminator.get("mapping") if is_object else None
    values = ", ".join(map(str, mapping if isinstance(mapping, Mapping) and mapping else children))
    text = f"{declared.get('description') or ''} One of: {values}.".strip()
    return {**schema, "properties": {**properties, name: {**declared, "description": text}}}


def _free(name: str, table: Mapping[str, Any]) -> str:
    while name in table:
        name += "_"
    return name


def _rebased(schema: Any, own_references: Mapping[str, str]) -> Any:
    """Return a schema whose `allOf` refers to the own fields of parents."""
    members = schema.get("allOf") if isinstance(schema, Mapping) else None
    if not isinstance(members, list):
        return schema
    return {**schema, "allOf": [_own_reference(member, own_references) for member in members]}


def _own_reference(member: Any, own_references: Mapping[str, str]) -> Any:
    reference = member.get("$ref") if isinstance(member, Mapping) else None
    own = own_references.get(reference) if isinstance(reference, str) else None
    return member if own is None else {**member, "$ref": own}


def _excludes_itself(schema: Mapping[str, Any], name: str, prefix: str) -> bool:
    discriminator = schema["discriminator"]
    mapping = discriminator.get("mapping") if isinstance(discriminator, Mapping) else None
    if not isinstance(mapping, Mapping) or not mapping:
        return False
    return not {name, f"{prefix}{escaped(name)}"} & set(map(str, mapping.values()))


def _replaced(document: Mapping[str, Any], path: tuple[str, ...], table: Mapping[str, Any]) -> dict[str, Any]:
    key, *rest = path
    inner = table if not rest else _replaced(document[key], tuple(rest), table)
    return {**document, key: inner}
