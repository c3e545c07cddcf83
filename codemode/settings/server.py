"""The `server` section: address, authentication and load of the HTTP server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from codemode.settings.modes import Mode
from codemode.settings.policy import DEFAULT_ROLE, Name
from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


def _origin(text: str) -> str:
    """Check the origin of a page, as browsers send it (RFC 6454, section 6.2)."""
    if text == "*":
        message = "name each origin: any page that a person opens could use the server otherwise"
        raise ValueError(message)
    if re.fullmatch(r"https?://[^\s/?#@*]+", text.lower()) is None:
        message = "an origin is scheme://host[:port], without a path, such as https://chat.example.com"
        raise ValueError(message)
    return text.lower()


#: The scheme, host and port of a page.
Origin = Annotated[str, AfterValidator(_origin), Field(json_schema_extra={"pattern": "^https?://[^/]+$"})]


class KeySettings(Section):
    """A server key, by reference, and the rights of its callers: `{env: NAME, role: support, read_only: true}`."""

    secret: SecretReference = Field(
        description="The key. Its reference may also be written beside the other fields.",
        examples=[{"env": "CODEMODE_API_KEY"}],
    )
    role: Name = Field(default=DEFAULT_ROLE, description="Role of callers with this key.", examples=["support"])
    label: str = Field(
        default="", max_length=80, description="Label in logs and audit records.", examples=["help desk"]
    )
    read_only: bool = Field(
        default=False, description="Deny every call with this key that is not a read.", examples=[True]
    )

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, value: Any) -> Any:
        """Accept the reference beside the other fields."""
        if not isinstance(value, dict) or "secret" in value:
            return value if isinstance(value, dict) else {"secret": value}
        own = {key: part for key, part in value.items() if key in ("role", "label", "read_only")}
        return own | {"secret": {key: part for key, part in value.items() if key not in own}}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe both forms: the reference as `secret`, and its keys beside the other fields."""
        schema = handler(core_schema)
        key = handler.resolve_ref_schema(schema)
        places = handler.resolve_ref_schema(key["properties"]["secret"])["properties"]
        key["properties"] = places | key["properties"]
        key["oneOf"] = [{"required": [name]} for name in (*places, *key.pop("required"))]
        return schema


class TokenSettings(Section):
    """JSON Web Tokens of an issuer (RFC 7519, OpenID Connect Core 1.0). They need the extra `jwt`."""

    issuer: str = Field(
        min_length=1, description="Required value of the claim `iss`.", examples=["https://login.example.com"]
    )
    audience: str = Field(min_length=1, description="Required value of the claim `aud`.", examples=["codemode"])
    jwks_url: str = Field(
        pattern=r"^https?://",
        description="URL of the issuer's public keys (JSON Web Key Set).",
        examples=["https://login.example.com/jwks.json"],
    )
    algorithms: tuple[Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"], ...] = (
        Field(default=("RS256", "ES256"), description="Accepted signature algorithms.")
    )
    leeway_s: int = Field(default=30, ge=0, le=300, description="Accepted clock difference in seconds.")
    role_claim: str = Field(
        default="role",
        description="Claim that holds the role, or a list of roles or groups. `a.b`: the claim `b` inside of `a`.",
        examples=["groups", "realm_access.roles"],
    )
    roles: dict[str, Name] = Field(
        default={},
        description="Roles by value of the claim, in order of preference.",
        examples=[{"staff": "support"}],
    )
    default_role: Name | None = Field(
        default=None,
        description="Role of tokens without a match. null: these tokens are rejected.",
        examples=["support"],
    )
    scopes: tuple[Annotated[str, Field(pattern=r"^[\x21\x23-\x5b\x5d-\x7e]+$")], ...] = Field(
        default=(),
        description="Scopes that clients ask the issuer for. Needs `public_url`.",
        examples=[["openid", "groups"]],
    )
    client_id: str = Field(
        default="",
        max_length=500,
        description="The console's client at the issuer: people then log in there (OpenID Connect), too. Needs "
        "`public_url`. Empty: keys only.",
        examples=["codemode-console"],
    )
    client_secret: SecretReference | None = Field(
        default=None, description="Secret of that client. null: a public client.", examples=[{"env": "CONSOLE_SECRET"}]
    )
    session_s: int = Field(
        default=4 * 3600,
        ge=60,
        le=12 * 3600,
        description="Time after which people log in at the issuer again, in seconds. Groups are read then.",
    )


