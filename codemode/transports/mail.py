"""Mail by SMTP (RFC 5321), with the standard library's client in a thread."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from codemode.errors import UpstreamUnreachable

if TYPE_CHECKING:
    from email.message import EmailMessage


@dataclass(frozen=True, slots=True)
class MailServer:
    """An SMTP server. `starttls` never falls back to an unencrypted connection. `tls` holds the certificates to trust.

    Without a `username`, the client does not log in.
    """

    host: str
    port: int
    security: Literal["starttls", "tls", "none"]
    username: str = ""
    password: str = ""
    tls: ssl.SSLContext | None = None

    async def send(self, mail: EmailMessage, *, timeout_s: float) -> None:
        """Send a mail to all its recipients. Raises UpstreamUnreachable if the server does not take it for each."""
        try:
            await asyncio.to_thread(self._send, mail, timeout_s)
        except (smtplib.SMTPException, OSError) as error:
            message = f"the mail server {self.host}:{self.port} {_why(error)}"
            raise UpstreamUnreachable(message, source=self.host) from None

    def _send(self, mail: EmailMessage, timeout_s: float) -> None:
        with self._connected(timeout_s) as client:
            if self.security == "starttls":
                client.starttls(context=self.tls or ssl.create_default_context())
            if self.username:
                client.login(self.username, self.password)
            refused = client.send_message(mail)
        if refused:
            raise smtplib.SMTPRecipientsRefused(refused)

    def _connected(self, timeout_s: float) -> smtplib.SMTP:
        if self.security == "tls":
            context = self.tls or ssl.create_default_context()
            return smtplib.SMTP_SSL(self.host, self.port, timeout=timeout_s, context=context)
        return smtplib.SMTP(self.host, self.port, timeout=timeout_s)


def _why(error: Exception) -> str:
    """Return what went wrong. The server's own text may quote credentials, and is left out."""
    match error:
        case smtplib.SMTPResponseException():
            return f"answered {error.smtp_code}"
        case smtplib.SMTPRecipientsRefused():
            return f"refused {len(error.recipients)} recipients"
        case smtplib.SMTPException():
            return f"does not take the mail ({type(error).__name__})"
        case _:
            return f"cannot be reached ({type(error).__name__})"
