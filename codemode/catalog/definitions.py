"""Function definitions for models: one for each tool, or two that represent all tools."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from codemode.catalog.inline import NOTHING_INLINE
from codemode.catalog.portable_schema import portable
from codemode.catalog.tokens import estimate
from codemode.text.visible import visible, visible_data

if TYPE_CHECKING:
    from codemode.catalog.catalog import Catalog
    from codemode.catalog.inline import Inline
    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool

#: The longest function name of chat completions (`^[a-zA-Z0-9_-]{1,64}$`).
NAME_CHARACTERS = 64

#: The search of deferred native tools.
TOOL_SEARCH = "tool_search"

#: The token budget of the list of domains.
DIRECTORY_TOKENS = 60

#: The fewest letters of one token in a list of domains. Domain names are often abbreviations, so they need more tokens
#: than prose. Measured on package names: 2,000 lists of 43 names have at most 58 tokens.
_LETTERS_PER_TOKEN = 2.5

_REFERENCES = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))


def native(tool: Tool) -> dict[str, Any]:
    """Return a tool as a chat-completions function definition, in the schema subset that all providers accept."""
    properties, definitions = _schemas(tool)
    required = _required(tool)
    parameters = {"type": "object", "properties": portable(properties, definitions, required), "required": required}
    return _function(native_name(tool), visible(tool.description or tool.summary), visible_data(parameters))


def whole_definition(tool: Tool) -> dict[str, Any]:
    """Return a tool like `native` with its whole schemas. Referenced schemas are in `$defs`, each once.

    Accepted tools are recognized by the digest of this definition.
    """
    properties, definitions = _schemas(tool)
    parameters: dict[str, Any] = {"type": "object", "properties": properties, "required": _required(tool)}
    if definitions:
        parameters["$defs"] = definitions
    return _function(native_name(tool), visible(tool.description or tool.summary), visible_data(parameters))


def _schemas(tool: Tool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schemas of a tool's parameters by name, and those that they refer to."""
    definitions = _Definitions()
    properties = {
        parameter.name: _described(definitions.rewritten(parameter.schema), parameter.description)
        for parameter in tool.parameters
    }
    return properties, definitions.collected()


def _required(tool: Tool) -> list[str]:
    return [parameter.name for parameter in tool.parameters if parameter.required]


def native_name(tool: Tool) -> str:
    """Return the function name of a tool: its id, with the characters that chat completions accept.

    A longer one is a digest and the end of the id, so that no two tools have the same.
    """
    name = tool.id.replace(".", "-")
    if len(name) <= NAME_CHARACTERS:
        return name
    digest = hashlib.blake2s(tool.id.encode(), digest_size=8).hexdigest()
    return f"t{digest}_{name[len(digest) + 2 - NAME_CHARACTERS :]}"


def pinned(catalog: Catalog, ids: Iterable[str]) -> dict[str, Tool]:
    """Return the tools with these ids by their function names, without those that the catalog lacks."""
    return {native_name(tool): tool for tool in (catalog.get(id_) for id_ in ids if id_ in catalog)}


def two_tools(catalog: Catalog, inline: Inline = NOTHING_INLINE) -> list[dict[str, Any]]:
    """Return the definitions of `search` and `execute`. They have at most 350 tokens and those of `inline`."""
    return two_tools_of(catalog.domains, inline)


def two_tools_of(domains: Mapping[str, int], inline: Inline = NOTHING_INLINE) -> list[dict[str, Any]]:
    """Return the definitions of `search` and `execute` for domains with their numbers of tools."""
    search = {
        "type": "object",
        "properties": {
            "queries": {"type": "array", "items": {"type": "string"}, "description": "One short query per step"},
            "namespace": {"type": "string", "description": "Only this domain"},
            "detail": {"type": "string", "enum": ["auto", "full"]},
            "limit": {"type": "integer", "description": "Signatures; default: queries + 3"},
        },
        "required": ["queries"],
    }
    execute = {
        "type": "object",
        "properties": {
            "code": {"type": "string"},
            "resume_from": {"type": "string", "description": "An execution to repair or continue, not to repeat"},
            "dry_run": {"type": "boolean", "description": "List writes instead of making them"},
        },
        "required": ["code"],
    }
    return [
        _function("search", _about_search(domains, inline), search),
        _function(
            "execute",
            "Run a Python program that calls tools as namespace.group.name(argument=…). Its last expression is the "
            "result; print is captured. Parallel: await asyncio.gather(…). Do loops, filters and joins in one program. "
            "search(…) and describe(name) work in it too."
            + (f" {inline.advice}" if inline.advice else "")
            + (f"\n{inline.text}" if inline.text else ""),
            execute,
        ),
    ]


def tool_search(domains: Mapping[str, int]) -> dict[str, Any]:
    """Return the definition of the search that adds native tools, for domains with their numbers of tools."""
    return _function(
        TOOL_SEARCH,
        "Find functions that are not listed. The best ones are added to your functions for the rest of the "
        f"conversation. Domains: {_directory(domains)}",
        {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What the function should do, or its name"}},
            "required": ["query"],
        },
    )


def _about_search(domains: Mapping[str, int], inline: Inline) -> str:
    if inline.is_whole:
        return "Details of tools. Not needed before a call: execute lists the signatures of all tools."
    others = " that execute does not list" if inline.text else ""
    return f"Find tools{others}; answers Python signatures to call in execute. Domains: {_directory(domains)}"


def _directory(domains: Mapping[str, int]) -> str:
    """List as many domains as fit, largest first, and the number of the others."""
    ranked = sorted(domains, key=lambda name: (-domains[name], name))
    shown = ""
    for number, name in enumerate(ranked):
        extended = f"{shown}, {name}" if shown else name
        if _directory_cost(_with_rest(extended, len(ranked) - number - 1)) > DIRECTORY_TOKENS:
            return _with_rest(shown, len(ranked) - number)
        shown = extended
    return shown or "none"


def _with_rest(shown: str, hidden: int) -> str:
    return f"{shown} … and {hidden} more" if hidden else shown


def _directory_cost(text: str) -> int:
    return max(estimate(text), math.ceil(len(text) / _LETTERS_PER_TOKEN))


def _function(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _described(schema: Any, description: str) -> Any:
    if not isinstance(schema, dict):
        schema = {}
    return {**schema, "description": description} if description and "description" not in schema else schema


class _Definitions:
    """Copy schemas with references rewritten to `#/$defs/NAME`, and collect the referenced schemas."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._pending: list[tuple[str, Schema]] = []

    def rewritten(self, schema: Schema) -> Any:
        return self._copy(schema.value, schema)

    def collected(self) -> dict[str, Any]:
        """Return all schemas that the copies refer to, directly or indirectly, by name."""
        referenced: dict[str, Any] = {}
        while self._pending:
            name, schema = self._pending.pop()
            referenced[name] = self._copy(schema.value, schema)
        return dict(sorted(referenced.items()))

    def _copy(self, value: Any, parent: Schema) -> Any:
        if isinstance(value, Mapping):
            schema = parent.at(value)
            target = schema.target() if schema.reference is not None else None
            if target is not None:
                rest = {k: self._copy(v, parent) for k, v in value.items() if k not in _REFERENCES}
                return {"$ref": f"#/$defs/{self._name(target)}", **rest}
            return {str(key): self._copy(inner, parent) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._copy(inner, parent) for inner in value]
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
            self._pending.append((known, target))
        return known
