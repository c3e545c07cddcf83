"""Mistakes in a configuration, explained with line, key, expected value and the closest valid key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from codemode.settings.sections import Settings
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import BaseModel, ValidationError


#: Expected values, for errors that pydantic words in terms of Python types.
_EXPECTED = {
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
}

#: Classes of secret references.
_SECRETS = ("CallerReference", "SecretReference")


def mistakes(
    error: ValidationError, node: yaml.Node | None, model: type[BaseModel] = Settings
) -> list[tuple[int, str]]:
    """Return the line and text of every mistake. `node` is the composed YAML document of a `model`."""
    found = [dict(each) for each in error.errors()]
    return [_explain(mistake, node, model) for mistake in found if not _is_of_another_choice(mistake, found)]


#: libyaml's message for a tab at the beginning of a line.
_STRAY = "found character that cannot start any token"


def yaml_message(error: yaml.YAMLError) -> str:
    """Return why a text is not YAML, and the line. The text itself is not quoted: it may hold secrets."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return " ".join(str(error).split())
    begun = f" in line {error.context_mark.line + 1}" if error.context_mark else ""
    context = f" ({error.context}{begun})" if error.context else ""
    hint = "; indent YAML with spaces, not with tabs" if error.problem == _STRAY else ""
    return f"line {error.problem_mark.line + 1}: {error.problem}{context}{hint}"


def duplicate_keys(node: yaml.Node | None) -> list[tuple[int, str]]:
    """Return the line and text of every repeated key. YAML readers silently keep the last one."""
    found: list[tuple[int, str]] = []
    seen: set[int] = set()
    waiting = [node] if node is not None else []
    while waiting:
        one = waiting.pop()
        if id(one) in seen:  # an alias
            continue
        seen.add(id(one))
        if isinstance(one, yaml.SequenceNode):
            waiting += one.value
        elif isinstance(one, yaml.MappingNode):
            found += _twice(one)
            waiting += [value for _, value in one.value]
    return found


def _twice(mapping: yaml.MappingNode) -> Iterator[tuple[int, str]]:
    lines: dict[str, int] = {}
    for key, _ in mapping.value:
        line = key.start_mark.line + 1
        if str(key.value) in lines:
            yield line, f"{key.value}: repeats the key in line {lines[key.value]}; remove one of them"
        lines[str(key.value)] = line


def _is_of_another_choice(mistake: dict[str, Any], found: list[dict[str, Any]]) -> bool:
    """Return whether a mistake concerns one member of a union, and another mistake the member that was meant."""
    place = _choice_at(mistake)
    others = [one["type"] for one in found if one is not mistake and place is not None and _choice_at(one) == place]
    if mistake["type"] == "model_type" and mistake["ctx"]["class_name"] in _SECRETS:
        return bool(others)
    return mistake["type"].endswith("_type") and not all(kind.endswith("_type") for kind in others)


def _choice_at(mistake: dict[str, Any]) -> tuple[Any, ...] | None:
    """Return the location of the union around a mistake, or None."""
    location = mistake["loc"]
    return next((location[:at] for at, part in enumerate(location) if _is_choice(part, location[at + 1 :])), None)


def _is_choice(part: Any, after: tuple[Any, ...]) -> bool:
    """Return whether a part of a location is pydantic's name of a union member instead of a key."""
    return isinstance(part, str) and (part.startswith(("function-", "dict[")) or (part == "str" and not after))


def _explain(mistake: dict[str, Any], node: yaml.Node | None, model: type[BaseModel]) -> tuple[int, str]:
    """Return the line of a mistake, and its text with the key."""
    places = mistake["loc"]
    location = tuple(
        part for at, part in enumerate(places) if part != "[key]" and not _is_choice(part, places[at + 1 :])
    )
    key = ".".join(str(part) for part in location) or "the whole file"
    return line_of(node, location), f"{key}: {_said(mistake, location, model)}"


