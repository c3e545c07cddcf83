"""The notifier that the settings describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError
from codemode.executions.journal.sql.outbox import MessageRequest
from codemode.features.notify.courier import Courier
from codemode.features.notify.notice import NoticeWriter
from codemode.features.notify.notifier import Notifier
from codemode.features.notify.targets import target_of
from codemode.text.times import SECOND_US

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.executions.journal.base import Journal
    from codemode.executions.types.delivery import Delivery
    from codemode.executions.types.records import QuestionKind
    from codemode.settings import NotifyEvent, Secrets, Settings

#: The questions that an event is about.
_KINDS: Mapping[NotifyEvent, tuple[QuestionKind, ...]] = {
    "approval.asked": ("approval",),
    "approval.expiring": ("approval", "unknown"),
    "call.unknown": ("unknown",),
    "login.asked": ("login",),
}


def notifier_of(
    settings: Settings,
    journal: Journal | None,
    secrets: Secrets,
    record: Callable[[Delivery], None],
) -> Notifier:
    """Return the notifier of these settings.

    `record` receives each attempt. Raises ConfigurationError if there is no journal, or
    a secret is missing or malformed.
    """
    wanted = settings.notify
    if journal is None:
        message = "notify.targets needs recorded executions: set `journal.enabled: true`, or remove the targets"
        raise ConfigurationError(message)
    writer = NoticeWriter(settings.project, settings.server.public_url, wanted.show_arguments)
    couriers = []
    for name, one in wanted.targets.items():
        target = target_of(name, one, secrets, wanted.timeout_s)
        couriers.append(Courier(journal, name, target, messages_to(name, settings), writer, record=record))
    return Notifier(journal.outbox, couriers, writer)


def messages_to(target: str, settings: Settings) -> list[MessageRequest]:
    """Return the messages that a target receives."""
    expire_s = settings.journal.expire_s
    unchanged_s = {"approval.expiring": expire_s - min(settings.notify.expiring_s, expire_s / 2)}
    return [
        MessageRequest(event, target, _KINDS[event], int(unchanged_s.get(event, 0) * SECOND_US))
        for event in settings.notify.events
    ]