class LoadSettings(Section):
    """Admission limits. Excess requests get 429."""

    running: int = Field(default=32, ge=1, le=1000, description="Maximum number of running programs.")
    waiting: int = Field(default=128, ge=0, le=10_000, description="Maximum number of requests in the queue.")
    wait_s: float = Field(default=5.0, ge=0, le=60, description="Maximum time of a request in the queue, in seconds.")
    per_key_running: int | None = Field(
        default=None,
        ge=1,
        description="Maximum number of running programs of one key. null: three quarters of `running` for a key that "
        "is alone, else equal parts.",
        examples=[8],
    )
    per_key_rate_per_s: float | None = Field(
        default=None,
        gt=0,
        description="Maximum number of requests of one key per second. Servers on one PostgreSQL share it. null: no "
        "limit.",
        examples=[5],
    )


class ServerSettings(Section):
    """The HTTP server. Without keys it only listens on loopback."""

    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on. Addresses other than loopback need keys.",
        examples=["0.0.0.0"],  # noqa: S104 -- an example in a description
    )
    mcp: Mode = Field(
        default="code",
        description="Tools for MCP clients, unless a rule of `modes` matches. `code`: search, execute and the pins. "
        "`menu`: native tools of a menu. `hybrid`: both. `native`: every tool. `off`: none.",
    )
    answer_within_s: float | None = Field(
        default=50.0,
        gt=0,
        le=3600,
        description="Time after which an MCP client is told that its program still runs and how to wait for it, in "
        "seconds: many clients give up after 60. Needs the journal. null: no answer before the end.",
    )
    port: int = Field(default=8080, ge=0, le=65535, description="Port to listen on. 0: any free port.")
    processes: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Number of server processes on the port, one per processor core. Each gets an equal part of the "
        "limits.",
        examples=[2],
    )
    keys: tuple[KeySettings, ...] = Field(
        default=(),
        description="Server keys, by reference, besides those of `codemode keys`.",
        examples=[[{"env": "CODEMODE_API_KEY", "role": "default"}]],
    )
    tokens: TokenSettings | None = Field(
        default=None,
        description="Accept JSON Web Tokens of an issuer. null: keys only.",
        examples=[
            {
                "issuer": "https://login.example.com",
                "audience": "codemode",
                "jwks_url": "https://login.example.com/jwks.json",
            }
        ],
    )
    public_url: str = Field(
        default="",
        pattern=r"^(https?://\S+)?$",
        max_length=500,
        description="Address under which people reach this server, for links, and its name for the issuer of "
        "`tokens`. Empty: links are relative.",
        examples=["https://codemode.example.com"],
    )
    cors_origins: tuple[Origin, ...] = Field(
        default=(),
        max_length=100,
        description="Origins whose pages may call `/mcp` and `/v1/` from a browser, with a key. Empty: none.",
        examples=[["https://chat.example.com"]],
    )
    request_limit_bytes: int = Field(
        default=1024 * 1024, ge=1024, description="Maximum size of a request body, in bytes. The default is 1 MiB."
    )
    request_s: float = Field(
        default=10.0, gt=0, le=600, description="Maximum time to receive a request head, and a body, in seconds."
    )
    drain_delay_s: float = Field(
        default=0.0,
        ge=0,
        le=600,
        description="Seconds between SIGTERM, when `/readyz` begins to answer 503, and closing the port. Behind a load "
        "balancer, longer than it needs to notice.",
        examples=[5],
    )
    drain_s: float = Field(
        default=35.0,
        ge=0,
        le=3600,
        description="Time for running requests and executions once the port is closed, in seconds.",
    )
    load: LoadSettings = Field(default=LoadSettings(), description="Admission limits. Excess requests get 429.")

    @model_validator(mode="after")
    def _login_has_an_address(self) -> ServerSettings:
        if self.tokens is not None and self.tokens.client_id and not self.public_url:
            message = "tokens.client_id needs public_url: the issuer sends people back to that address"
            raise ValueError(message)
        return self
