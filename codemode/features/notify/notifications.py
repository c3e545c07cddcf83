"""Messages to people, as one service delivers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from codemode.features.feature import FeaturePart

if TYPE_CHECKING:
    from codemode.executions.journal.sql.outbox import Message
    from codemode.executions.life.access import Access
    from codemode.features.feature import Core
    from codemode.features.notify.notifier import Notifier


class Notifications(FeaturePart):
    """Delivers messages while the journal is open."""

    absent: ClassVar[str] = "there is no target: set `notify.targets` in the configuration"

    def __init__(self, notifier: Notifier, access: Access | None) -> None:
        self._notifier = notifier
        self._access = access

    @classmethod
    def of(cls, core: Core) -> Self | None:
        """See `FeaturePart`."""
        if not core.settings.notify.targets:
            return None
        from codemode.features.notify.configured import notifier_of

        access = core.executions.access if core.executions is not None else None
        journal = access.journal if access is not None else None
        return cls(notifier_of(core.settings, journal, core.secrets, core.runner.observers.notified), access)

    async def messages(self) -> tuple[Message, ...]:
        """Return the newest 50 messages, newest first. Raises JournalUnavailable."""
        if self._access is None:
            return ()
        await self._access.visible.opened()
        return await self._access.journal.outbox.list()

    def opened(self) -> None:
        """See `Part`."""
        self._notifier.start()

    async def aclose(self) -> None:
        """See `Part`."""
        await self._notifier.aclose()
