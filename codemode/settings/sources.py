"""The section of one API surface."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from codemode.settings.credentials import ClientCertificate, CredentialSettings
from codemode.settings.secrets import SecretReference
from codemode.settings.section import HomePath, Section, expanded
from codemode.text.nearest import did_you_mean

#: How the location of an importable module begins.
PYTHON = "python:"

_FILE_OF_CODE = re.compile(r"\.py(:[\w.]+)?$")

#: What files of GraphQL's schema language are called.
_SDL = (".graphql", ".graphqls", ".gql")

#: The kinds of source that codemode reads itself.
KINDS = ("auto", "openapi", "python", "mcp", "toolkit", "graphql", "aws", "google")

#: Those that are named by services instead of a location.
_OF_SERVICES = ("aws", "google")

#: The group of entry points by which other packages bring kinds of their own.
SOURCES_GROUP = "codemode.sources"

EffectName = Literal["read", "write", "destructive"]


class SourceSettings(Section):
    """One API surface.

    `location` is a file (relative to the configuration file), a URL, or Python code: `python:package.module`,
    `python:package.module:name`, or a file that ends in `.py`. An MCP server has `kind: mcp` with its URL as location
    and `headers` for each request (`transport` is streamable HTTP, or SSE, its forerunner, which `auto` takes where the
    path ends in `/sse`); or, instead of a location, the `command` that starts it, with `env` besides a
    minimal environment, in `cwd`. Tools that a file or a folder of files describes (`kind: toolkit`) are carried out by
    Python callables of their names (`bind`: Python code, or a mapping of names to it), or by a service at `base_url`,
    each at its endpoint (`METHOD /path`; without one `POST /NAME`). A GraphQL service (`kind: graphql`) is its URL, or
    a file of its schema with the URL as `base_url`. AWS (`kind: aws`) is its `services`, in a `region`, with the
    credentials of a `profile` or of botocore's other ways, at another `base_url` than AWS's own if there is one. An
    API of Google's (`kind: google`) is one of `services`, as the installed google-api-python-client knows it. A kind
    that another package brings says itself what its location is, if it has one, and its `options`.
    """

    kind: str = "auto"
    location: str = ""
    options: dict[str, Any] = Field(default_factory=dict)
    bind: str | dict[str, str] = ""
    endpoints: dict[str, str] = Field(default_factory=dict)
    services: tuple[str, ...] = ()
    region: str | None = None
    profile: str | None = None
    command: tuple[str, ...] = ()
    env: dict[str, SecretReference | str] = Field(default_factory=dict)
    cwd: HomePath | None = None
    headers: dict[str, SecretReference | str] = Field(default_factory=dict)
    transport: Literal["auto", "http", "sse"] = "auto"
    base_url: str | None = None
    address: str | None = None
    credentials: tuple[CredentialSettings, ...] = ()
    client_certificate: ClientCertificate | None = None
    ca_file: HomePath | None = None
    timeout_s: float = Field(default=30.0, gt=0, le=3600)
    response_limit_bytes: int = Field(default=16 * 1024 * 1024, ge=1024)
    retries: int = Field(default=2, ge=0, le=10)
    concurrency: int = Field(default=32, ge=1)
    rate_per_s: float | None = Field(default=None, gt=0)
    idempotency_header: str = Field(default="", pattern=r"^[A-Za-z0-9-]{0,64}$")
    keep_names: bool = True
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    rename: dict[str, str] = Field(default_factory=dict)
    describe: dict[str, str] = Field(default_factory=dict)
    effect: dict[str, EffectName] = Field(default_factory=dict)
    examples: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    instructions: str = Field(default="", max_length=20_000)
    tier: dict[str, str] = Field(default_factory=dict)
    revert: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_place(self) -> SourceSettings:
        if self.kind not in KINDS:
            return self
        if self.options:
            message = f"options: are for kinds that other packages bring; {self.own_kind} has none"
            raise ValueError(message)
        if self.bind and (self.base_url or self.endpoints):
            raise ValueError(
                "tools are carried out by Python (bind) or by a service (base_url, endpoints), not by both"
            )
        if self.services and self.kind not in _OF_SERVICES:
            message = f"services: are those of kind: {' or '.join(_OF_SERVICES)}"
            raise ValueError(message)
        if self.kind == "aws" and (self.location or self.command or not self.services):
            raise ValueError("AWS is named by its services, as botocore calls them: services: [s3, dynamodb]")
        if self.kind == "google" and len(self.services) != 1:
            message = 'one API of Google\'s is one source: services: ["drive:v3"]'
            raise ValueError(message)
        if [bool(self.location), bool(self.command), bool(self.services)].count(True) != 1:
            message = "give location: a file, a URL or Python code; or command: [PROGRAM, ARGUMENT …] of an MCP server"
            raise ValueError(message)
        if self.kind == "mcp" and self.location and not is_url(self.location):
            message = "an MCP server is reached by its URL (location), or started by a command"
            raise ValueError(message)
        return self

    @property
    def own_kind(self) -> str:
        """Its kind, found out where the configuration does not say it."""
        if self.kind != "auto":
            return self.kind
        if self.command:
            return "mcp"
        if self.bind or self.endpoints:
            return "toolkit"
        if self.location.endswith(_SDL):
            return "graphql"
        return "python" if is_python(self.location) else "openapi"

    @property
    def is_document(self) -> bool:
        """Whether it is an API document, or looks like one."""
        return self.own_kind == "openapi"

    @property
    def is_mcp(self) -> bool:
        """Whether it is an MCP server."""
        return self.own_kind == "mcp"

    def anchored(self, folder: Path) -> SourceSettings:
        """With the files that it names relative to a folder, which is the configuration's."""
        bind = self.bind
        named = {"": bind} if isinstance(bind, str) else bind
        found = {name: anchored(code, folder) for name, code in named.items()}
        update = {
            "location": anchored(self.location, folder) if self.kind in KINDS else self.location,
            "bind": found[""] if isinstance(bind, str) else found,
        }
        return self.model_copy(update=update)

    @property
    def caller_names(self) -> frozenset[str]:
        """The names under which who calls brings credentials of its own."""
        references = (getattr(one, field, None) for one in self.credentials for field in ("token", "password", "value"))
        return frozenset(found for found in (getattr(one, "caller", None) for one in references) if found)

    @field_validator("address")
    @classmethod
    def _ip_address(cls, address: str | None) -> str | None:
        return address if address is None else str(ip_address(address))

    @field_validator("base_url")
    @classmethod
    def _http(cls, base_url: str | None) -> str | None:
        if base_url is not None and not is_url(base_url):
            raise ValueError("give an address that begins with http:// or https://")
        return base_url

    @field_validator("location")
    @classmethod
    def _file_or_http(cls, location: str, others: ValidationInfo) -> str:
        if "://" in location and not is_url(location) and others.data.get("kind") in KINDS:
            message = "give a file, or an address that begins with http:// or https://"
            raise ValueError(message)
        return anchored(location, Path()) if others.data.get("kind") in KINDS else location

    @field_validator("bind")
    @classmethod
    def _at_home(cls, bind: str | dict[str, str]) -> str | dict[str, str]:
        return (
            anchored(bind, Path()) if isinstance(bind, str) else {n: anchored(one, Path()) for n, one in bind.items()}
        )

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, kind: str) -> str:
        if kind in KINDS:
            return kind
        known = (*KINDS, *sorted(entry_points(group=SOURCES_GROUP).names))
        if kind in known:
            return kind
        message = f"no installed package reads {kind!r}{did_you_mean(kind, known) or ';'} valid: {', '.join(known)}"
        raise ValueError(message)


def is_url(location: str) -> bool:
    """Whether a source's location is fetched over HTTP."""
    return location.lower().startswith(("http://", "https://"))


def is_python(location: str) -> bool:
    """Whether a source is Python code: `python:package.module`, or a file that ends in `.py`; a name may follow."""
    is_file = not is_url(location) and _FILE_OF_CODE.search(location) is not None
    return location.startswith(PYTHON) or is_file


def anchored(location: str, folder: Path) -> str:
    """A location whose file is relative to a folder; a URL or a module as it is. Raises ValueError."""
    is_elsewhere = not location or is_url(location) or location.startswith(PYTHON)
    return location if is_elsewhere else str(folder / expanded(Path(location)))
