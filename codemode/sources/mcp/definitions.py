"""Read the tool definitions of MCP servers, and hold back those that an operator must accept first.

An id belongs to its wire name for good, in the order of acceptance. A definition is held back if it has changed, if its
id belongs to another wire name, or if it is a new destructive tool of a server that has others.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mcp_types
from pydantic import TypeAdapter, ValidationError

from codemode.catalog.effects import Judgement, judge
from codemode.catalog.identifiers import identifier
from codemode.catalog.schema import Graph, Schema
from codemode.catalog.tool import Effect, Tool
from codemode.errors import ConfigurationError
from codemode.shared.values import UNAVAILABLE
from codemode.sources.functions.described import parameters_of
from codemode.sources.loaded import SourceWarning, Surface
from codemode.text.prose import first_sentence
from codemode.transports.mcp.definition_repairs import note_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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

    def review(self, source: str, definitions: Iterable[mcp_types.Tool]) -> Review:
        """Store the new definitions that need no person. Return what is accepted now and what is held back."""
        result: list[Review] = []

        def add(data: bytes | None) -> bytes | None:
            known = _parsed(data) if data is None else _intact(source, data)
            result[:] = [reviewed(source, definitions, known)]
            return None if len(result[0].accepted) == len(known) else _encoded(result[0].accepted)

        self._store.value("definitions", source).change(add)
        return result[0]

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


def _intact(source: str, data: bytes) -> dict[str, mcp_types.Tool]:
    """Return stored definitions. Raises ConfigurationError if they are damaged: then nothing may count as new."""
    known = _parsed(data)
    if not known and data.strip() != b"{}":
        message = (
            f"the accepted definitions of {source} cannot be read: restore the state folder, or remove its file"
            f" definitions/{source} to accept what the server lists now"
        )
        raise ConfigurationError(message)
    return known


def _encoded(definitions: Mapping[str, mcp_types.Tool]) -> bytes:
    return _STORED.dump_json(dict(definitions), by_alias=True, exclude_none=True)


def _can_be_stored(definition: mcp_types.Tool) -> bool:
    """Whether a definition reads back as it is. Damaged definitions would have all others forgotten."""
    try:
        (stored,) = _STORED.validate_json(_encoded({definition.name: definition})).values()
        return digest(stored) == digest(definition)
    except (ValueError, RecursionError):
        return False


@dataclass(frozen=True, slots=True)
class Held:
    """A definition that waits for the operator, and why. `before` is the accepted one of the same name, if any."""

    definition: mcp_types.Tool
    reason: str
    before: mcp_types.Tool | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """The accepted definitions by name, in the order of acceptance, those held back, and those left out."""

    accepted: Mapping[str, mcp_types.Tool]
    held: tuple[Held, ...] = ()
    left_out: tuple[SourceWarning, ...] = ()


def reviewed(source: str, definitions: Iterable[mcp_types.Tool], known: Mapping[str, mcp_types.Tool]) -> Review:
    """Review the definitions of a server against the accepted ones. At first sight, all are accepted."""
    accepted, held, left_out, too_many = dict(known), [], [], 0
    owners = {id_: name for name, id_ in ids_of(source, known).items()}
    for definition in sorted(definitions, key=lambda one: one.name):
        name, before = definition.name, known.get(definition.name)
        id_ = _plain_id(source, name)
        if before is not None:
            if digest(definition) != digest(before):
                held.append(Held(definition, f"{_changes(before, definition)} changed", before))
        elif not _can_be_stored(definition):
            left_out.append(SourceWarning(f"/{name}", "it cannot be stored: it is left out"))
        elif known and id_ in owners:
            held.append(Held(definition, f"it is new, and its id {id_} belongs to {owners[id_]!r}"))
        elif known and effect_of(definition).effect is Effect.DESTRUCTIVE:
            held.append(Held(definition, "it is new and destructive"))
        elif len(accepted) >= MOST_KEPT:
            too_many += 1
        else:
            owners.setdefault(id_, name)
            accepted[name] = definition
    if too_many:
        full = f"{too_many:,} new tools are left out: {len(accepted):,} are already stored"
        left_out.append(SourceWarning("", full))
    return Review(accepted, tuple(held), tuple(left_out))


def _plain_id(source: str, name: str) -> str:
    return f"{source}.{identifier(name, 'tool')}"


def ids_of(source: str, names: Iterable[str]) -> dict[str, str]:
    """Return the ids of tools by their wire names. The first name of an id has it, and later ones get numbers."""
    ids: dict[str, str] = {}
    taken: set[str] = set()
    numbers: Counter[str] = Counter()
    for name in names:
        id_ = plain = _plain_id(source, name)
        while id_ in taken:
            numbers[plain] += 1
            id_ = f"{plain}_{numbers[plain] + 1}"
        taken.add(id_)
        ids[name] = id_
    return ids


def stored_instructions(text: str) -> str:
    """Return instructions as they are stored: valid UTF-8, of bounded length, with line feeds."""
    return text.encode(errors="replace").decode()[:_INSTRUCTIONS_CHARACTERS].replace("\r\n", "\n").replace("\r", "\n")


def surface_of(
    source: str,
    definitions: Sequence[mcp_types.Tool],
    accepted: AcceptedDefinitions,
    instructions: str | None = None,
) -> Surface:
    """Return the tools of a server, without the definitions that are held back; see `reviewed`.

    The description are the accepted instructions, also if the current `instructions` differ.

    This defends against tools that change after they were approved. A warning names each tool that is held back until
    the operator runs `codemode sources accept`. Raises OSError or JournalUnavailable if definitions cannot be stored,
    ConfigurationError if the stored ones are damaged.
    """
    definitions, repeated = _unique(definitions)
    review = accepted.review(source, definitions)
    waiting = {held.definition.name: held for held in review.held}
    current = {one.name: one for one in definitions if one.name in review.accepted and one.name not in waiting}
    every = {**review.accepted, **current}
    every |= {name: held.definition for name, held in waiting.items() if name not in every}
    tools, unreadable = tools_of(source, tuple(every.values()))
    advice = f"left out until `codemode sources accept {source}`"
    warnings = [SourceWarning(f"/{name}", f"{held.reason}: {advice}") for name, held in waiting.items()]
    mended = [SourceWarning(f"/{one.name}", note) for one in definitions if (note := note_of(one))]
    description, changed_text = _accepted_instructions(source, instructions, accepted)
    return Surface(
        tuple(tool for tool in tools if tool.key in current),
        (
            *warnings,
            *review.left_out,
            *changed_text,
            *repeated,
            *mended,
            *(one for one in unreadable if one.pointer[1:] in current),
        ),
        description=description,
        held=tuple(tool for tool in tools if tool.key in waiting),
        withheld=frozenset(tool.id for tool in tools if tool.key not in current and tool.key not in waiting),
    )


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
    """Return definitions as tools. Ids are assigned in the order of the definitions, which is that of acceptance."""
    tools: list[Tool] = []
    warnings: list[SourceWarning] = []
    ids = ids_of(source, (definition.name for definition in definitions))
    for definition in definitions:
        try:
            tools.append(_tool(ids[definition.name], source, definition))
        except (ValueError, TypeError, AttributeError) as error:
            warnings.append(SourceWarning(f"/{definition.name}", f"its schema cannot be read: {error}"))
    return tuple(tools), tuple(warnings)


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
        aliases=(definition.name,),
        retrieval_text=f"{definition.name} {title}",
        key=definition.name,
        open_world=bool(definition.annotations and definition.annotations.open_world_hint),
    )


def effect_of(definition: mcp_types.Tool) -> Judgement:
    """Return the effect of a tool: from the server's hints, unless its words say worse, else `write`."""
    hints, hint = definition.annotations, None
    if hints is not None and hints.read_only_hint:
        hint = Effect.READ
    elif hints is not None and hints.destructive_hint is not None:
        hint = Effect.DESTRUCTIVE if hints.destructive_hint else Effect.WRITE
    title = definition.title or (hints.title if hints else "") or ""
    return judge(None, Effect.WRITE, (definition.name,), title, definition.description or "", hint=hint)


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
