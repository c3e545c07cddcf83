"""How one operation of an HTTP API is called: what a source knows of it and the transport needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema
    from codemode.transports.auth.requirements import Requirements


class BodyKind(StrEnum):
    """How a request body is written."""

    JSON = "json"
    FORM = "form"
    MULTIPART = "multipart"
    LINES = "lines"  # one JSON value a line
    TEXT = "text"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class FieldEncoding:
    """How one field of a form or multipart body is written (OpenAPI 3.1, Encoding Object).

    `headers` of its part are those whose value the document fixes.
    """

    style: str = ""
    explode: bool = True
    content_type: str = ""
    allow_reserved: bool = False
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class BodyPlan:
    """The request body: `media_types` are the declared ones of its kind, the preferred one first."""

    kind: BodyKind
    media_types: tuple[str, ...]
    schema: Schema
    required: bool
    encodings: dict[str, FieldEncoding] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether the document says nothing of what is in it: an empty object will do."""
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
    """Whether a media type is of a merge patch; Kubernetes' strategic ones have rules of their own."""
    return "merge-patch" in media_type and "strategic" not in media_type


@dataclass(frozen=True, slots=True)
class HttpInvocation:
    """One operation on the wire.

    `path` is the template with its `{placeholders}`; `query` is what the path fixed after its `?`. The values of those
    in `slashed` may hold slashes, which are escaped; those in `expanded` stand for several segments (RFC 6570, 3.2.3).
    `servers` are base URLs that the document suggests for this operation: hints, not permissions. `accept` are the
    media types of the successful answers, and `is_json` tells whether such an answer must be JSON. `security` are the
    alternatives of authentication, each some schemes at once; None where the document says nothing of it.
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
    security: Requirements = None
