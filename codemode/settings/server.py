"""The section on the HTTP face: where it listens, who may come in, and how much it takes on at one time."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from codemode.settings.policy import DEFAULT_ROLE, Name
from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section


class KeySettings(Section):
    """A key of the server, by reference, and the role of whoever brings it: `{env: NAME, role: support}`."""

    secret: SecretReference
    role: Name = DEFAULT_ROLE
    label: str = Field(default="", max_length=80)

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, value: Any) -> Any:
        """The reference may stand beside role and label."""
        if not isinstance(value, dict) or "secret" in value:
            return value if isinstance(value, dict) else {"secret": value}
        own = {key: part for key, part in value.items() if key in ("role", "label")}
        return own | {"secret": {key: part for key, part in value.items() if key not in own}}


class TokenSettings(Section):
    """JSON Web Tokens of an issuer (RFC 7519; OpenID Connect Core 1.0), checked with the keys that it publishes.

    `roles` maps values of the claim `role_claim` to roles, in the order of preference; without a match the role is
    `default_role`, and where that is null the token is refused.
    """

    issuer: str = Field(min_length=1)
    audience: str = Field(min_length=1)
    jwks_url: str = Field(pattern=r"^https?://")
    algorithms: tuple[Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"], ...] = (
        "RS256",
        "ES256",
    )
    leeway_s: int = Field(default=30, ge=0, le=300)
    role_claim: str = "role"
    roles: dict[str, Name] = Field(default_factory=dict)
    default_role: Name | None = None


class LoadSettings(Section):
    """How much is taken on at one time; what is beyond it is answered with 429.

    `running` programs at one time, `waiting` requests in the queue, each for `wait_s` at most; a queue that does not
    empty for a second is kept short. `per_key_…` hold for each caller. Without `per_key_running` callers share:
    one that is alone may have three of four places, several an equal part each.
    """

    running: int = Field(default=32, ge=1, le=1000)
    waiting: int = Field(default=128, ge=0, le=10_000)
    wait_s: float = Field(default=5.0, ge=0, le=60)
    per_key_running: int | None = Field(default=None, ge=1)
    per_key_rate_per_s: float | None = Field(default=None, gt=0)


class ServerSettings(Section):
    """The HTTP face. Without keys it refuses to listen on anything but loopback.

    `mcp` is what MCP clients get: the two tools of code mode, or a menu of native ones.
    """

    host: str = "127.0.0.1"
    mcp: Literal["code", "menu"] = "code"
    port: int = Field(default=8080, ge=0, le=65535)
    keys: tuple[KeySettings, ...] = ()
    tokens: TokenSettings | None = None
    request_limit_bytes: int = Field(default=1024 * 1024, ge=1024)
    request_s: float = Field(default=10.0, gt=0, le=600)
    drain_s: float = Field(default=35.0, ge=0, le=3600)
    load: LoadSettings = LoadSettings()
