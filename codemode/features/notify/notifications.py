"""Messages to people, as one service delivers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from codemode.features.feature import FeaturePart

if TYPE_CHECKING:
    from codemode.features.feature import Core
    from codemode.features.notify.notifier import Notifier


class Notifications(FeaturePart):
    """Delivers messages while the journal is open."""

    absent: ClassVar[str] = "there is no target: set `notify.targets` in the configuration"

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier

    @classmethod
    def of(cls, core: Core) -> Self | None:
        """See `FeaturePart`."""
        if not core.settings.notify.targets:
            return None
        from codemode.features.notify.configured import notifier_of

        journal = core.executions.access.journal if core.executions is not None else None
        return cls(notifier_of(core.settings, journal, core.secrets, core.runner.observers.notified))

    def opened(self) -> None:
        """See `Part`."""
        self._notifier.start()

    async def aclose(self) -> None:
        """See `Part`."""
        await self._notifier.aclose()
