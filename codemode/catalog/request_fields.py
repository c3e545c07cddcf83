"""The fields of an object that is sent: those of a body, or the arguments of a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.catalog.schema import either

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema


def request_fields(schema: Schema) -> tuple[dict[str, Schema], frozenset[str]] | None:
    """Return the fields of an object and the names of the required ones, or None if it is not a plain object.

    A union of objects has the fields of all members. Those that every member requires are required.
    """
    schema = schema.resolved()
    own, required = _properties(schema)
    variants = next((part.variants() for part in schema.conjuncts() if part.variants()), ())
    members = [_properties(variant.resolved()) for variant in variants if variant.get("type") != "null"]
    if members and not own and not all(fields for fields, _ in members):
        return None
    if not own and not members:
        return None
    if schema.types() not in ((), ("object",)):
        return None
    fields = dict(own)
    for name in dict.fromkeys(name for member, _ in members for name in member):
        fields.setdefault(name, either([member[name] for member, _ in members if name in member]))
    common = frozenset.intersection(*(names for _, names in members)) if members else frozenset()
    return fields, (required | common) & frozenset(fields)


def _properties(schema: Schema) -> tuple[dict[str, Schema], frozenset[str]]:
    """Return the properties of a request and the required names. Undeclared required properties allow any value."""
    properties = schema.properties()
    required = schema.required()
    fields = {name: value for name, value in properties.items() if value.first("readOnly") is not True}
    if properties:
        fields |= {name: schema.at(True) for name in sorted(required - properties.keys())}
    return fields, frozenset(required & fields.keys())
