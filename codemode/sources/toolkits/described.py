"""Tools that a file describes and something else carries out: what is read of each, and the tool it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from codemode.catalog.effect_words import Judgement, judge
from codemode.catalog.identifiers import parameter_names
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from codemode.errors import SourceError
from codemode.settings import line_of
from codemode.text.prose import first_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.toolkit import Toolkit
    from codemode.sources.loaded import Warned


@dataclass(frozen=True, slots=True)
class Document:
    """A file's data and text, or data of Python code, which has no text."""

    location: str
    data: Any
    text: str = ""

    def error(self, message: str, *path: str | int) -> SourceError:
        """A mistake at a place in it, with its line where it has lines."""
        return SourceError(message, location=self.location, pointer=self.where(*path))

    def where(self, *path: str | int) -> str:
        """A place in it: the line, where it has lines, and the keys."""
        keys = ".".join(map(str, path))
        try:
            node = yaml.compose(self.text, yaml.SafeLoader) if self.text else None
        except (yaml.YAMLError, RecursionError):
            node = None
        return f"line {line_of(node, path)}, {keys}" if node is not None else keys


@dataclass(frozen=True, slots=True)
class Described:
    """One tool as its author describes it.

    `schema` is the JSON Schema of its arguments; None where only their names are known, with what is said of each, in
    `names`. `path` is its place in its document. `endpoint` is `METHOD /path`, where it has one.
    """

    name: str
    document: Document
    path: tuple[str | int, ...]
    description: str = ""
    schema: Mapping[str, Any] | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    returns: Mapping[str, Any] | None = None
    toolkit: str = ""
    effect: Effect | None = None
    tier: str = ""
    keywords: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    endpoint: str = ""

    @property
    def id_path(self) -> tuple[str, ...]:
        """What its id is made of."""
        return (self.toolkit, self.name) if self.toolkit else (self.name,)

    @property
    def key(self) -> str:
        """Its identity in its source."""
        return "/".join(self.id_path)

    @property
    def where(self) -> str:
        """Its place, as a warning says it."""
        return f"{self.document.location} {self.document.where(*self.path)}".strip()


@dataclass(slots=True)
class Descriptions:
    """What was read of all documents of a source."""

    tools: list[Described] = field(default_factory=list)
    toolkits: list[Toolkit] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    title: str = ""


@dataclass(frozen=True, slots=True)
class Bound:
    """What carries a described tool out: its arguments as they are given, and how the transport calls it.

    `effect` and `returns` are what is known of it where the description says nothing.
    """

    parameters: tuple[Parameter, ...]
    invocation: Any
    effect: Judgement
    returns: Schema | None = None


def parameters_of(schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The arguments that a JSON Schema of an object describes, required ones first."""
    whole = Schema.of(schema)
    properties = whole.properties()
    required = whole.required()
    names = parameter_names([("argument", wire_name) for wire_name in properties])
    made = [
        Parameter(
            name=name,
            wire_name=wire_name,
            location=Location.ARGUMENT,
            required=wire_name in required,
            schema=inner,
            description=str(inner.resolved().get("description", "") or inner.get("description", "")),
        )
        for name, (wire_name, inner) in zip(names, properties.items(), strict=True)
    ]
    return tuple(sorted(made, key=lambda parameter: not parameter.required))


def text_parameters(described: Described) -> tuple[Parameter, ...]:
    """Every argument a required text: all that is known are their names, and what is said of them."""
    properties = {name: {"type": "string", "description": about} for name, about in described.names.items()}
    return parameters_of({"type": "object", "properties": properties, "required": list(properties)})


def tool_of(described: Described, id_: str, bound: Bound, *, source: str) -> Tool:
    """The tool of a description and of what carries it out."""
    returns = Schema.of(described.returns) if described.returns else bound.returns
    said = described.effect or (bound.effect.effect if bound.effect.is_said else None)
    effect, word, is_said = judge(said, bound.effect.effect, (described.name,), described.description)
    return Tool(
        id_,
        source=source,
        summary=first_sentence(described.description),
        description=described.description,
        parameters=bound.parameters,
        effect=effect,
        effect_word=word or ("" if is_said else bound.effect.word),
        effect_said=is_said,
        invocation=bound.invocation,
        returns=returns,
        tags=(described.toolkit,) if described.toolkit else (),
        aliases=tuple(dict.fromkeys((described.name, ".".join(described.id_path)))),
        examples=described.examples,
        retrieval_text=" ".join((described.name, described.toolkit, *described.keywords)),
        key=described.key,
        tier=described.tier,
    )
