"""What a model is given: a tool as a native function definition, and the two definitions that stand for all tools."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from codemode.catalog.tokens import estimate
from codemode.text.visible import visible, visible_data

if TYPE_CHECKING:
    from codemode.catalog.catalog import Catalog
    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool

#: `^[a-zA-Z0-9_-]{1,64}$`: what chat completions accept as a function's name.
NAME_CHARACTERS = 64

#: What the directory of domains may cost the model, whatever the catalog.
DIRECTORY_TOKENS = 60

#: Letters that a token of a domain's name has at least: names are abbreviations, products and made-up words more often
#: than prose is (measured on names of packages: 2,000 directories of 43 of them have at most 58 tokens).
_LETTERS_PER_TOKEN = 2.5

_REFERENCES = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))


def native(tool: Tool) -> dict[str, Any]:
    """The tool as an OpenAI function definition (chat completions); its schemas come along as `$defs`, each once."""
    definitions = _Definitions()
    properties = {
        parameter.name: _described(definitions.rewritten(parameter.schema), parameter.description)
        for parameter in tool.parameters
    }
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": [parameter.name for parameter in tool.parameters if parameter.required],
    }
    found = definitions.collected()
    if found:
        parameters["$defs"] = found
    return {
        "type": "function",
        "function": {
            "name": native_name(tool),
            "description": visible(tool.description or tool.summary),
            "parameters": visible_data(parameters),
        },
    }


def native_name(tool: Tool) -> str:
    """The name of a tool's native definition: its id, as chat completions accept it."""
    return tool.id.replace(".", "-")[-NAME_CHARACTERS:].lstrip("-")


def pinned(catalog: Catalog, ids: Iterable[str]) -> dict[str, Tool]:
    """The tools with these ids that the catalog has, by their native names."""
    return {native_name(tool): tool for tool in (catalog.get(id_) for id_ in ids if id_ in catalog)}


def two_tools(catalog: Catalog) -> list[dict[str, Any]]:
    """The definitions of `search` and `execute` for a catalog: they name its domains and do not grow with its tools."""
    return two_tools_of(catalog.domains)


def two_tools_of(domains: Mapping[str, int]) -> list[dict[str, Any]]:
    """The same where only the domains are known, and how many tools each has."""
    search = {
        "type": "object",
        "properties": {
            "queries": {"type": "array", "items": {"type": "string"}, "description": "One short query per step"},
            "namespace": {"type": "string", "description": "Only this domain"},
            "detail": {"type": "string", "enum": ["auto", "full"]},
        },
        "required": ["queries"],
    }
    execute = {
        "type": "object",
        "properties": {
            "code": {"type": "string"},
            "resume_from": {"type": "string", "description": "An execution to repair or continue, not to repeat"},
        },
        "required": ["code"],
    }
    return [
        _function(
            "search",
            f"Find tools; answers Python signatures to call in execute. Domains: {_directory(domains)}",
            search,
        ),
        _function(
            "execute",
            "Run a Python program that calls tools as namespace.group.name(argument=…). Its last expression is the "
            "result; print is captured. Parallel: await asyncio.gather(…). Do loops, filters and joins in one program. "
            "search(…) and describe(name) work in it too.",
            execute,
        ),
    ]


def _directory(domains: Mapping[str, int]) -> str:
    """The domains with the most tools, as many as there is room for, and how many there are more."""
    ranked = sorted(domains, key=lambda name: (-domains[name], name))
    shown = ""
    for number, name in enumerate(ranked):
        longer = f"{shown}, {name}" if shown else name
        if _directory_cost(_more(longer, len(ranked) - number - 1)) > DIRECTORY_TOKENS:
            return _more(shown, len(ranked) - number)
        shown = longer
    return shown or "none"


def _more(shown: str, left: int) -> str:
    return f"{shown} … and {left} more" if left else shown


def _directory_cost(text: str) -> int:
    return max(estimate(text), math.ceil(len(text) / _LETTERS_PER_TOKEN))


def _function(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _described(schema: Any, description: str) -> Any:
    if not isinstance(schema, dict):
        schema = {}
    return {**schema, "description": description} if description and "description" not in schema else schema


class _Definitions:
    """Copies schemas with their references turned to `#/$defs/NAME`, and remembers what has to stand there."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._waiting: list[tuple[str, Schema]] = []

    def rewritten(self, schema: Schema) -> Any:
        return self._copy(schema.value, schema)

    def collected(self) -> dict[str, Any]:
        """What the copies refer to, and what that refers to in turn."""
        found: dict[str, Any] = {}
        while self._waiting:
            name, schema = self._waiting.pop()
            found[name] = self._copy(schema.value, schema)
        return dict(sorted(found.items()))

    def _copy(self, value: Any, place: Schema) -> Any:
        if isinstance(value, Mapping):
            here = place.at(value)
            target = here.target() if here.reference is not None else None
            if target is not None:
                rest = {k: self._copy(v, place) for k, v in value.items() if k not in _REFERENCES}
                return {"$ref": f"#/$defs/{self._name(target)}", **rest}
            return {str(key): self._copy(inner, place) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._copy(inner, place) for inner in value]
        return value

    def _name(self, target: Schema) -> str:
        known = self._names.get(id(target.value))
        if known is None:
            taken = set(self._names.values())
            known = base = target.name or "Schema"
            number = 2
            while known in taken:
                known, number = f"{base}_{number}", number + 1
            self._names[id(target.value)] = known
            self._waiting.append((known, target))
        return known
