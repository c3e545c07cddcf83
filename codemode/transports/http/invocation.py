"""The invocation of an HTTP operation: what a source tells the transport about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Location, Parameter
    from codemode.transports.auth.requirements import Requirements


class BodyKind(StrEnum):
    """The format of a request body."""

    JSON = "json"
    FORM = "form"
    MULTIPART = "multipart"
    LINES = "lines"  # one JSON value per line
    TEXT = "text"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class FieldEncoding:
    """The encoding of one field of a form or multipart body (OpenAPI 3.1, Encoding Object).

    `headers` are the headers of its part with a fixed value.
    """

    style: str = ""
    explode: bool = True
    content_type: str = ""
    allow_reserved: bool = False
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class BodyPlan:
    """The request body. `media_types` are the declared ones of its kind, preferred one first.

    - `choices`: one plan for each kind and schema of the document, if there are several. The value decides between them
      (`codemode.transports.http.body_choice`), and `schema` then allows the fields of all.
    - `whole`: the schema of a whole body, also one without fields. Default: `schema`.
    - `is_declared`: the document has a body. If not, one can be sent as JSON all the same.
    """

    kind: BodyKind
    media_types: tuple[str, ...]
    schema: Schema
    required: bool
    encodings: dict[str, FieldEncoding] = field(default_factory=dict)
    choices: tuple[BodyPlan, ...] = ()
    whole: Schema | None = None
    is_declared: bool = True

    @property
    def is_open(self) -> bool:
        """Whether the document does not describe the body, so that an empty object is valid."""
        return self.kind is BodyKind.JSON and self.schema.resolved().value in (True, {}, {"type": "object"})

    @property
    def merges(self) -> bool:
        """Whether an object is sent as a JSON Merge Patch (RFC 7396)."""
        return any(map(is_merge_patch, self.media_types))

    @property
    def media_type(self) -> str:
        """The preferred media type."""
        return self.media_types[0]


def is_merge_patch(media_type: str) -> bool:
    """Return whether a media type is a JSON merge patch. Kubernetes' strategic merge patch has its own rules."""
    return "merge-patch" in media_type and "strategic" not in media_type


@dataclass(frozen=True, slots=True)
class HttpInvocation:
    """One operation on the wire.

    - `path`: the template with `{placeholders}`; `query` is its fixed part after `?`.
    - `slashed`: placeholders whose values may contain slashes, which are escaped.
    - `expanded`: placeholders that expand to several segments (RFC 6570, 3.2.3).
    - `defaults`: values of required arguments that the document fixes, by location and wire name.
    - `servers`: base URLs suggested by the document. They are hints, not permissions.
    - `accept`: media types of successful answers; `is_json` requires JSON.
    - `constants`: parameters with the values that the operator chose.
    - `security`: alternatives of authentication, each a set of schemes. None if the document has none.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    servers: tuple[str, ...] = ()
    body: BodyPlan | None = None
    accept: tuple[str, ...] = ()
    is_json: bool = False
    slashed: frozenset[str] = frozenset()
    expanded: frozenset[str] = frozenset()
    constants: tuple[tuple[Parameter, Any], ...] = ()
    security: Requirements = None
    defaults: Mapping[tuple[Location, str], Any] = field(default_factory=dict)
