"""What a source gives: tools, and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.catalog.toolkit import Toolkit
    from codemode.transports.auth.requirements import SecurityScheme


class SourceWarning(NamedTuple):
    """Something in a document that is not as it should be: JSON pointer, and what it costs."""

    pointer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a source is not as it is now: `said` to the operator, `told` to models (no hosts, no paths).

    `is_connecting` says that its transport tries again by itself.
    """

    said: str
    told: str
    is_connecting: bool = False


@dataclass(frozen=True, slots=True)
class Surface:
    """The tools of one API surface, the warnings of reading it, and the state of what it was read from."""

    tools: tuple[Tool, ...]
    warnings: tuple[SourceWarning, ...] = ()
    servers: tuple[str, ...] = ()
    title: str = ""
    digest: str = ""  # of the texts it was read from; empty where they may change unseen
    auth: tuple[SecurityScheme, ...] = ()  # the ways of authentication that the document declares
    toolkits: tuple[Toolkit, ...] = ()
    server_defaults: tuple[str, ...] = ()  # what stands for variables in `servers`, as `NAME=DEFAULT`
    failure: Failure | None = None  # why these are the tools of the last time, or none
