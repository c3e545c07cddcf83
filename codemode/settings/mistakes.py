"""What is wrong with a configuration, for its reader: line, key, what was expected, the nearest valid key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from rapidfuzz import fuzz, process

from codemode.settings.sections import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import ValidationError


def mistakes(error: ValidationError, node: yaml.Node | None) -> list[tuple[int, str]]:
    """Every mistake as its line and its text, in the order of lines; `node` is the file as YAML composed it."""
    return sorted(_explain(dict(mistake), node) for mistake in error.errors())


def _explain(mistake: dict[str, Any], node: yaml.Node | None) -> tuple[int, str]:
    """The line of a mistake, and its key, what was expected, the nearest valid key."""
    location = tuple(part for part in mistake["loc"] if part != "[key]")
    line = line_of(node, location)
    key = ".".join(str(part) for part in location) or "(the whole file)"
    text = str(mistake["msg"]).removeprefix("Value error, ")
    if mistake["type"] == "extra_forbidden":
        valid = _valid_keys(location[:-1])
        nearest = process.extractOne(str(location[-1]), valid, scorer=fuzz.ratio, score_cutoff=50)
        text = f"no such key; {f'did you mean {nearest[0]!r}? ' if nearest else ''}valid: {', '.join(sorted(valid))}"
    return line, f"{key}: {text}"


def unknown_names(settings: Settings) -> list[tuple[tuple[Any, ...], str]]:
    """Roles and sources that are named where nothing else of the file knows them: the place, and what is wrong."""
    known = {"role": settings.policy.known_roles(), "source": tuple(settings.sources)}
    return [
        (place, f"{'.'.join(map(str, place))}: there is no {kind} {_nearest(name, known[kind])}")
        for kind, place, name in _named(settings)
        if name not in known[kind]
    ]


def _named(settings: Settings) -> Iterator[tuple[str, tuple[Any, ...], str]]:
    """Every role and source that the file names, with the place."""
    for section in ("rules", "quotas"):
        for number, rule in enumerate(getattr(settings.policy, section)):
            for kind in ("role", "source"):
                for at, name in enumerate(getattr(rule, f"{kind}s", ())):
                    yield kind, ("policy", section, number, f"{kind}s", at), name
    for number, key in enumerate(settings.server.keys):
        yield "role", ("server", "keys", number, "role"), key.role
    tokens = settings.server.tokens
    if tokens is not None:
        for value, role in tokens.roles.items():
            yield "role", ("server", "tokens", "roles", value), role
        if tokens.default_role is not None:
            yield "role", ("server", "tokens", "default_role"), tokens.default_role


def _nearest(name: str, known: Sequence[str]) -> str:
    found = process.extractOne(name, known, scorer=fuzz.ratio, score_cutoff=50)
    return f"{name!r}; {f'did you mean {found[0]!r}? ' if found else ''}valid: {', '.join(sorted(known))}"


def line_of(node: yaml.Node | None, location: tuple[Any, ...]) -> int:
    """The line of a key in a file, or of the nearest key around it."""
    line = node.start_mark.line + 1 if node is not None else 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(part)), None)
            if pair is None:
                continue  # the name of a union's member, which is not in the file
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


def _valid_keys(location: tuple[Any, ...]) -> list[str]:
    whole = Settings.model_json_schema()
    section: dict[str, Any] = whole
    for part in location:
        by_pattern = next(iter(section.get("patternProperties", {}).values()), None)
        inner = section.get("properties", {}).get(part) or by_pattern or section.get("items")
        if not isinstance(inner, dict):  # the name of a union's member
            inner = {"$ref": section.get("discriminator", {}).get("mapping", {}).get(part)}
        inner = next((each for each in inner.get("anyOf", ()) if "$ref" in each or "discriminator" in each), inner)
        section = whole["$defs"].get(str(inner.get("$ref")).removeprefix("#/$defs/"), inner)
    return list(section.get("properties", {}))
