"""Create the configured observers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError
from codemode.executions.life.observer import Observers
from codemode.observing.audit import AuditFile
from codemode.observing.logs import LogObserver
from codemode.observing.metrics import MetricsObserver

if TYPE_CHECKING:
    from codemode.executions.life.observer import Observer
    from codemode.settings import ObserveSettings


def observers_of(settings: ObserveSettings) -> Observers:
    """Return the configured observers. Raises ConfigurationError for an unwritable file or a missing extra."""
    found: list[Observer] = [LogObserver()]
    if settings.audit_file is not None:
        try:
            found.append(AuditFile(settings.audit_file))
        except OSError as error:
            message = f"observe.audit_file: cannot write {settings.audit_file}: {error.strerror}"
            raise ConfigurationError(message) from None
    if settings.traces:
        from codemode.observing.traces import trace_observer

        found.append(trace_observer())
    if settings.metrics:
        found.append(MetricsObserver())
    return Observers(found)