def _said(mistake: dict[str, Any], location: tuple[Any, ...], model: type[BaseModel]) -> str:
    context = mistake.get("ctx", {})
    match mistake["type"]:
        case "extra_forbidden":
            return f"unknown key{_choice(str(location[-1]), _valid_keys(location[:-1], model))}"
        case "union_tag_invalid":
            valid = str(context["expected_tags"]).replace("'", "").split(", ")
            kind = str(context["discriminator"]).strip("'")
            return f"unknown {kind} {context['tag']!r}{_choice(context['tag'], valid)}"
        case "model_type" if context["class_name"] in _SECRETS:
            return "a secret cannot be written here: refer to its place, as {env: NAME} or {file: PATH}"
        case "model_type" if context["class_name"] == "SourceSettings":
            return "expected a mapping: {location: FILE_OR_URL}"
        case "missing":
            return "missing key"
        case kind if kind in _EXPECTED:
            return f"expected {_EXPECTED[kind]}"
        case _:
            return str(mistake["msg"]).removeprefix("Value error, ")


def unknown_names(settings: Settings) -> list[tuple[tuple[Any, ...], str]]:
    """Return the place and text of every unknown role or source name."""
    known = {"role": settings.policy.known_roles(), "source": tuple(settings.sources)}
    return [
        (place, f"{'.'.join(map(str, place))}: there is no {kind} {name!r}{_choice(name, known[kind])}")
        for kind, place, name in _named(settings)
        if name not in known[kind]
    ]


def _named(settings: Settings) -> Iterator[tuple[str, tuple[Any, ...], str]]:
    """Yield every reference to a role or source: kind, place and name."""
    policy = settings.policy
    for place, rules in (
        (("policy", "rules"), policy.rules),
        (("policy", "quotas"), policy.quotas),
        (("budgets",), settings.budgets),
    ):
        yield from _of_rules(place, rules)
    yield from _owners(settings)
    for number, key in enumerate(settings.server.keys):
        yield "role", ("server", "keys", number, "role"), key.role
    tokens = settings.server.tokens
    if tokens is not None:
        for value, role in tokens.roles.items():
            yield "role", ("server", "tokens", "roles", value), role
        if tokens.default_role is not None:
            yield "role", ("server", "tokens", "default_role"), tokens.default_role


def _of_rules(place: tuple[str, ...], rules: Sequence[Any]) -> Iterator[tuple[str, tuple[Any, ...], str]]:
    for number, rule in enumerate(rules):
        for kind in ("role", "source"):
            for at, name in enumerate(getattr(rule, f"{kind}s", ())):
                yield kind, (*place, number, f"{kind}s", at), name


def _owners(settings: Settings) -> Iterator[tuple[str, tuple[Any, ...], str]]:
    """Yield the roles that own connections."""
    for source, one in settings.sources.items():
        for name, connection in one.connections.items():
            if connection.role:
                yield "role", ("sources", source, "connections", name, "owner"), connection.role


def _choice(name: str, valid: Sequence[str]) -> str:
    return f"{did_you_mean(name, valid) or ';'} valid: {', '.join(sorted(valid))}"


def line_of(node: yaml.Node | None, location: tuple[Any, ...]) -> int:
    """Return the line of a key, or of the closest key around it."""
    line = node.start_mark.line + 1 if node is not None else 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(part)), None)
            if pair is None:
                continue  # the name of a union member is not in the file
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


def _valid_keys(location: tuple[Any, ...], model: type[BaseModel]) -> list[str]:
    whole = model.model_json_schema()
    section: dict[str, Any] = whole
    for part in location:
        by_pattern = next(iter(section.get("patternProperties", {}).values()), None)
        inner = section.get("properties", {}).get(part) or by_pattern or section.get("items")
        if not isinstance(inner, dict):  # the name of a union member
            inner = {"$ref": section.get("discriminator", {}).get("mapping", {}).get(part)}
        inner = next((each for each in inner.get("anyOf", ()) if "$ref" in each or "discriminator" in each), inner)
        section = whole["$defs"].get(str(inner.get("$ref")).removeprefix("#/$defs/"), inner)
    return list(section.get("properties", {}))
