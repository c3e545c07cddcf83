"""Tools that a file describes: their descriptions, their bindings, and the catalog tools made of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from codemode.catalog.effects import Judgement, judge
from codemode.catalog.identifiers import parameter_names
from codemode.catalog.request_fields import request_fields
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from codemode.errors import SourceError
from codemode.settings import line_of
from codemode.text.prose import first_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.toolkit import Toolkit
    from codemode.sources.loaded import SourceWarning


@dataclass(frozen=True, slots=True)
class Document:
    """The data and text of a file, or data from Python code, without text."""

    location: str
    data: Any
    text: str = ""

    def error(self, message: str, *path: str | int) -> SourceError:
        """Return a SourceError for the value at `path`, with its line if the document has text."""
        return SourceError(message, location=self.location, pointer=self.where(*path))

    def where(self, *path: str | int) -> str:
        """Return the place of `path`: its keys, and its line if the document has text."""
        keys = ".".join(map(str, path))
        try:
            node = yaml.compose(self.text, yaml.SafeLoader) if self.text else None
        except (yaml.YAMLError, RecursionError):
            node = None
        return f"line {line_of(node, path)}, {keys}" if node is not None else keys


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """The description of one tool.

    `schema` is the JSON Schema of its arguments. If it is None, `names` maps argument names to descriptions. `path` is
    the place of the tool in its document. `endpoint` is `METHOD /path`, or empty.
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
        """The parts of the tool id."""
        return (self.toolkit, self.name) if self.toolkit else (self.name,)

    @property
    def key(self) -> str:
        """The identity of the tool in its source."""
        return "/".join(self.id_path)

    @property
    def where(self) -> str:
        """The place of the tool, for warnings."""
        return f"{self.document.location} {self.document.where(*self.path)}".strip()


@dataclass(slots=True)
class Descriptions:
    """The tools, toolkits and warnings of all documents of a source."""

    tools: list[ToolDescription] = field(default_factory=list)
    toolkits: list[Toolkit] = field(default_factory=list)
    warnings: list[SourceWarning] = field(default_factory=list)
    title: str = ""


@dataclass(frozen=True, slots=True)
class Bound:
    """The implementation of a described tool: its parameters, and the invocation for the transport.

    `effect` and `returns` apply if the description does not declare them.
    """

    parameters: tuple[Parameter, ...]
    invocation: Any
    effect: Judgement
    returns: Schema | None = None


def parameters_of(schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Return the properties of an object schema as parameters, required ones first; of a union those of all."""
    properties, required = request_fields(Schema.of(schema)) or ({}, frozenset())
    names = parameter_names([("argument", wire_name) for wire_name in properties])
    parameters = [
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
    return tuple(sorted(parameters, key=lambda parameter: not parameter.required))


def text_parameters(described: ToolDescription) -> tuple[Parameter, ...]:
    """Return a required string parameter for each described argument name."""
    properties = {name: {"type": "string", "description": about} for name, about in described.names.items()}
    return parameters_of({"type": "object", "properties": properties, "required": list(properties)})


def tool_of(described: ToolDescription, id_: str, bound: Bound, *, source: str) -> Tool:
    """Create the tool of a description and its binding."""
    returns = Schema.of(described.returns) if described.returns else bound.returns
    declared = described.effect or (bound.effect.effect if bound.effect.is_said else None)
    effect, word, is_said = judge(declared, bound.effect.effect, (described.name,), described.description)
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
