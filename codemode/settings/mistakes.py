"""What is wrong with a configuration, for its reader: line, key, what was expected, the nearest valid key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from rapidfuzz import fuzz, process

from codemode.settings.sections import Settings

if TYPE_CHECKING:
    from pydantic import ValidationError


def mistakes(error: ValidationError, node: yaml.Node | None) -> list[tuple[int, str]]:
    """Every mistake as its line and its text, in the order of lines; `node` is the file as YAML composed it."""
    return sorted(_explain(dict(mistake), node) for mistake in error.errors())


def _explain(mistake: dict[str, Any], node: yaml.Node | None) -> tuple[int, str]:
    """The line of a mistake, and its key, what was expected, the nearest valid key."""
    location = tuple(part for part in mistake["loc"] if part != "[key]")
    line = _line(node, location)
    key = ".".join(str(part) for part in location) or "(the whole file)"
    text = str(mistake["msg"]).removeprefix("Value error, ")
    if mistake["type"] == "extra_forbidden":
        valid = _valid_keys(location[:-1])
        nearest = process.extractOne(str(location[-1]), valid, scorer=fuzz.ratio, score_cutoff=50)
        text = f"no such key; {f'did you mean {nearest[0]!r}? ' if nearest else ''}valid: {', '.join(sorted(valid))}"
    return line, f"{key}: {text}"


def _line(node: yaml.Node | None, location: tuple[Any, ...]) -> int:
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
        inner = next((choice for choice in inner.get("anyOf", ()) if "$ref" in choice), inner)
        section = whole["$defs"].get(str(inner.get("$ref")).removeprefix("#/$defs/"), inner)
    return list(section.get("properties", {}))
