"""The `sources` section: one API surface per namespace."""

from __future__ import annotations

import re
from datetime import date
from importlib.metadata import entry_points
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from pydantic import AfterValidator, Field, ValidationInfo, WithJsonSchema, field_validator, model_validator

from codemode.settings.connections import ConnectionName, ConnectionSettings
from codemode.settings.credentials import (
    AwsCredential,
    ClientCertificate,
    CredentialSettings,
    NoCredential,
    OAuth2Credential,
)
from codemode.settings.pages import PagesSettings
from codemode.settings.secrets import SecretReference
from codemode.settings.section import HomePath, Section, expanded
from codemode.settings.source_kinds import OF_DOCUMENTS, unfitting
from codemode.settings.urls import HttpUrl, is_url
from codemode.text.clock import UNKNOWN, Clock
from codemode.text.nearest import did_you_mean

#: Prefix of the location of an importable module.
PYTHON = "python:"

_FILE_OF_CODE = re.compile(r"\.py(:[\w.]+)?$")

#: Suffixes of files in GraphQL's schema language.
_SDL = (".graphql", ".graphqls", ".gql")

#: Built-in source kinds.
KINDS = ("auto", "openapi", "python", "mcp", "toolkit", "graphql", "aws", "google")

#: Kinds that have services instead of a location.
_OF_SERVICES = ("aws", "google")

#: Entry point group for source kinds of other packages.
SOURCES_GROUP = "codemode.sources"

EffectName = Literal["read", "write", "destructive"]

_FIELD_PATH = r"^(\[\]|[^.\[\]]+)(\[\])*(\.[^.\[\]]+(\[\])*)*$"


def _field_path(path: str) -> str:
    if re.match(_FIELD_PATH, path) is None:
        message = "expected a path of names joined by dots, with [] for the items of a list: owner.name, items[].id"
        raise ValueError(message)
    return path


#: A path of a field in a result.
FieldPath = Annotated[str, AfterValidator(_field_path), WithJsonSchema({"type": "string", "pattern": _FIELD_PATH})]


def _known_kinds_first(schema: dict[str, Any]) -> None:
    """Offer the built-in kinds. Other packages add kinds of their own."""
    schema["anyOf"] = [{"enum": list(KINDS)}, {"type": schema.pop("type")}]


#: A constant argument.
ConstantValue = str | int | float | bool | tuple[str | int | float, ...]


