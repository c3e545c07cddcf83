"""The `notify` section: messages to people about what waits for them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from codemode.settings.policy import Name
from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section
from codemode.settings.urls import HttpUrl

NotifyEvent = Literal["approval.asked", "approval.expiring", "call.unknown", "login.asked"]

_DAY_S = 24 * 3600.0


def _several(value: object) -> object:
    """Return one value as a list."""
    return [value] if isinstance(value, str) else value


class PostedTarget(Section):
    """The base class of targets that receive HTTP requests."""

    url: HttpUrl | SecretReference = Field(
        description="URL that receives the messages, or a reference to it if it contains a secret.",
        examples=["https://hooks.example.com/codemode", {"env": "SLACK_URL"}],
    )
    address: str | None = Field(
        default=None,
        description="IP address of the host, if its name resolves to a private address. null: only public addresses "
        "are allowed for names.",
        examples=["10.0.0.7"],
    )


class WebhookTarget(PostedTarget):
    """A receiver of signed webhooks (Standard Webhooks 1.0)."""

    kind: Literal["webhook"] = Field(description="Signed webhooks as Standard Webhooks describes them.")
    secret: SecretReference = Field(
        description="Signing secret: `whsec_` and 24 to 64 bytes in Base64. For a rotation, two of them with a space.",
        examples=[{"env": "WEBHOOK_SECRET"}],
    )


class SlackTarget(PostedTarget):
    """An incoming webhook of Slack."""

    kind: Literal["slack"] = Field(description="An incoming webhook of Slack, or of a service with the same body.")


class TeamsTarget(PostedTarget):
    """A workflow of Microsoft Teams that posts adaptive cards."""

    kind: Literal["teams"] = Field(description="A workflow of Microsoft Teams that posts adaptive cards.")


class MailTarget(Section):
    """Mail by SMTP (RFC 5321)."""

    kind: Literal["mail"] = Field(description="Mail by SMTP.")
    host: str = Field(min_length=1, description="Host of the SMTP server.", examples=["smtp.example.com"])
    port: int = Field(default=587, ge=1, le=65535, description="Port of the SMTP server.")
    security: Literal["starttls", "tls", "none"] = Field(
        default="starttls",
        description="`starttls`: encrypt before anything is sent, or fail. `tls`: encrypted from the start (port 465). "
        "`none`: not encrypted; for a server on this machine.",
    )
    username: str = Field(default="", description="User name. Empty: no login.", examples=["codemode"])
    password: SecretReference | None = Field(
        default=None, description="Password of the user.", examples=[{"env": "SMTP_PASSWORD"}]
    )
    sender: str = Field(min_length=3, description="Address of the sender.", examples=["codemode@example.com"])
    to: Annotated[tuple[str, ...], Field(min_length=1), BeforeValidator(_several)] = Field(
        description="Addresses of the recipients.", examples=[["approvers@example.com"]]
    )


NotifyTarget = Annotated[WebhookTarget | SlackTarget | TeamsTarget | MailTarget, Field(discriminator="kind")]


class NotifySettings(Section):
    """Messages to people about what waits for them. They need the journal."""

    targets: dict[Name, NotifyTarget] = Field(
        default={},
        description="Receivers by name.",
        examples=[
            {
                "ops": {
                    "kind": "webhook",
                    "url": "https://hooks.example.com/codemode",
                    "secret": {"env": "WEBHOOK_SECRET"},
                }
            }
        ],
        json_schema_extra={"additionalProperties": False},
    )
    events: tuple[NotifyEvent, ...] = Field(
        default=("approval.asked", "approval.expiring", "call.unknown"),
        description="Events that are sent. `approval.asked`: a call waits for a person. `approval.expiring`: it will "
        "soon expire without an answer. `call.unknown`: nobody knows whether a call took effect. `login.asked`: a call "
        "waits until its caller has logged in.",
    )
    show_arguments: bool = Field(
        default=False,
        description="Include short arguments that are no secrets. Otherwise messages name the arguments only.",
    )
    expiring_s: float = Field(
        default=_DAY_S,
        gt=0,
        description="Remaining time at which `approval.expiring` is sent, in seconds. At most half of "
        "`journal.expire_s` is used.",
    )
    timeout_s: float = Field(default=15.0, gt=0, le=60, description="Time limit of one delivery, in seconds.")
