"""Request and response models. Fields are camelCase on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

Channel = Literal["email", "text"]
MessageStatus = Literal["scheduled", "sent", "failed", "cancelled"]
DeliveryStatus = Literal["delivered", "bounced", "suppressed"]

EmailAddress = Annotated[str, Field(pattern=r"^[^@\s,;<>]+@[^@\s,;<>]+\.[^@\s,;<>]+$", examples=["ann@example.org"])]
PhoneNumber = Annotated[str, Field(pattern=r"^\+[1-9]\d{6,14}$", description="E.164", examples=["+4930123456"])]
TemplateName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,63}$", examples=["membership-expiring"])]


class _Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class NewTemplate(_Model):
    """A text with `$placeholders`, and the subject of an e-mail."""

    name: TemplateName
    channel: Channel
    subject: str = Field("", description="Subject of an e-mail. May contain placeholders.")
    text: str = Field(min_length=1, max_length=20_000, examples=["Dear $name, your membership ends on $endDate."])


class TemplateChange(_Model):
    """The parts of a template to change."""

    subject: str | None = None
    text: str | None = Field(None, min_length=1, max_length=20_000)


class Template(NewTemplate):
    """A stored template."""

    placeholders: list[str] = Field(description="Values that a message from this template needs.")
    updated_at: datetime


class Values(_Model):
    """Values for the placeholders of a template."""

    values: dict[str, str] = Field(default_factory=dict, examples=[{"name": "Ann", "endDate": "2026-03-31"}])


class Preview(_Model):
    """A message as it would be sent."""

    subject: str
    text: str


class _Written(_Model):
    """Either a text or a template with its values."""

    text: str | None = Field(None, min_length=1, max_length=20_000)
    template: TemplateName | None = None
    values: dict[str, str] = Field(default_factory=dict, description="For the placeholders of the template.")
    send_at: datetime | None = Field(None, description="Time to send the message. Default: at once.")

    @model_validator(mode="after")
    def _one_text(self) -> _Written:
        if (self.text is None) == (self.template is None):
            message = "pass either text or template"
            raise ValueError(message)
        return self


class NewEmail(_Written):
    """An e-mail to one or more recipients."""

    to: list[EmailAddress] = Field(min_length=1, max_length=100)
    subject: str | None = Field(None, description="Required unless the template has one.")


class NewText(_Written):
    """A text message to one phone number."""

    to: PhoneNumber


class Message(_Model):
    """A message that was sent or will be."""

    id: int
    channel: Channel
    to: list[str]
    subject: str
    text: str
    template: str | None
    status: MessageStatus
    send_at: datetime
    created_at: datetime


class Delivery(_Model):
    """The result of a message for one recipient."""

    id: int
    message_id: int
    channel: Channel
    recipient: str
    status: DeliveryStatus
    reason: str
    at: datetime


class NewSuppression(_Model):
    """A recipient that receives no more messages."""

    recipient: EmailAddress | PhoneNumber
    reason: Literal["unsubscribed", "complaint", "bounced", "manual"] = "manual"


class Suppression(NewSuppression):
    """A suppressed recipient."""

    since: datetime


class MessagePage(_Model):
    """Messages, newest first."""

    items: list[Message]
    total: int
    next_cursor: str | None = Field(None, description="Pass it as `cursor` for the next page.")


class DeliveryPage(_Model):
    """Deliveries, newest first."""

    items: list[Delivery]
    total: int
    next_cursor: str | None = Field(None, description="Pass it as `cursor` for the next page.")


class Problem(BaseModel):
    """A problem (RFC 9457)."""

    title: str
    status: int
    detail: str