class ClockSettings(Section):
    """The clock of a service. Programs run in UTC."""

    zone: str = Field(
        default="",
        description="Time zone of its dates, by the name in the IANA database. Empty: unknown.",
        examples=["Europe/Berlin"],
    )
    today: str = Field(
        default="",
        max_length=200,
        description="Its present date if it does not advance, or in words where the service states it.",
        examples=["2026-01-15", "the `today` of get_gym_info"],
    )
    now: str = Field(
        default="",
        max_length=200,
        description="Its present time if it does not advance, or in words where the service states it.",
        examples=["2026-01-15T09:00:00+01:00", "the `time` of get_status"],
    )

    @property
    def clock(self) -> Clock:
        """The clock as a value."""
        return Clock(self.zone, self.today, self.now)

    @field_validator("today", "now", mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return value.isoformat() if isinstance(value, date) else value  # YAML reads dates as such

    @field_validator("zone")
    @classmethod
    def _known_zone(cls, zone: str) -> str:
        if zone and zone not in available_timezones():
            message = f"unknown time zone {zone!r}{did_you_mean(zone, available_timezones())}"
            raise ValueError(message)
        return zone


class SourceSettings(Section):
    """One API surface: an API document, an MCP server, Python code, a toolkit, or a cloud provider."""

    kind: str = Field(
        default="auto",
        description="Kind of the source. `auto`: derived from the other keys. Installed packages can add kinds.",
        json_schema_extra=_known_kinds_first,
    )
    location: str = Field(
        default="",
        description="A file relative to the configuration file, a URL, or Python code: `python:package.module`, "
        "`python:package.module:name`, or a file that ends in `.py`. For `kind: mcp`, the URL of the server.",
        examples=["gym.json", "https://api.example.com/openapi.json", "python:shop.tools"],
    )
    options: dict[str, Any] = Field(
        default={},
        description="Options of a source kind from another package, which documents them.",
        examples=[{"tenant": "acme"}],
    )
    bind: str | dict[str, str] = Field(
        default="",
        description="Python code that carries out described tools (`kind: toolkit`), or a mapping of toolkit names to "
        "it.",
        examples=["gym_tools.py", {"members": "python:gym.members"}],
    )
    endpoints: dict[str, str] = Field(
        default={},
        description="Endpoint of each described tool (`kind: toolkit`) at `base_url`. The default is `POST /NAME`.",
        examples=[{"freeze_membership": "POST /members/{id}/freeze"}],
    )
    services: tuple[str, ...] = Field(
        default=(),
        description="Services of `kind: aws`, by botocore's names, or the one API of `kind: google`.",
        examples=[["s3", "dynamodb"], ["drive:v3"]],
    )
    region: str | None = Field(
        default=None, description="AWS region. null: botocore's default.", examples=["eu-central-1"]
    )
    profile: str | None = Field(
        default=None, description="AWS profile. null: botocore's default.", examples=["production"]
    )
    command: tuple[str, ...] = Field(
        default=(),
        description="Program and arguments that start an MCP server, instead of `location`.",
        examples=[["npx", "-y", "@modelcontextprotocol/server-filesystem", "/data"]],
    )
    env: dict[str, SecretReference | str] = Field(
        default={},
        description="Environment variables of an MCP server, besides a minimal environment.",
        examples=[{"DEBUG": "1", "TOKEN": {"env": "TICKETS_TOKEN"}}],
    )
    cwd: HomePath | None = Field(
        default=None, description="Working directory of an MCP server that is started.", examples=["/srv/tickets"]
    )
    headers: dict[str, SecretReference | str] = Field(
        default={},
        description="Headers of each request to the service or MCP server. They replace arguments of the same name.",
        examples=[{"X-Team": "support", "X-Token": {"env": "TICKETS_TOKEN"}}, {"User-Agent": "acme ops@acme.example"}],
    )
    parameters: dict[str, ConstantValue] = Field(
        default={},
        description="Constant arguments of all operations that declare these parameters in the path, query, headers or "
        "cookies. Models do not see them.",
        examples=[{"api-version": "2026-01-01", "account_id": 7}],
    )
    overlays: tuple[HomePath, ...] = Field(
        default=(),
        description="Files that change the document, in this order: OpenAPI Overlays or JSON patches.",
        examples=[["gym-overlay.yaml"]],
    )
    internal: bool = Field(
        default=False,
        description="Keep operations that the document marks as internal: `x-internal`, `x-mcp: {enabled: false}` and "
        "the like.",
    )
    transport: Literal["auto", "http", "sse"] = Field(
        default="auto",
        description="Transport of an MCP server at a URL. `http`: streamable HTTP. `sse`: its predecessor. `auto`: "
        "`sse` if the path ends in `/sse`.",
    )
    base_url: HttpUrl | None = Field(
        default=None,
        description="Base URL of the operations. It permits calls and credentials to this address. null: calls are "
        "rejected.",
        examples=["http://127.0.0.1:8137"],
    )
    servers: tuple[HttpUrl, ...] = Field(
        default=(),
        description="Further servers that the document names for single operations. Calls and credentials are "
        "permitted to them, as to `base_url`. Redirects lead there too, without credentials.",
        examples=[["https://uploads.example.com"]],
    )
    address: str | None = Field(
        default=None,
        description="IP address of the host of `base_url`. null: the host name is resolved.",
        examples=["192.0.2.10"],
    )
    credentials: tuple[CredentialSettings, ...] = Field(
        default=(),
        description="Credentials, matched with the security schemes of each operation.",
        examples=[[{"kind": "bearer", "token": {"env": "GYM_TOKEN"}}]],
    )
    connections: dict[ConnectionName, ConnectionSettings] = Field(
        default={},
        description="Accounts, one of which each call uses: the first that its caller may use, or the one that it "
        "names with `connection`. `credentials` then only read the document or the tools.",
        examples=[{"desk": {"owner": "role:support", "credentials": [{"kind": "bearer", "token": {"env": "DESK"}}]}}],
        json_schema_extra={"additionalProperties": False},
    )
    client_certificate: ClientCertificate | None = Field(
        default=None,
        description="Client certificate for mutual TLS.",
        examples=[{"certificate": "/run/secrets/client.pem", "key": "/run/secrets/client.key"}],
    )
    ca_file: HomePath | None = Field(
        default=None,
        description="PEM file of a private certificate authority. null: the public ones.",
        examples=["/etc/ssl/company.pem"],
    )
    timeout_s: float = Field(
        default=30.0, gt=0, le=3600, description="Time limit of one call in seconds, retries included."
    )
    response_limit_bytes: int = Field(
        default=16 * 1024 * 1024, ge=1024, description="Maximum size of a response in bytes. The default is 16 MiB."
    )
    retries: int = Field(
        default=2,
        ge=0,
        le=10,
        description="Retries of calls that are safe to repeat, by their method or by their idempotency key.",
    )
    concurrency: int = Field(default=32, ge=1, description="Maximum number of calls at the same time.")
    rate_per_s: float | None = Field(
        default=None,
        gt=0,
        description="Maximum number of calls per second. Servers on one PostgreSQL share it. null: no limit.",
        examples=[5],
    )
    idempotency_header: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9-]{0,64}$",
        description="Header by which the service recognises a repeated write. Empty: the service has none.",
        examples=["Idempotency-Key"],
    )
    keep_names: bool = Field(
        default=True, description="Keep the first name of each operation when the document changes."
    )
    include: tuple[str, ...] = Field(
        default=(),
        description="Operations to keep: patterns of ids, operationIds or `METHOD /path`. Empty: all.",
        examples=[["clients.*", "GET *"]],
    )
    exclude: tuple[str, ...] = Field(
        default=(),
        description="Operations to remove, after `include`: patterns as there.",
        examples=[["*.delete_*", "DELETE *"]],
    )
    rename: dict[str, str] = Field(
        default={},
        description="New ids without the namespace, by id, operationId or `METHOD /path`.",
        examples=[{"freeze_membership": "memberships.freeze"}],
    )
    describe: dict[str, str] = Field(
        default={},
        description="New descriptions, by id, operationId or `METHOD /path`.",
        examples=[{"get_clients_list": "Members, active or not"}],
    )
    effect: dict[str, EffectName] = Field(
        default={},
        description="Effects by pattern of ids, operationIds or `METHOD /path`. The first that matches applies.",
        examples=[{"POST /offers/validate": "read"}],
    )
    examples: dict[str, tuple[str, ...]] = Field(
        default={},
        description="Example calls by id, operationId or `METHOD /path`.",
        examples=[{"get_clients_list": ["gym.clients.get_clients_list(name='John')"]}],
    )
    instructions: str = Field(
        default="",
        max_length=20_000,
        description="Text at the beginning of `describe` of this source.",
        examples=["Ask for the full name first."],
    )
    tier: dict[str, str] = Field(
        default={},
        description="Tiers of tools, for rules of the policy, by pattern of ids, operationIds or `METHOD /path`.",
        examples=[{"salary.*": "money"}],
    )
    revert: dict[str, str] = Field(
        default={},
        description="The call that reverses a tool, by id, operationId or `METHOD /path`.",
        examples=[{"freeze_membership": "memberships.unfreeze(id=arguments.id)"}],
    )
    clock: ClockSettings | None = Field(
        default=None,
        description="The clock of the service, shown to models. null: read from the description of the document.",
        examples=[{"zone": "Europe/Berlin"}, {"today": "the `today` of get_gym_info"}],
    )
    fields: dict[str, tuple[FieldPath, ...]] = Field(
        default={},
        description="Fields to keep of results, by pattern of ids, operationIds or `METHOD /path`. The first that "
        "matches applies. Dots join names, and `[]` stands for the items of a list. Pages keep their own fields.",
        examples=[{"clients.*": ["id", "name", "items[].id", "items[].name"]}],
    )

    pages: dict[str, PagesSettings] = Field(
        default={},
        description="How lists are paged, by pattern of ids, operationIds or `METHOD /path`. The first that matches "
        "applies. Without it, answers and the document decide.",
        examples=[{"list_events": {"cursor": "since", "next": "meta.resume", "items": "rows"}}],
    )

    @model_validator(mode="after")
    def _accounts_at_a_service(self) -> SourceSettings:
        if self.connections and (self.bind or self.command):
            raise ValueError("connections: only for sources whose calls go to a URL")
        return self

    @model_validator(mode="after")
    def _one_place(self) -> SourceSettings:
        if self.kind not in KINDS:
            return self
        if self.options:
            message = f"options: only source kinds of other packages have options; kind: {self.own_kind} has none"
            raise ValueError(message)
        if self.bind and (self.base_url or self.endpoints):
            raise ValueError("set bind (Python carries out the tools) or base_url and endpoints (a service), not both")
        if self.services and self.kind not in _OF_SERVICES:
            message = f"services: only for kind: {' or '.join(_OF_SERVICES)}"
            raise ValueError(message)
        if self.kind == "aws" and (self.location or self.command or not self.services):
            raise ValueError("kind: aws needs services, by botocore's names, and no location: services: [s3, dynamodb]")
        if self.kind == "google" and len(self.services) != 1:
            message = 'kind: google needs exactly one service: services: ["drive:v3"]'
            raise ValueError(message)
        if [bool(self.location), bool(self.command), bool(self.services)].count(True) != 1:
            message = (
                "set location to a file, a URL or Python code, or command to [PROGRAM, ARGUMENT, …] of an MCP server"
            )
            raise ValueError(message)
        if self.kind == "mcp" and self.location and not is_url(self.location):
            message = "an MCP server needs its URL as location, or a command"
            raise ValueError(message)
        is_open = self.kind == "auto" and self.own_kind == "openapi"
        unused = self.unfitting(*(OF_DOCUMENTS if is_open else (self.own_kind,)))
        if unused is not None:
            raise ValueError(unused)
        return self

    def unfitting(self, *kinds: str) -> str | None:
        """Return the message about a key that is set although none of the kinds uses it, or None."""
        fields = type(self).model_fields
        changed = [key for key in fields if key in self.model_fields_set and getattr(self, key) != fields[key].default]
        return unfitting(kinds, changed)

    @property
    def own_kind(self) -> str:
        """The kind, derived from the other keys for `auto`."""
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
    def introduction(self) -> str:
        """The configured clock and the instructions, for models."""
        clock = self.clock.clock if self.clock is not None else UNKNOWN
        return "\n".join(filter(None, (f"Clock: {clock}." if clock else "", self.instructions)))

    @property
    def is_document(self) -> bool:
        """Whether the source is an API document."""
        return self.own_kind == "openapi"

    @property
    def is_mcp(self) -> bool:
        """Whether the source is an MCP server."""
        return self.own_kind == "mcp"

    @property
    def login_server(self) -> str:
        """The address that the tokens of a login without settings are for: an MCP server, or the origin of an API.

        Empty if the settings say how to authenticate, or there is no URL.
        """
        address = self.location if self.is_mcp else self.base_url or self.location
        is_decided = any(isinstance(one, (AwsCredential, NoCredential, OAuth2Credential)) for one in self.credentials)
        if self.command or not is_url(address) or is_decided:
            return ""
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2].lower()
        return address if self.is_mcp else f"{parts.scheme.lower()}://{host}"

    def with_connection(self, name: str) -> SourceSettings:
        """Return a copy with the credentials and limits of a connection, itself if there is none of this name."""
        connection = self.connections.get(name)
        if connection is None:
            return self
        limits = {
            key: value for key in ("concurrency", "rate_per_s") if (value := getattr(connection, key)) is not None
        }
        return self.model_copy(update={"credentials": connection.credentials, **limits})

    def anchored(self, folder: Path) -> SourceSettings:
        """Return a copy whose files are relative to `folder`, the folder of the configuration."""
        bind = self.bind
        named = {"": bind} if isinstance(bind, str) else bind
        found = {name: anchored(code, folder) for name, code in named.items()}
        update = {
            "location": anchored(self.location, folder) if self.kind in KINDS else self.location,
            "bind": found[""] if isinstance(bind, str) else found,
            "overlays": tuple(folder / overlay for overlay in self.overlays),
        }
        return self.model_copy(update=update)

    @property
    def caller_names(self) -> frozenset[str]:
        """Names under which callers send their own credentials."""
        credentials = [*self.credentials, *(one for each in self.connections.values() for one in each.credentials)]
        references = (getattr(one, field, None) for one in credentials for field in ("token", "password", "value"))
        return frozenset(found for found in (getattr(one, "caller", None) for one in references) if found)

    @field_validator("address")
    @classmethod
    def _ip_address(cls, address: str | None) -> str | None:
        return address if address is None else str(ip_address(address))

    @field_validator("location")
    @classmethod
    def _file_or_http(cls, location: str, others: ValidationInfo) -> str:
        if "://" in location and not is_url(location) and others.data.get("kind") in KINDS:
            message = "expected a file, or a URL that begins with http:// or https://"
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
        message = f"unknown source kind {kind!r}{did_you_mean(kind, known) or ';'} valid: {', '.join(known)}"
        raise ValueError(message)


def is_python(location: str) -> bool:
    """Return whether a location is Python code: `python:package.module[:name]` or `file.py[:name]`."""
    is_file = not is_url(location) and _FILE_OF_CODE.search(location) is not None
    return location.startswith(PYTHON) or is_file


def anchored(location: str, folder: Path) -> str:
    """Return a location with its file relative to `folder`. URLs and modules stay. Raises ValueError."""
    is_elsewhere = not location or is_url(location) or location.startswith(PYTHON)
    return location if is_elsewhere else str(folder / expanded(Path(location)))
