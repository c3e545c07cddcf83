"""Read the tool definitions of MCP servers, and hold back those that changed since the operator accepted them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import mcp_types
from pydantic import TypeAdapter, ValidationError

from codemode.catalog.effect_words import Judgement, judge
from codemode.catalog.identifiers import identifier
from codemode.catalog.schema import Graph, Schema
from codemode.catalog.tool import Effect, Tool
from codemode.shared.values import UNAVAILABLE
from codemode.sources.functions.described import parameters_of
from codemode.sources.loaded import SourceWarning, Surface
from codemode.text.prose import first_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codemode.shared.values import ValueStore

_STORED: TypeAdapter[dict[str, mcp_types.Tool]] = TypeAdapter(dict[str, mcp_types.Tool])


def digest(definition: mcp_types.Tool) -> str:
    """Return the SHA-256 digest of the parts of a definition that a model sees or that affect calls."""
    return hashlib.sha256(json.dumps(model_facts(definition), sort_keys=True).encode()).hexdigest()


def model_facts(definition: mcp_types.Tool) -> dict[str, Any]:
    """Return a definition as JSON data, without icons and client metadata."""
    facts: dict[str, Any] = definition.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude={"icons", "meta", "execution"}
    )
    return facts


#: The most definitions that are stored for one server. Accepted definitions are never evicted: otherwise a server could
#: replace one by sending many new names.
MOST_KEPT = 20_000


#: The most characters of a server's instructions that are stored.
_INSTRUCTIONS_CHARACTERS = 20_000


class AcceptedDefinitions:
    """The accepted definitions and instructions of each server, in two shared values for each.

    First-seen ones count as accepted. Methods that store raise OSError or JournalUnavailable.
    """

    def __init__(self, store: ValueStore) -> None:
        self._store = store

    def read(self, source: str) -> dict[str, mcp_types.Tool]:
        """Return the accepted definitions of a server by name. Empty if there are none."""
        try:
            return _parsed(self._store.value("definitions", source).read())
        except UNAVAILABLE:
            return {}

    def accept(self, source: str, definitions: Iterable[mcp_types.Tool]) -> None:
        """Store definitions, replacing those with the same names."""
        new = {definition.name: definition for definition in definitions}
        self._store.value("definitions", source).change(lambda data: _encoded(_parsed(data) | new))

    def accept_new(self, source: str, definitions: Iterable[mcp_types.Tool]) -> dict[str, mcp_types.Tool]:
        """Store definitions whose names have none yet. Return all that are accepted now."""
        new = {definition.name: definition for definition in definitions}
        result: dict[str, mcp_types.Tool] = {}

        def add(data: bytes | None) -> bytes:
            result.clear()
            result.update(new | _parsed(data))
            return _encoded(result)

        self._store.value("definitions", source).change(add)
        return result

    def instructions(self, source: str) -> str | None:
        """Return the accepted instructions of a server, None if the server was never seen."""
        try:
            data = self._store.value("instructions", source).read()
            return None if data is None else data.decode()
        except (*UNAVAILABLE, UnicodeDecodeError):
            return None

    def accept_instructions(self, source: str, text: str) -> None:
        """Store the instructions of a server."""
        self._store.value("instructions", source).change(lambda _: stored_instructions(text).encode())

    def accept_new_instructions(self, source: str, text: str) -> str:
        """Store the instructions of a server that has none yet. Return those that are accepted now."""
        result = [stored_instructions(text)]

        def add(data: bytes | None) -> bytes | None:
            if data is None:
                return result[0].encode()
            result[0] = data.decode(errors="replace")
            return None

        self._store.value("instructions", source).change(add)
        return result[0]


def _parsed(data: bytes | None) -> dict[str, mcp_types.Tool]:
    try:
        return _STORED.validate_json(data or b"{}")
    except ValidationError:
        return {}


def _encoded(definitions: dict[str, mcp_types.Tool]) -> bytes:
    return _STORED.dump_json(definitions, by_alias=True, exclude_none=True)


def stored_instructions(text: str) -> str:
    """Return instructions as they are stored: valid UTF-8, of bounded length, with line feeds."""
    return text.encode(errors="replace").decode()[:_INSTRUCTIONS_CHARACTERS].replace("\r\n", "\n").replace("\r", "\n")


def surface_of(
    source: str,
    definitions: Sequence[mcp_types.Tool],
    accepted: AcceptedDefinitions,
    instructions: str | None = None,
) -> Surface:
    """Return the tools of a server. New definitions are accepted, and changed ones are left out.

    The description are the accepted instructions, also if the current `instructions` differ.

    This defends against tools that change after they were approved. A warning names each changed tool until the
    operator runs `codemode sources accept`. Raises OSError or JournalUnavailable if definitions cannot be stored.
    """
    definitions, repeated = _unique(definitions)
    known = accepted.read(source)
    new = [definition for definition in definitions if definition.name not in known]
    remaining = max(MOST_KEPT - len(known), 0)
    new, too_many = new[:remaining], new[remaining:]
    full = f"{len(too_many):,} new tools are left out: {len(known):,} are already stored"
    if new:
        known = accepted.accept_new(source, new)
    changed = [one for one in definitions if one.name in known and digest(one) != digest(known[one.name])]
    left_out = {definition.name for definition in (*changed, *too_many)}
    advice = f"left out until `codemode sources accept {source}`"
    warnings = [
        SourceWarning(f"/{definition.name}", f"{_changes(known[definition.name], definition)} changed: {advice}")
        for definition in changed
    ]
    if too_many:
        warnings.append(SourceWarning("", full))
    kept = [definition for definition in definitions if definition.name not in left_out]
    tools, unreadable = tools_of(source, kept)
    description, changed_text = _accepted_instructions(source, instructions, accepted)
    return Surface(tools, (*warnings, *changed_text, *repeated, *unreadable), description=description)


def _accepted_instructions(
    source: str, current: str | None, accepted: AcceptedDefinitions
) -> tuple[str, list[SourceWarning]]:
    """Return the accepted instructions, and a warning if the current ones differ. First-seen ones are accepted."""
    known = accepted.instructions(source)
    if current is None:
        return known or "", []
    if known is None:
        known = accepted.accept_new_instructions(source, current)
    if known == stored_instructions(current):
        return known, []
    message = f"its instructions changed: the former ones are used until `codemode sources accept {source}`"
    return known, [SourceWarning("", message)]


def _unique(definitions: Sequence[mcp_types.Tool]) -> tuple[list[mcp_types.Tool], list[SourceWarning]]:
    """Return the first definition of each name, and a warning for each repetition."""
    first: dict[str, mcp_types.Tool] = {}
    for definition in definitions:
        first.setdefault(definition.name, definition)
    repeated = [definition.name for definition in definitions if first[definition.name] is not definition]
    message = "it is listed twice: the first definition is used"
    return list(first.values()), [SourceWarning(f"/{name}", message) for name in repeated]


def tools_of(source: str, definitions: Sequence[mcp_types.Tool]) -> tuple[tuple[Tool, ...], tuple[SourceWarning, ...]]:
    """Return definitions as tools. Ids are assigned in the order of the names, so the list order does not matter."""
    tools: dict[str, Tool] = {}
    warnings: list[SourceWarning] = []
    for definition in sorted(definitions, key=lambda one: one.name):
        name = identifier(definition.name, "tool")
        number = 2
        while f"{source}.{name}" in tools:
            name, number = f"{identifier(definition.name, 'tool')}_{number}", number + 1
        try:
            tools[f"{source}.{name}"] = _tool(f"{source}.{name}", source, definition)
        except (ValueError, TypeError, AttributeError) as error:
            warnings.append(SourceWarning(f"/{definition.name}", f"its schema cannot be read: {error}"))
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
    """Return the effect of a tool: from the server's hints, else from its words, else `write`."""
    hints, declared = definition.annotations, None
    if hints is not None and hints.read_only_hint:
        declared = Effect.READ
    elif hints is not None and hints.destructive_hint is not None:
        declared = Effect.DESTRUCTIVE if hints.destructive_hint else Effect.WRITE
    title = definition.title or (hints.title if hints else "") or ""
    return judge(declared, Effect.WRITE, (definition.name,), title, definition.description or "")


def _changes(before: mcp_types.Tool, after: mcp_types.Tool) -> str:
    """Return the names of the parts that differ, such as "description and arguments"."""
    parts = {
        "description": (before.description, after.description),
        "title": (before.title, after.title),
        "arguments": (before.input_schema, after.input_schema),
        "result": (before.output_schema, after.output_schema),
        "effect": (effect_of(before).effect, effect_of(after).effect),
    }
    return " and ".join(name for name, (old, new) in parts.items() if old != new) or "annotations"
