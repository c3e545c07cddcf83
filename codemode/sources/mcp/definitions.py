"""An MCP server's definitions as tools, and the ones that were accepted, so that none changes unseen."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcp_types
from pydantic import TypeAdapter, ValidationError

from codemode.catalog.effect_words import Judgement, judge
from codemode.catalog.identifiers import identifier
from codemode.catalog.schema import Graph, Schema
from codemode.catalog.tool import Effect, Tool
from codemode.sources.loaded import Surface, Warned
from codemode.sources.toolkits.described import parameters_of
from codemode.text.prose import first_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STORED: TypeAdapter[dict[str, mcp_types.Tool]] = TypeAdapter(dict[str, mcp_types.Tool])


def digest(definition: mcp_types.Tool) -> str:
    """What a model is told of a tool and what it may do: a change of it is a change of the tool."""
    return hashlib.sha256(json.dumps(told(definition), sort_keys=True).encode()).hexdigest()


def told(definition: mcp_types.Tool) -> dict[str, Any]:
    """What of a definition counts: all but icons and what is meant for clients."""
    facts: dict[str, Any] = definition.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude={"icons", "meta", "execution"}
    )
    return facts


#: Names of one server whose definitions are kept: a few lists as long as any may be. What was accepted is not forgotten
#: for what is new, or a server could have it forgotten.
MOST_KEPT = 20_000


class AcceptedDefinitions:
    """The definitions of each server as they were first seen, or accepted since: one file for each, mode 0600."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, source: str) -> dict[str, mcp_types.Tool]:
        """By name; empty where nothing was ever accepted."""
        try:
            return _STORED.validate_json(self._file(source).read_bytes())
        except (OSError, ValidationError):
            return {}

    def accept(self, source: str, definitions: Iterable[mcp_types.Tool]) -> None:
        """Keep these, in place of those of the same names. Raises OSError."""
        known = self.read(source) | {definition.name: definition for definition in definitions}
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("wb", dir=self._folder, delete=False) as file:
            file.write(_STORED.dump_json(known, by_alias=True, exclude_none=True))
        Path(file.name).replace(self._file(source))

    def _file(self, source: str) -> Path:
        return self._folder / f"{source}.mcp.json"


def surface_of(source: str, definitions: Sequence[mcp_types.Tool], accepted: AcceptedDefinitions) -> Surface:
    """The tools of a server. A new definition is kept from now on; one that differs from what is kept is left out.

    That is the defence against tools that change after they were approved: a warning says so until the operator
    accepts the new text (`codemode sources accept`). Raises OSError where definitions cannot be kept.
    """
    definitions, repeated = _each_once(definitions)
    known = accepted.read(source)
    new = [definition for definition in definitions if definition.name not in known]
    room = max(MOST_KEPT - len(known), 0)
    new, too_many = new[:room], new[room:]
    if new:
        accepted.accept(source, new)
    changed = [one for one in definitions if one.name in known and digest(one) != digest(known[one.name])]
    left_out = {definition.name for definition in (*changed, *too_many)}
    warnings = [
        Warned(f"/{definition.name}", f"{_changes(known[definition.name], definition)} changed: not offered until "
               f"`codemode sources accept {source}`")
        for definition in changed
    ]  # fmt: skip
    if too_many:
        message = f"{len(too_many):,} tools are left out: there were {len(known):,} others before"
        warnings.append(Warned("", message))
    kept = [definition for definition in definitions if definition.name not in left_out]
    tools, unreadable = tools_of(source, kept)
    return Surface(tools, (*warnings, *repeated, *unreadable))


def _each_once(definitions: Sequence[mcp_types.Tool]) -> tuple[list[mcp_types.Tool], list[Warned]]:
    """The first definition of each name: a server can only be asked for one."""
    first: dict[str, mcp_types.Tool] = {}
    for definition in definitions:
        first.setdefault(definition.name, definition)
    repeated = [definition.name for definition in definitions if first[definition.name] is not definition]
    message = "it is listed twice: the first definition is used"
    return list(first.values()), [Warned(f"/{name}", message) for name in repeated]


def tools_of(source: str, definitions: Sequence[mcp_types.Tool]) -> tuple[tuple[Tool, ...], tuple[Warned, ...]]:
    """Definitions as tools, named in the order of their names, so that the order of the list does not matter."""
    tools: dict[str, Tool] = {}
    warnings: list[Warned] = []
    for definition in sorted(definitions, key=lambda one: one.name):
        name = identifier(definition.name, "tool")
        number = 2
        while f"{source}.{name}" in tools:
            name, number = f"{identifier(definition.name, 'tool')}_{number}", number + 1
        try:
            tools[f"{source}.{name}"] = _tool(f"{source}.{name}", source, definition)
        except (ValueError, TypeError, AttributeError) as error:
            warnings.append(Warned(f"/{definition.name}", f"its schema cannot be read: {error}"))
    return tuple(tools.values()), tuple(warnings)


def _tool(id_: str, source: str, definition: mcp_types.Tool) -> Tool:
    description = definition.description or ""
    title = definition.title or (definition.annotations.title if definition.annotations else "") or ""
    output = definition.output_schema
    effect, word, is_said = effect_of(definition)
    return Tool(
        id_,
        source=source,
        summary=first_sentence(description) or title,
        description=description or title,
        parameters=parameters_of(definition.input_schema),
        effect=effect,
        effect_word=word,
        effect_said=is_said,
        invocation=definition.name,
        returns=Schema(output, Graph.of(output)) if output else None,
        aliases=(definition.name, f"{source}.{definition.name}"),
        retrieval_text=f"{definition.name} {title}",
        key=definition.name,
    )


def effect_of(definition: mcp_types.Tool) -> Judgement:
    """What a tool does: by the hints of its server, where it gives any; else by its words, else it writes."""
    hints, said = definition.annotations, None
    if hints is not None and hints.read_only_hint:
        said = Effect.READ
    elif hints is not None and hints.destructive_hint is not None:
        said = Effect.DESTRUCTIVE if hints.destructive_hint else Effect.WRITE
    title = definition.title or (hints.title if hints else "") or ""
    return judge(said, Effect.WRITE, (definition.name,), title, definition.description or "")


def _changes(before: mcp_types.Tool, after: mcp_types.Tool) -> str:
    """Which parts of a definition differ, in words."""
    parts = {
        "description": (before.description, after.description),
        "title": (before.title, after.title),
        "arguments": (before.input_schema, after.input_schema),
        "result": (before.output_schema, after.output_schema),
        "effect": (effect_of(before).effect, effect_of(after).effect),
    }
    return " and ".join(name for name, (old, new) in parts.items() if old != new) or "annotations"
