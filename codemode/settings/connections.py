"""The `sources.*.connections` section: several accounts at one source."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from codemode.settings.credentials import CredentialSettings
from codemode.settings.section import Section

#: Owners of connections besides `role:NAME`.
SERVICE, CALLER = "service", "caller"
_ROLE = "role:"


def _owner(owner: str) -> str:
    if owner in (SERVICE, CALLER) or owner.removeprefix(_ROLE) not in ("", owner):
        return owner
    message = f"expected {SERVICE}, {CALLER} or {_ROLE}NAME"
    raise ValueError(message)


Owner = Annotated[
    str, AfterValidator(_owner), WithJsonSchema({"type": "string", "pattern": f"^({SERVICE}|{CALLER}|{_ROLE}.+)$"})
]

ConnectionName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]


class IdentitySettings(Section):
    """Where a service says who is logged in."""

    path: str = Field(pattern=r"^/", description="Path of a GET request below `base_url`.", examples=["/me"])
    field: str = Field(
        description="Field of the answer that tells people apart. Dots join names.", examples=["login", "user.email"]
    )


class ConnectionSettings(Section):
    """One account at the service of a source, or one for each caller."""

    owner: Owner = Field(
        default=SERVICE,
        description="Who may use it. `service`: every caller. `role:NAME`: callers with this role. `caller`: each "
        "caller has an own one, by an own login or secret.",
        examples=["role:support"],
    )
    label: str = Field(default="", max_length=100, description="What it is, for people.", examples=["Support desk"])
    credentials: tuple[CredentialSettings, ...] = Field(
        default=(),
        description="Its credentials, as in `sources.*.credentials`. A login belongs to the owner.",
        examples=[[{"kind": "bearer", "token": {"env": "SUPPORT_TOKEN"}}]],
    )
    identity: IdentitySettings | None = Field(
        default=None,
        description="Where the service says who is logged in. null: as its identity token says, if it sends one.",
        examples=[{"path": "/me", "field": "login"}],
    )
    read_only: bool = Field(default=False, description="Reject calls that are no reads.")
    concurrency: int | None = Field(
        default=None,
        ge=1,
        description="Maximum number of calls at the same time. null: that of the source.",
        examples=[4],
    )
    rate_per_s: float | None = Field(
        default=None, gt=0, description="Maximum number of calls per second. null: that of the source.", examples=[2]
    )

    @property
    def role(self) -> str:
        """The role that owns it, "" for another owner."""
        return self.owner.removeprefix(_ROLE) if self.owner.startswith(_ROLE) else ""

    @property
    def is_own(self) -> bool:
        """Whether each caller has one of its own."""
        return self.owner == CALLER
