"""Choose the media type of a body by its value, where an operation declares several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemode.catalog.content import is_content
from codemode.transports.http.invocation import BodyKind

if TYPE_CHECKING:
    from codemode.transports.http.invocation import BodyPlan

_RAW = (BodyKind.BYTES, BodyKind.TEXT)


def plan_for(plan: BodyPlan, value: Any) -> BodyPlan:
    """Return the plan for a value: of one with a file multipart, of a list JSON Patch, of fields who declares them.

    If none fits, return the preferred one.
    """
    choices = plan.choices
    if not choices:
        return plan
    if is_content(value):
        fitting = [one for one in choices if one.kind in _RAW]
        fitting.sort(key=lambda one: (value.get("media_type") not in one.media_types, one.kind is not BodyKind.BYTES))
    elif isinstance(value, Mapping):
        fitting = _of_fields(choices, value)
    elif isinstance(value, str):
        fitting = [one for one in choices if "string" in one.schema.resolved().types()]
    else:
        kind = "array" if isinstance(value, list) else ""
        fitting = [one for one in choices if one.kind is BodyKind.JSON and kind in one.schema.resolved().types()]
    return fitting[0] if fitting else choices[0]


def _of_fields(choices: tuple[BodyPlan, ...], fields: Mapping[str, Any]) -> list[BodyPlan]:
    """Return the plans that declare all these fields, those that carry files first if there is one."""
    objects = [one for one in choices if one.kind not in _RAW and "array" not in one.schema.resolved().types()]
    if any(_is_file(objects, str(name), value) for name, value in fields.items()):
        objects.sort(key=lambda one: one.kind is not BodyKind.MULTIPART)
        if objects[0].kind is BodyKind.MULTIPART:
            return objects
    return [one for one in objects if fields.keys() <= _names(one)] or objects


def _names(plan: BodyPlan) -> set[str]:
    schema = plan.schema.resolved()
    return {*schema.properties(), *(name for one in schema.variants() for name in one.resolved().properties())}


def _is_file(plans: list[BodyPlan], name: str, value: Any) -> bool:
    """Return whether the value of a field is a file: stored content, or text where all plans declare a file."""
    values = value if isinstance(value, list) else [value]
    if any(map(is_content, values)):
        return True
    declared = [one.schema.properties()[name] for one in plans if name in one.schema.properties()]
    files = [(schema.items() or schema).is_file() for schema in declared]
    return bool(files) and all(files) and any(isinstance(each, str) for each in values)
