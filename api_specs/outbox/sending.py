"""Turn requests into messages, and messages into deliveries.

This example has no carrier. Every message is delivered, except to suppressed recipients. Addresses in the domain
`bounce.example` and numbers that begin with `+999` bounce.
"""

from __future__ import annotations

import json
from datetime import UTC
from string import Template as Placeholders
from typing import TYPE_CHECKING

from api_specs.outbox.problems import Problem
from api_specs.outbox.store import now, stamp

if TYPE_CHECKING:
    from api_specs.outbox.models import NewEmail, NewText
    from api_specs.outbox.store import Row, Store


def placeholders(*texts: str) -> list[str]:
    """Return the sorted placeholder names in texts. Raises Problem (422) for a `$` that begins none."""
    names: set[str] = set()
    for text in texts:
        template = Placeholders(text)
        if not template.is_valid():
            raise Problem(422, "A $ does not begin a placeholder: write $$ for the character itself.")
        names.update(template.get_identifiers())
    return sorted(names)


def rendered(template: Row, values: dict[str, str]) -> tuple[str, str]:
    """Return subject and text with values filled in. Raises Problem (422) that lists missing and unknown values."""
    needed = placeholders(template["subject"], template["text"])
    missing = sorted(set(needed) - set(values))
    unknown = sorted(set(values) - set(needed))
    if missing or unknown:
        problems = [f"missing: {', '.join(missing)}"] * bool(missing) + [f"unknown: {', '.join(unknown)}"] * bool(
            unknown
        )
        raise Problem(422, f"The template {template['name']} takes {needed}; {'; '.join(problems)}.")
    return Placeholders(template["subject"]).substitute(values), Placeholders(template["text"]).substitute(values)


def write(store: Store, channel: str, recipients: list[str], content: NewEmail | NewText, subject: str = "") -> int:
    """Store a message, and deliver it unless it is scheduled. Return its number."""
    text = content.text or ""
    if content.template is not None:
        template = store.one("select * from templates where name = :name", name=content.template)
        if template is None or template["channel"] != channel:
            raise Problem(422, f"There is no {channel} template {content.template!r}; see list_templates.")
        filled, text = rendered(template, content.values)
        subject = subject or filled
    if channel == "email" and not subject:
        raise Problem(422, "An e-mail needs a subject: pass one, or a template with one.")
    at = now()
    due = stamp(content.send_at.astimezone(UTC)) if content.send_at else at
    number = store.add(
        "insert into messages (channel, recipients, subject, text, template, status, send_at, created_at)"
        " values (:channel, :recipients, :subject, :text, :template, 'scheduled', :due, :at)",
        channel=channel,
        recipients=json.dumps(recipients),
        subject=subject,
        text=text,
        template=content.template,
        due=due,
        at=at,
    )
    deliver_due(store)
    return number


def deliver_due(store: Store) -> None:
    """Deliver scheduled messages that are due."""
    due = store.rows("select id from messages where status = 'scheduled' and send_at <= :now order by id", now=now())
    for row in due:
        deliver(store, row["id"])


def deliver(store: Store, number: int) -> None:
    """Try each recipient once. The message is sent if it reached at least one, else failed."""
    row = store.one("select * from messages where id = :number", number=number)
    assert row is not None  # noqa: S101 -- the caller read or wrote it in this transaction
    outcomes = [_attempt(store, row, recipient) for recipient in json.loads(row["recipients"])]
    status = "sent" if "delivered" in outcomes else "failed"
    store.change("update messages set status = :status where id = :number", status=status, number=number)


def _attempt(store: Store, row: Row, recipient: str) -> str:
    suppressed = store.one("select reason from suppressions where recipient = :recipient", recipient=recipient)
    bounces = recipient.endswith("@bounce.example") or recipient.startswith("+999")
    status = "suppressed" if suppressed else "bounced" if bounces else "delivered"
    reason = suppressed["reason"] if suppressed else "no such recipient" if bounces else ""
    store.add(
        "insert into deliveries (message_id, channel, recipient, status, reason, at)"
        " values (:message, :channel, :recipient, :status, :reason, :at)",
        message=row["id"],
        channel=row["channel"],
        recipient=recipient,
        status=status,
        reason=reason,
        at=now(),
    )
    return status


def preview(template: Row, values: dict[str, str]) -> Row:
    """Return a template's message as it would be sent; see `Preview`."""
    subject, text = rendered(template, values)
    return {"subject": subject, "text": text}
