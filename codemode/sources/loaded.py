"""The result of reading a source: tools, warnings, and the failure if there was one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from codemode.text.clock import UNKNOWN, Clock

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.catalog.toolkit import Toolkit
    from codemode.transports.auth.requirements import SecurityScheme


class SourceWarning(NamedTuple):
    """A problem in a source: where it is (JSON pointer, line or tool id), and its consequence."""

    pointer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the current state of a source could not be read.

    `message` is for the operator. `told` is for models and names no hosts or paths. `is_connecting` is true if the
    transport reconnects by itself, `needs_login` if the operator's login would help.
    """

    message: str
    told: str
    is_connecting: bool = False
    needs_login: bool = False


@dataclass(frozen=True, slots=True)
class Surface:
    """The tools of one API surface, and what else was read with them.

    `digest` identifies the texts that the surface was read from. It is empty if they can change without notice.
    `server_defaults` are the defaults that replaced variables in `servers`, as `NAME=DEFAULT`. `held` are tools
    that wait until the operator accepts them. `withheld` are names of excluded and removed tools.
    """

    tools: tuple[Tool, ...]
    warnings: tuple[SourceWarning, ...] = ()
    servers: tuple[str, ...] = ()
    title: str = ""
    digest: str = ""
    auth: tuple[SecurityScheme, ...] = ()  # the security schemes that the document declares
    toolkits: tuple[Toolkit, ...] = ()
    server_defaults: tuple[str, ...] = ()
    failure: Failure | None = None  # set if the tools are those last read, or missing
    description: str = ""  # what the document says about the API as a whole
    held: tuple[Tool, ...] = ()
    withheld: frozenset[str] = frozenset()
    clock: Clock = UNKNOWN  # as configured, or as the description states
