"""Validate the arguments of a call against the tool, before anything is sent.

Errors distinguish unknown names, missing required arguments and invalid values. Each names the parameter, what was
expected, and what would be valid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from codemode.catalog.checks import quick_check
from codemode.catalog.shapes import MOST_LITERALS, Direction, Shapes, literals
from codemode.catalog.tool import WHOLE_BODY, Location, Parameter
from codemode.catalog.validation import Missing, first_error
from codemode.catalog.value_count import MOST_VALUES, holds_too_many
from codemode.errors import ArgumentsInvalid
from codemode.text.nearest import did_you_mean, nearest, several_nearest
from codemode.text.prose import shorten

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from jsonschema.exceptions import ValidationError

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool

#: The most alternatives for which an error gives a reason.
_ALTERNATIVES = 4

#: The most values of an enumeration that an error suggests.
_NEAR_VALUES = 5

_IN_TEXT = (Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE)


def validate(tool: Tool, arguments: Mapping[str, Any], *, unchecked: Collection[str] = ()) -> dict[str, Any]:
    """Return the arguments by parameter name, ready for the transport. Raises ArgumentsInvalid.

    Exact wire names are accepted too. None for an optional parameter that does not allow null omits it. Floats with
    integral values become integers. Numbers become strings if they are sent as text. In a merge patch (RFC 7396), any
    member may be null, which removes it.

    The values of the arguments `unchecked` are not validated, and neither are rules across fields then.
    """
    if holds_too_many(arguments):
        message = f"the arguments hold more than {MOST_VALUES:,} values: split them into several calls"
        raise ArgumentsInvalid(tool.id, message, valid=tool.parameter_names)
    plan = _plan(tool)
    valid: dict[str, Any] = {}
    for name, value in arguments.items():
        slot = plan.slots.get(name)
        if slot is None:
            if name == WHOLE_BODY and plan.takes_whole_body:
                continue
            raise _unknown(tool, name)
        if name in unchecked or slot.check(value):
            valid[slot.parameter.name] = value
        elif value is not None or slot.parameter.required:
            valid[slot.parameter.name] = _checked_by_library(tool, plan, slot.parameter, value)
        elif slot.parameter.schema.is_nullable():
            valid[slot.parameter.name] = None
        elif plan.merges and plan.takes_whole_body and slot.parameter.name in plan.fields:
            raise _ambiguous(tool, slot.parameter)
    if plan.takes_whole_body and WHOLE_BODY in arguments:
        return _with_whole_body(tool, plan, valid, arguments[WHOLE_BODY], is_checked=WHOLE_BODY not in unchecked)
    _check_as_a_whole(tool, plan, valid, across_fields=not unchecked)
    return valid


def accepts(tool: Tool, keyword: str) -> bool:
    """Whether the tool accepts a keyword: a parameter's name, its wire name, or the whole body."""
    plan = _plan(tool)
    return keyword in plan.slots or (keyword == WHOLE_BODY and plan.takes_whole_body)


def takes(tool: Tool, name: str, value: Any) -> bool:
    """Whether a value is valid for an argument of the tool."""
    try:
        validate(tool, {name: value})
    except ArgumentsInvalid as error:
        return error.parameter not in ("", name) and accepts(tool, name)
    return True


