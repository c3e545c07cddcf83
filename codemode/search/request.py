"""The arguments of a search, the same in Python, over HTTP and MCP, on the command line, in programs and in agents."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from codemode.catalog.tool import Effect  # noqa: TC001 -- pydantic reads it at run time
from codemode.errors import WrongArgument
from codemode.search.query import DEFAULT_LIMIT, Query
from codemode.text.validation import described

Detail = Literal["auto", "full"]

#: The longest page of hits.
MAX_LIMIT = 200

#: The most characters of a query.
MAX_QUERY = 1_000


def _listed(value: Any) -> Any:
    """Accept one query as a plain string."""
    return [value] if isinstance(value, str) else value


def _readable(value: Any) -> Any:
    """Replace lone surrogates: the arguments of a command may hold bytes that are not text."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


Queries = Annotated[
    list[Annotated[str, Field(max_length=MAX_QUERY), BeforeValidator(_readable)]],
    Field(min_length=1, max_length=20),
    BeforeValidator(_listed, json_schema_input_type=str | list[str]),
]


class SearchRequest(BaseModel):
    """One query, or one for each step of a plan. Filters apply to all queries.

    `namespace` may also be a group (`github.issues`). The answer has `limit` hits, from position `offset` on: with
    signatures if a limit is set and they fit, else those of the first hit of each query and of three more.
    Unless `introduce` is false, it begins with what the APIs of the hits say about their units, times and other
    conventions.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    queries: Queries
    namespace: str | None = None
    detail: Detail = "auto"
    source: str | None = None
    effect: Effect | None = None
    tag: str | None = None
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    offset: int = Field(default=0, ge=0)
    introduce: bool = True

    @classmethod
    def checked(cls, **arguments: Any) -> Self:
        """Validate the arguments of a Python caller; None is the default. Raises WrongArgument."""
        try:
            return cls(**{name: value for name, value in arguments.items() if value is not None})
        except ValidationError as error:
            message = f"CodeMode.search: {described(error, cls.model_fields)}"
            raise WrongArgument(message) from None

    @property
    def query(self) -> Query:
        """The query that an index accepts."""
        return Query(
            tuple(self.queries),
            namespace=self.namespace,
            source=self.source,
            effect=self.effect,
            tag=self.tag,
            limit=self.limit,
            offset=self.offset,
        )
