"""A tool: one callable operation of an API surface, as everything else in this package sees it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.catalog.schema import Schema

#: The argument that takes a whole body where the body's fields are arguments of their own.
WHOLE_BODY = "body"


class Effect(StrEnum):
    """What a call does to the world.

    From the operator, the author (MCP hints, `@tool`), the HTTP method and the words of its name and description;
    unknown counts as `WRITE`.
    """

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


@dataclass(frozen=True, slots=True)
class Paging:
    """How a tool is paged. Names are those of parameters.

    `items` is the field of the page's list, "" where the answer itself is the list, "*" where only the answer can tell.
    """

    items: str
    cursor: str = ""
    after: str = ""
    page: str = ""
    offset: str = ""
    size: str = ""
    size_default: int | None = None

    @property
    def kind(self) -> str:
        """The name of the way, as stubs say it."""
        return next((name for name in ("cursor", "after", "page", "offset") if getattr(self, name)), "link")


@dataclass(frozen=True, slots=True)
class Details:
    """What only a call, a signature or the index needs of a tool: made on demand where there are very many tools."""

    parameters: tuple[Parameter, ...]
    invocation: Any = None
    returns: Schema | None = None
    body: Schema | None = None  # of which the body fields are a part
    body_required: bool = False
    body_merges: bool = False  # null in an object of it removes a member (RFC 7396)
    paging: Paging | None = None  # how it comes in pages, where its source knows that and need not be guessed


class Tool:
    """One operation. Immutable; equal only to itself.

    `id` is `namespace.path` and at the same time the Python name that a program calls (`github.issues.create`).
    `parameters` come required first. `aliases` are exact other names (operationId, wire name). `retrieval_text` is for
    search alone; the model never sees it. `invocation` says how to reach it and is known to its transport only.
    `returns` is None where the result is not documented. `key` identifies the operation in its source (`GET /path`),
    `tier` is a class of the author's or the operator's, `revert` the call that takes one of this tool back
    (`members.unfreeze(id=result.id)`, see `codemode.catalog.inverse`). `effect_word` is the word that made the effect
    destructive, empty where none did; `effect_said` tells that its author or the operator said the effect.
    Instead of parameters, invocation and returns a function `details` may be given, which makes them when they are
    first asked for, and with it the `names` of the parameters where they are known already.
    """

    __slots__ = (
        "__weakref__",
        "_details",
        "_load",
        "_names",
        "aliases",
        "deprecated",
        "description",
        "effect",
        "effect_said",
        "effect_word",
        "examples",
        "id",
        "key",
        "related",
        "retrieval_text",
        "revert",
        "source",
        "summary",
        "tags",
        "tier",
    )

    def __init__(
        self,
        id: str,  # noqa: A002 -- the word that the rest of the world uses
        *,
        source: str,
        summary: str = "",
        description: str = "",
        parameters: tuple[Parameter, ...] = (),
        effect: Effect = Effect.WRITE,
        effect_word: str = "",
        effect_said: bool = False,
        invocation: Any = None,
        returns: Schema | None = None,
        tags: tuple[str, ...] = (),
        aliases: tuple[str, ...] = (),
        examples: tuple[str, ...] = (),
        related: tuple[str, ...] = (),
        retrieval_text: str = "",
        deprecated: bool = False,
        key: str = "",
        tier: str = "",
        revert: str = "",
        names: tuple[str, ...] | None = None,
        details: Callable[[], Details] | None = None,
    ) -> None:
        self.id = id
        self.source = source
        self.summary = summary
        self.description = description
        self.effect = effect
        self.effect_word = effect_word
        self.effect_said = effect_said
        self.tags = tags
        self.aliases = aliases
        self.examples = examples
        self.related = related
        self.retrieval_text = retrieval_text
        self.deprecated = deprecated
        self.key = key
        self.tier = tier
        self.revert = revert
        self._names = names
        self._load = details
        self._details = None if details else Details(parameters, invocation, returns)

    def __repr__(self) -> str:
        return f"Tool({self.id!r})"

    @property
    def details(self) -> Details:
        """Parameters, invocation and result, kept once made."""
        if self._details is None:
            self._details = self._load() if self._load else Details(())
        return self._details

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The keyword arguments, required ones first."""
        return self.details.parameters

    @property
    def invocation(self) -> Any:
        """How the tool is reached; known to its transport only."""
        return self.details.invocation

    @property
    def returns(self) -> Schema | None:
        """The schema of the result; None where it is not documented."""
        return self.details.returns

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
        """The names of the parameters. Details made for this alone are not kept: a catalog is indexed whole."""
        if self._names is None:
            details = self._details or (self._load() if self._load else Details(()))
            self._names = tuple(parameter.name for parameter in details.parameters)
        return self._names

    def changed(
        self,
        *,
        id: str | None = None,  # noqa: A002 -- as in the constructor
        description: str | None = None,
        examples: tuple[str, ...] | None = None,
        effect: Effect | None = None,
        tags: tuple[str, ...] | None = None,
        retrieval_text: str | None = None,
        tier: str | None = None,
        revert: str | None = None,
    ) -> Tool:
        """A tool that differs in these facts; the id it had stays an alias."""
        moved = id is not None and id != self.id
        return Tool(
            self.id if id is None else id,
            source=self.source,
            summary=self.summary if description is None else description.partition("\n")[0],
            description=self.description if description is None else description,
            effect=self.effect if effect is None else effect,
            effect_word=self.effect_word if effect is None else "",
            effect_said=self.effect_said or effect is not None,
            tags=self.tags if tags is None else tags,
            aliases=(*self.aliases, self.path) if moved else self.aliases,
            examples=self.examples if examples is None else examples,
            related=self.related,
            retrieval_text=self.retrieval_text if retrieval_text is None else retrieval_text,
            deprecated=self.deprecated,
            key=self.key,
            tier=self.tier if tier is None else tier,
            revert=self.revert if revert is None else revert,
            names=self._names,
            details=lambda: self.details,
        )

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that Python name, or None."""
        return next((p for p in self.parameters if p.name == name), None)
