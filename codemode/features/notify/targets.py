"""Receivers of notices: a webhook, a chat, a mailbox."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import time
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

from codemode.errors import CodeModeError, ConfigurationError
from codemode.features.notify.chat import slack_body, teams_body
from codemode.settings import MailTarget, SlackTarget, TeamsTarget, WebhookTarget
from codemode.text.times import SECOND_US, rfc3339
from codemode.text.visible import marked
from codemode.transports.http.posting import post
from codemode.transports.mail import MailServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.features.notify.notice import Notice
    from codemode.settings import NotifyTarget, SecretReference, Secrets
    from codemode.transports.http.posting import PostAnswer

_GONE = 410

#: Bytes of a signing secret, by Standard Webhooks 1.0.
_SECRET_BYTES = range(24, 65)


class Undelivered(Exception):
    """A delivery failed. The message says why, without secrets.

    `retry_after_s` is the wait that the receiver asked for. `is_gone`: it wants no more messages.
    """

    def __init__(self, message: str, *, retry_after_s: float = 0.0, is_gone: bool = False) -> None:
        self.retry_after_s = retry_after_s
        self.is_gone = is_gone
        super().__init__(message)


class Target(Protocol):
    """A receiver of notices."""

    async def send(self, notice: Notice) -> None:
        """Deliver a notice. Raises Undelivered."""
        ...


def target_of(name: str, settings: NotifyTarget, secrets: Secrets, timeout_s: float) -> Target:
    """Return the receiver of these settings. Raises ConfigurationError for a missing or malformed secret."""
    if isinstance(settings, MailTarget):
        password = secrets.text(settings.password)
        server = MailServer(settings.host, settings.port, settings.security, settings.username, password)
        return Mailbox(server, settings.sender, settings.to, timeout_s)
    poster = Poster(_url(settings.url, secrets), settings.address, timeout_s)
    if isinstance(settings, WebhookTarget):
        return Webhook(poster, signing_keys(name, secrets.text(settings.secret)))
    return Chat(poster, _BODIES[type(settings)])


def _url(url: str | SecretReference, secrets: Secrets) -> str:
    return url if isinstance(url, str) else secrets.text(url)


@dataclass(frozen=True, slots=True)
class Poster:
    """Posts JSON to one URL."""

    url: str
    address: str | None
    timeout_s: float

    async def post(self, body: bytes, headers: dict[str, str]) -> None:
        """Send a body. Raises Undelivered for any answer but 2xx."""
        sent = {"content-type": "application/json", "user-agent": "codemode", **headers}
        try:
            answer = await post(self.url, body, sent, timeout_s=self.timeout_s, address=self.address)
        except CodeModeError as error:
            raise Undelivered(str(error)) from None
        if not 200 <= answer.status < 300:
            redirect = ", a redirect, which is not followed" if 300 <= answer.status < 400 else ""
            message = f"the receiver answered {answer.status}{redirect}"
            is_gone = answer.status == _GONE
            raise Undelivered(message, retry_after_s=_retry_after_s(answer), is_gone=is_gone)


def _retry_after_s(answer: PostAnswer) -> float:
    """Return the seconds of Retry-After (RFC 9110, 10.2.3), 0 without them. The date form is not used for this."""
    text = answer.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0.0


@dataclass(frozen=True, slots=True)
class Webhook:
    """Signed webhooks (Standard Webhooks 1.0). With several keys, there are several signatures, for a rotation."""

    poster: Poster
    keys: tuple[bytes, ...]

    async def send(self, notice: Notice) -> None:
        """See `Target`."""
        now = time.time()
        event = {"type": notice.event, "timestamp": rfc3339(now * SECOND_US), "data": notice.data()}
        body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
        timestamp = str(int(now))
        signatures = " ".join(signature(key, notice.id, timestamp, body) for key in self.keys)
        headers = {"webhook-id": notice.id, "webhook-timestamp": timestamp, "webhook-signature": signatures}
        await self.poster.post(body, headers)


def signature(key: bytes, id_: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a webhook: HMAC-SHA256 over `id.timestamp.body`."""
    signed = hmac.digest(key, b".".join((id_.encode(), timestamp.encode(), body)), sha256)
    return f"v1,{base64.b64encode(signed).decode()}"


def signing_keys(name: str, text: str) -> tuple[bytes, ...]:
    """Return the keys in a text of one or several secrets. Raises ConfigurationError."""
    try:
        keys = tuple(base64.b64decode(part.removeprefix("whsec_"), validate=True) for part in text.split())
    except binascii.Error:
        keys = ()
    if not keys or any(len(key) not in _SECRET_BYTES for key in keys):
        message = (
            f"notify.targets.{name}.secret is no signing secret: expected whsec_ and 24 to 64 bytes in Base64; make one"
            " with `echo whsec_$(openssl rand -base64 32)`"
        )
        raise ConfigurationError(message)
    return keys


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat service, with the shape of its messages."""

    poster: Poster
    body: Callable[[Notice], dict[str, Any]]

    async def send(self, notice: Notice) -> None:
        """See `Target`."""
        await self.poster.post(json.dumps(self.body(notice)).encode(), {})


_BODIES = {SlackTarget: slack_body, TeamsTarget: teams_body}


@dataclass(frozen=True, slots=True)
class Mailbox:
    """Mail to fixed recipients. The Message-ID is the notice's, so that mail servers drop repetitions."""

    server: MailServer
    sender: str
    to: tuple[str, ...]
    timeout_s: float

    async def send(self, notice: Notice) -> None:
        """See `Target`."""
        mail = EmailMessage()
        mail["Subject"] = " ".join(marked(f"[{notice.project}] {notice.title}").split())[:200]
        mail["From"] = self.sender
        mail["To"] = ", ".join(self.to)
        mail["Date"] = formatdate()
        mail["Message-ID"] = f"<{notice.id}@codemode.invalid>"
        mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no automatic replies
        mail.set_content(notice.text())
        try:
            await self.server.send(mail, timeout_s=self.timeout_s)
        except CodeModeError as error:
            raise Undelivered(str(error)) from None
