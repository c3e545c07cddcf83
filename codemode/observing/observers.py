"""All observers of a service, as one."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from codemode.observing.metrics import MetricsObserver

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.ledger import LedgerEntry
    from codemode.observing.observer import Observer, Started

log = logging.getLogger(__name__)


class Observers:
    """Passes everything on to each of them. A disk that is full must not end a program: failures are only logged."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self._observers = tuple(observers)

    def started(self, execution: Started) -> None:
        """Pass it on."""
        self._each(lambda observer: observer.started(execution))

    def called(self, execution: Started, entry: LedgerEntry) -> None:
        """Pass it on."""
        self._each(lambda observer: observer.called(execution, entry))

    def ended(self, execution: Started, outcome: ExecutionOutcome | None) -> None:
        """Pass it on."""
        self._each(lambda observer: observer.ended(execution, outcome))

    def close(self) -> None:
        """Pass it on."""
        self._each(lambda observer: observer.close())

    @property
    def metrics(self) -> MetricsObserver | None:
        """The one that counts for Prometheus, if there is one."""
        return next((observer for observer in self._observers if isinstance(observer, MetricsObserver)), None)

    def _each(self, tell: Callable[[Observer], None]) -> None:
        for observer in self._observers:
            try:
                tell(observer)
            except Exception:
                log.exception("%s could not be told", type(observer).__name__)
