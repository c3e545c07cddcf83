"""A tool: one callable operation of an API surface, as everything else in this package sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema


class Effect(StrEnum):
    """What a call does to the world. From the HTTP method, MCP hints, or the operator; unknown counts as `WRITE`."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


class Location(StrEnum):
    """Where an argument travels (OpenAPI's `in`; `BODY_FIELD` is one property of an object body)."""

    PATH = "path"
    QUERY = "query"
    HEADER = "header"
    COOKIE = "cookie"
    BODY_FIELD = "body_field"
    BODY = "body"  # the whole body
    ARGUMENT = "argument"  # no HTTP: a Python or MCP argument


@dataclass(frozen=True, slots=True)
class Parameter:
    """One keyword argument of a tool: `name` in Python, `wire_name` on the wire."""

    name: str
    wire_name: str
    location: Location
    required: bool
    schema: Schema
    description: str = ""
    style: str = ""
    explode: bool = False
    allow_reserved: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """One operation.

    `id` is `namespace.path` and at the same time the Python name that a program calls (`github.issues.create`).
    `parameters` come required first. `aliases` are exact other names (operationId, wire name). `retrieval_text` is for
    search alone; the model never sees it. `invocation` says how to reach it and is known to its transport only.
    """

    id: str
    source: str
    summary: str
    description: str
    parameters: tuple[Parameter, ...]
    effect: Effect
    invocation: Any = field(repr=False)
    returns: Schema | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    retrieval_text: str = ""
    deprecated: bool = False

    @property
    def namespace(self) -> str:
        """The first part of the id: the name that a program's root binds."""
        return self.id.partition(".")[0]

    @property
    def path(self) -> str:
        """The id without its namespace."""
        return self.id.partition(".")[2]

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the parameters; cheap also where the parameters themselves are made on demand."""
        return tuple(parameter.name for parameter in self.parameters)

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that Python name, or None."""
        return next((p for p in self.parameters if p.name == name), None)
