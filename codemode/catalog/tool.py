"""Tools: the callable operations of an API surface, in one form for every source kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.field_selection import FieldSelection
    from codemode.catalog.schema import Schema

#: The argument that takes a whole body where the body's fields are arguments of their own.
WHOLE_BODY = "body"


class Effect(StrEnum):
    """What a call does to the world.

    It comes from the operator, else the author (MCP hints, `@tool`), else the words and the HTTP method of the
    operation. The default is `WRITE`.
    """

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


class Location(StrEnum):
    """Where an argument is sent (OpenAPI's `in`). `BODY_FIELD` is one property of an object body."""

    PATH = "path"
    QUERY = "query"
    HEADER = "header"
    COOKIE = "cookie"
    BODY_FIELD = "body_field"
    BODY = "body"  # the whole body
    ARGUMENT = "argument"  # a Python or MCP argument
    ACCOUNT = "account"  # nowhere: it chooses the credentials that are sent


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
    """How a tool is paged. `cursor`, `after`, `page`, `offset` and `size` are parameter names.

    `items` is the path of the result field with the items, "" if the result itself is the list, or "*" if only the
    response shows it. `start` is the number of the first page, or the first offset, and `next` the path of the result
    field that leads to the next page, where the document says it.
    """

    items: str
    cursor: str = ""
    after: str = ""
    page: str = ""
    offset: str = ""
    size: str = ""
    size_default: int | None = None
    start: int | None = None
    next: str = ""

    @property
    def kind(self) -> str:
        """The name of the paging method: `cursor`, `after`, `page`, `offset` or `link`."""
        return next((name for name in ("cursor", "after", "page", "offset") if getattr(self, name)), "link")


@dataclass(frozen=True, slots=True)
class ReachedOperation:
    """Another operation that a call reaches by its arguments: `name` for people, and `key` if it is a tool."""

    name: str
    effect: Effect
    key: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Details:
    """The parts of a tool that only calls, signatures and the index need. Large sources make them on demand."""

    parameters: tuple[Parameter, ...]
    invocation: Any = None
    returns: Schema | None = None
    body: Schema | None = None  # the whole body, if its fields are parameters
    body_required: bool = False
    body_merges: bool = False  # null removes a member (merge patch, RFC 7396)
    paging: Paging | None = None  # set if the source declares its paging
    reaches: Callable[[Mapping[str, Any]], tuple[ReachedOperation, ...]] | None = None  # by the arguments of a call
    headers: Mapping[str, Schema] | None = None  # declared for the answer, in lower case; None if it has no headers


def _no_details() -> Details:
    return Details(())


class _LazyDetails:
    """The details of a tool: made on first use, and then kept."""

    __slots__ = ("_details", "_load", "_names")

    def __init__(
        self, load: Callable[[], Details], names: tuple[str, ...] | None = None, details: Details | None = None
    ) -> None:
        self._load = load
        self._names = names
        self._details = details

    def get(self) -> Details:
        """Return the details."""
        if self._details is None:
            self._details = self._load()
        return self._details

    @property
    def known_names(self) -> tuple[str, ...] | None:
        """The names of the parameters, or None if they are not known yet."""
        return self._names

    def names(self) -> tuple[str, ...]:
        """Return the names of the parameters. Details made for this alone are not kept: a catalog is indexed whole."""
        if self._names is None:
            details = self._load() if self._details is None else self._details
            self._names = tuple(parameter.name for parameter in details.parameters)
        return self._names


@dataclass(frozen=True, slots=True, weakref_slot=True, init=False, eq=False, repr=False)
class Tool:
    """One operation. Frozen; equal only to itself.

    Attributes:
        id: `namespace.path`, which is also the Python name that programs call (`github.issues.create`).
        parameters: the keyword arguments, required ones first.
        aliases: other exact names, such as the operationId or the wire name.
        retrieval_text: text for search only. Models never see it.
        invocation: how to call the operation. Only its transport reads it.
        returns: the schema of the result. None if it is undocumented.
        key: the identity of the operation in its source (`GET /path`).
        tier: a class that the author or the operator chose.
        open_world: whether its server says that it deals with outsiders (`openWorldHint` of MCP).
        revert: the call that undoes one of this tool (`members.unfreeze(id=result.id)`, see
            `codemode.catalog.inverse`).
        effect_word: the word that made the effect destructive, or empty.
        effect_said: whether the author or the operator declared the effect.
        selection: the fields that are kept of results. None keeps them whole.

    Instead of `parameters`, `invocation` and `returns`, pass a function `details` that makes them on first use, and
    with it the `names` of the parameters if they are known already.
    """

    id: str
    source: str
    summary: str
    description: str
    effect: Effect
    effect_word: str
    effect_said: bool
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    examples: tuple[str, ...]
    related: tuple[str, ...]
    retrieval_text: str
    deprecated: bool
    key: str
    tier: str
    open_world: bool
    revert: str
    selection: FieldSelection | None
    _lazy: _LazyDetails

    def __init__(
        self,
        id: str,  # noqa: A002 -- the usual word
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
        open_world: bool = False,
        revert: str = "",
        selection: FieldSelection | None = None,
        names: tuple[str, ...] | None = None,
        details: Callable[[], Details] | None = None,
    ) -> None:
        known = None if details else Details(parameters, invocation, returns)
        fields: dict[str, object] = {
            "id": id,
            "source": source,
            "summary": summary,
            "description": description,
            "effect": effect,
            "effect_word": effect_word,
            "effect_said": effect_said,
            "tags": tags,
            "aliases": aliases,
            "examples": examples,
            "related": related,
            "retrieval_text": retrieval_text,
            "deprecated": deprecated,
            "key": key,
            "tier": tier,
            "open_world": open_world,
            "revert": revert,
            "selection": selection,
            "_lazy": _LazyDetails(details or _no_details, names, known),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Tool({self.id!r})"

    @property
    def details(self) -> Details:
        """Parameters, invocation and result."""
        return self._lazy.get()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The keyword arguments, required ones first."""
        return self.details.parameters

    @property
    def invocation(self) -> Any:
        """How to call the operation. Only its transport reads it."""
        return self.details.invocation

    @property
    def returns(self) -> Schema | None:
        """The schema of the result. None if it is undocumented."""
        return self.details.returns

    @property
    def namespace(self) -> str:
        """The first part of the id, which is a global name in programs."""
        return self.id.partition(".")[0]

    @property
    def path(self) -> str:
        """The id without its namespace."""
        return self.id.partition(".")[2]

    @property
    def call_aliases(self) -> frozenset[str]:
        """The aliases as calls write them: behind the namespace."""
        inside = f"{self.namespace}."
        own = {alias for alias in self.aliases if alias.startswith(inside)}
        return frozenset(own | {inside + alias for alias in self.aliases})

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return self._lazy.names()

    def changed(
        self,
        *,
        id: str | None = None,  # noqa: A002 -- as in the constructor
        summary: str | None = None,
        description: str | None = None,
        examples: tuple[str, ...] | None = None,
        effect: Effect | None = None,
        tags: tuple[str, ...] | None = None,
        retrieval_text: str | None = None,
        tier: str | None = None,
        revert: str | None = None,
        selection: FieldSelection | None = None,
        details: Callable[[], Details] | None = None,
        names: tuple[str, ...] | None = None,
    ) -> Tool:
        """Return a copy with these fields changed. The former id stays an alias.

        Without `summary`, a new description has its first line as its summary.
        `names` are those of the parameters in `details`, unless they are the same as before.
        """
        moved = id is not None and id != self.id
        if summary is None:
            summary = self.summary if description is None else description.partition("\n")[0]
        return Tool(
            self.id if id is None else id,
            source=self.source,
            summary=summary,
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
            open_world=self.open_world,
            revert=self.revert if revert is None else revert,
            selection=selection or self.selection,
            names=self._lazy.known_names if names is None else names,
            details=details or self._lazy.get,
        )

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter with a Python name, or None."""
        return next((p for p in self.parameters if p.name == name), None)

    @property
    def account_parameter(self) -> str:
        """The name of the parameter that chooses an account, "" if there is no choice."""
        return next((p.name for p in self.parameters if p.location is Location.ACCOUNT), "")