def missing(tool: Tool, keywords: Mapping[str, Any] | set[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Return the required parameters that are missing from the keywords."""
    plan = _plan(tool)
    present = {plan.slots[name].parameter.name for name in keywords if name in plan.slots}
    whole = WHOLE_BODY in keywords and plan.takes_whole_body
    return tuple(name for name in plan.required if name not in present and not (whole and name in plan.fields))


class _Slot:
    __slots__ = ("check", "parameter")

    def __init__(self, parameter: Parameter) -> None:
        self.parameter = parameter
        self.check = quick_check(parameter.schema)


class _Plan:
    """The validation data of a tool, computed once."""

    def __init__(self, tool: Tool) -> None:
        parameters = tool.parameters
        self.slots = {parameter.name: _Slot(parameter) for parameter in parameters}
        wire_names = [parameter.wire_name for parameter in parameters]
        for parameter in parameters:
            if wire_names.count(parameter.wire_name) == 1:
                self.slots.setdefault(parameter.wire_name, self.slots[parameter.name])
        self.required = tuple(parameter.name for parameter in parameters if parameter.required)
        self.fields = {p.name: p.wire_name for p in parameters if p.location is Location.BODY_FIELD}
        self.body = tool.details.body
        self.merges = tool.details.body_merges
        self.body_needs = self._needs()  # fields that are required if any other field is given
        self.takes_whole_body = self.body is not None and WHOLE_BODY not in self.slots
        self.checks_body = bool(self.fields) and self.body is not None and _has_rules_across_fields(self.body)

    def _needs(self) -> frozenset[str]:
        if self.body is None or not self.fields or self.body.resolved().variants():
            return frozenset()
        required = self.body.required()
        return frozenset(name for name, wire in self.fields.items() if wire in required and name not in self.required)


_plans: WeakKeyDictionary[Tool, _Plan] = WeakKeyDictionary()


def _plan(tool: Tool) -> _Plan:
    plan = _plans.get(tool)
    if plan is None:
        plan = _plans[tool] = _Plan(tool)
    return plan


def _has_rules_across_fields(body: Schema) -> bool:
    return any(key in part.value for part in body.conjuncts() for key in _CROSS_FIELD_KEYWORDS)


_CROSS_FIELD_KEYWORDS = (
    "anyOf",
    "oneOf",
    "not",
    "if",
    "dependentRequired",
    "dependentSchemas",
    "minProperties",
    "maxProperties",
)


def _checked_by_library(tool: Tool, plan: _Plan, parameter: Parameter, value: Any) -> Any:
    """Return the value if `jsonschema` accepts it, else raise ArgumentsInvalid."""
    is_body = parameter.location in (Location.BODY, Location.BODY_FIELD)
    error = _body_error(plan, parameter.schema, value) if is_body else first_error(parameter.schema, value)
    if error is None:
        return _as_integer(value) if "number" not in parameter.schema.types() else value
    if parameter.location in _IN_TEXT and type(value) in (int, float) and parameter.schema.types() == ("string",):
        text = str(_as_integer(value))
        if first_error(parameter.schema, text) is None:
            return text
    raise _invalid(tool, parameter, error, value)


def _body_error(plan: _Plan, schema: Schema, value: Any) -> ValidationError | None:
    """Return the error of a body or a part of it. In a merge patch, null members are ignored."""
    error = first_error(schema, value)
    if error is None or not plan.merges:
        return error
    return first_error(schema, _without_nulls(value))


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _without_nulls(item) for name, item in value.items() if item is not None}


def _as_integer(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() else value


def _with_whole_body(tool: Tool, plan: _Plan, valid: dict[str, Any], body: Any, *, is_checked: bool) -> dict[str, Any]:
    mixed = [name for name in valid if name in plan.fields]
    if mixed:
        message = f"give either {WHOLE_BODY}= or its fields ({', '.join(mixed)}), not both"
        raise ArgumentsInvalid(tool.id, message, parameter=WHOLE_BODY, valid=tool.parameter_names)
    missing = [name for name in plan.required if name not in valid and name not in plan.fields]
    if missing:
        raise _missing(tool, missing)
    if plan.body is not None and is_checked:
        error = _body_error(plan, plan.body, body)
        if error is not None:
            whole = Parameter(WHOLE_BODY, "", Location.BODY, required=True, schema=plan.body)
            raise _invalid(tool, whole, error, body)
    return {**valid, WHOLE_BODY: body}


def _check_as_a_whole(tool: Tool, plan: _Plan, valid: dict[str, Any], *, across_fields: bool) -> None:
    """Check required arguments, the fields that a body requires, and rules across fields."""
    missing = [name for name in plan.required if name not in valid]
    if not missing and not plan.fields.keys().isdisjoint(valid):
        missing = sorted(plan.body_needs - set(valid))
    if missing:
        raise _missing(tool, missing)
    if plan.checks_body and across_fields:
        _check_body(tool, plan, valid)


def _check_body(tool: Tool, plan: _Plan, valid: dict[str, Any]) -> None:
    fields = {wire: valid[name] for name, wire in plan.fields.items() if name in valid}
    if (not fields and not tool.details.body_required) or plan.body is None or quick_check(plan.body)(fields):
        return
    error = _body_error(plan, plan.body, fields)
    if error is not None:
        path = ".".join(str(part) for part in error.absolute_path)
        where = f"{path!r}: " if path else ""
        message = f"these arguments are invalid together: {where}{_reason(error)}"
        raise ArgumentsInvalid(tool.id, message, parameter=path, valid=tool.parameter_names)


def _unknown(tool: Tool, name: str) -> ArgumentsInvalid:
    names = [parameter.name for parameter in tool.parameters]
    message = f"there is no parameter {shorten(name, 80)!r}{did_you_mean(name, names) or '.'} {_listed(tool)}"
    return ArgumentsInvalid(tool.id, message, parameter=name, valid=tuple(names))


def _ambiguous(tool: Tool, parameter: Parameter) -> ArgumentsInvalid:
    name = parameter.name
    message = f"{name}=None: leave {name} out to keep it; {WHOLE_BODY}={{{parameter.wire_name!r}: None, …}} removes it"
    return ArgumentsInvalid(tool.id, message, parameter=name, valid=tool.parameter_names)


def _missing(tool: Tool, names: list[str]) -> ArgumentsInvalid:
    shapes = Shapes(Direction.REQUEST, naming=False)
    wanted = ", ".join(f"{p.name}: {shapes.text(p.schema, p.name)}" for p in tool.parameters if p.name in names)
    message = f"missing required argument{'s' if len(names) > 1 else ''} {wanted}. {_listed(tool)}"
    return ArgumentsInvalid(tool.id, message, parameter=names[0], valid=tuple(p.name for p in tool.parameters))


def _invalid(tool: Tool, parameter: Parameter, error: ValidationError, value: Any) -> ArgumentsInvalid:
    path = "".join(f"[{part!r}]" for part in error.absolute_path)
    shapes = Shapes(Direction.REQUEST, naming=False)
    expected = shapes.text(parameter.schema, parameter.name)
    if path:
        message = f"{parameter.name}{path}: {_reason(error)}; the parameter is {expected}"
    elif error.validator in ("type", "enum", "const", "anyOf", "oneOf"):
        where = f"describe('{tool.id}.{parameter.name}')"
        message = (
            f"{parameter.name}: expected {_expected(parameter.schema, expected)}, got {_described_value(value)}"
            f"{_near_values(literals(parameter.schema) or [], value, where)}"
        )
    else:
        message = f"{parameter.name}: {_reason(error)}; expected {expected}"
    names = tuple(p.name for p in tool.parameters)
    return ArgumentsInvalid(tool.id, message, parameter=parameter.name, valid=names)


def _reason(error: ValidationError) -> str:
    """Return the text of an error, with the reasons why the alternatives do not match."""
    first: dict[object, str] = {}
    for one in error.context or ():
        first.setdefault(one.schema_path[0], _error_text(one, 100))
    alternatives = list(dict.fromkeys(first.values()))[:_ALTERNATIVES]
    return _error_text(error, 200) + (f": {', or '.join(alternatives)}" if alternatives else "")


def _error_text(error: ValidationError, length: int) -> str:
    """Return the text of one error. An unknown or missing field is reported with the closest match."""
    schema = error.schema if isinstance(error.schema, dict) else {}
    values = schema.get("enum")
    if error.validator == "enum" and isinstance(values, list) and len(values) > MOST_LITERALS:
        text = f"{shorten(repr(error.instance), 80)} is not one of {len(values)} values"
        return text + _near_values(values, error.instance)
    declared = schema.get("properties")
    if not isinstance(declared, dict) or not isinstance(error.instance, dict):
        return shorten(error.message, length)
    unknown = [str(name) for name in error.instance if name not in declared]
    if isinstance(error, Missing):
        meant = next((name for name in unknown if nearest(name, declared) == error.name), None)
        return shorten(error.message, length) + (f"; found {shorten(meant, 80)!r} instead" if meant else "")
    if error.validator != "additionalProperties" or not unknown or "patternProperties" in schema:
        return shorten(error.message, length)
    guess = did_you_mean(unknown[0], [name for name in declared if name not in error.instance]) or "."
    return f"there is no field {shorten(unknown[0], 80)!r}{guess} Valid: {shorten(', '.join(declared), length)}"


def _expected(schema: Schema, text: str) -> str:
    values = schema.first("enum")
    if isinstance(values, list) and values and not text.startswith("Literal"):
        return f"{text}, one of " + shorten(", ".join(str(value) for value in values), 200)
    return text


def _near_values(values: list[Any], value: Any, where: str = "") -> str:
    """Return the allowed values nearest to a text, if there are more than types show. `where` tells all of them."""
    if len(values) <= MOST_LITERALS or not isinstance(value, str):
        return ""
    near = several_nearest(value, [one for one in values if isinstance(one, str)], _NEAR_VALUES)
    shown = f"; nearest: {shorten(', '.join(map(repr, near)), 300)}" if near else ""
    return shown + (f"; {where} lists all {len(values)}" if where else "")


def _described_value(value: Any) -> str:
    kind = "None" if value is None else f"{type(value).__name__} "
    return kind if value is None else kind + shorten(repr(value), 80)


def _listed(tool: Tool) -> str:
    if not tool.parameters:
        return "It takes no arguments."
    names = ", ".join(p.name + ("*" if p.required else "") for p in tool.parameters)
    return f"Valid parameters (* = required): {names}"
