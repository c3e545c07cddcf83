"""Prometheus counters and histograms, through the official client."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from codemode.errors import ConfigurationError
from codemode.gateway.call import CallState

if TYPE_CHECKING:
    from pathlib import Path

    from prometheus_client import CollectorRegistry

    from codemode.executions.life.observer import ExecutionStart
    from codemode.executions.types.delivery import Delivery
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.records import PendingCall
    from codemode.executions.types.remembered import Remembered

#: Histogram bucket bounds in seconds, from a program without calls to the usual wall time limit.
_BUCKETS_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class MetricsObserver:
    """Counts executions by status, calls by source and state, their durations, and rejected requests.

    Gauges are the number of running executions and its limit, and the state of the sources and of the journal.

    Raises ConfigurationError if the extra is not installed.
    """

    def __init__(self) -> None:
        try:
            import prometheus_client as prometheus
        except ModuleNotFoundError:
            message = "observe.metrics needs the extra: pip install codemode[telemetry]"
            raise ConfigurationError(message) from None
        self._prometheus: Any = prometheus
        self.registry = prometheus.CollectorRegistry()
        named: dict[str, Any] = {"namespace": "codemode", "registry": self.registry}
        #: Folder of the metrics of several server processes, which `text` adds up.
        self.shared: Path | None = None
        self._running = prometheus.Gauge(
            "executions_running", "Running programs.", multiprocess_mode="livesum", **named
        )
        self._executions = prometheus.Counter("executions", "Ended programs.", ["status"], **named)
        self._execution_s = prometheus.Histogram(
            "execution_seconds", "Wall time of programs.", buckets=_BUCKETS_S, **named
        )
        self._calls = prometheus.Counter("calls", "Tool calls.", ["source", "state"], **named)
        self._call_s = prometheus.Histogram(
            "call_seconds", "Duration of tool calls.", ["source"], buckets=_BUCKETS_S, **named
        )
        self._rejected = prometheus.Counter("requests_rejected", "Requests answered with 429.", **named)
        self._limit = prometheus.Gauge(
            "executions_limit", "Most programs that run at one time.", multiprocess_mode="livesum", **named
        )
        self._sources_failed = prometheus.Gauge(
            "sources_failed", "Sources that are unavailable or stale.", multiprocess_mode="livemostrecent", **named
        )
        self._is_writable = prometheus.Gauge(
            "journal_writable", "1 if the journal can be written, else 0.", multiprocess_mode="livemostrecent", **named
        )
        self._began: dict[str, float] = {}

    def limit(self, running: int) -> None:
        """Report how many programs may run at one time."""
        self._limit.set(running)

    def rejected(self) -> None:
        """Count a request that was answered with 429."""
        self._rejected.inc()

    def state(self, *, sources_failed: int, is_writable: bool) -> None:
        """Report how many sources cannot be read, and whether executions can be recorded."""
        self._sources_failed.set(sources_failed)
        self._is_writable.set(is_writable)

    def started(self, execution: ExecutionStart) -> None:
        """Count a running execution."""
        self._running.inc()
        self._began[execution.id] = time.monotonic()

    def called(self, execution: ExecutionStart, entry: LedgerEntry) -> None:
        """Count the call if it has ended."""
        if entry.state in (CallState.RUNNING, CallState.UNKNOWN):
            return
        namespace = entry.tool.partition(".")[0] if entry.decision else ""  # "" for unknown tools
        self._calls.labels(namespace, str(entry.state)).inc()
        if entry.duration_s:
            self._call_s.labels(namespace).observe(entry.duration_s)

    def ended(self, execution: ExecutionStart, outcome: ExecutionOutcome | None) -> None:
        """Count the execution, and its calls that never ended."""
        self._running.dec()
        self._execution_s.observe(time.monotonic() - self._began.pop(execution.id))
        self._executions.labels(str(outcome.status) if outcome else "cancelled").inc()
        for call in outcome.calls if outcome else ():
            if call.state in (CallState.UNKNOWN, CallState.CANCELLED):  # sent, but never ended
                self._calls.labels(call.tool.partition(".")[0], str(call.state)).inc()

    def decided(self, call: PendingCall) -> None:
        """Do nothing: decisions are in the journal and the audit file."""

    def remembered(self, decision: Remembered) -> None:
        """Do nothing: remembered decisions are in the audit file."""

    def notified(self, delivery: Delivery) -> None:
        """Do nothing: messages are not counted."""

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def text(self) -> tuple[bytes, str]:
        """Return all metrics in Prometheus format, and their media type."""
        registry = self.registry if self.shared is None else self._of_all_processes(self.shared)
        return self._prometheus.generate_latest(registry), self._prometheus.CONTENT_TYPE_LATEST

    def _of_all_processes(self, folder: Path) -> CollectorRegistry:
        from prometheus_client.multiprocess import MultiProcessCollector

        registry: CollectorRegistry = self._prometheus.CollectorRegistry()
        MultiProcessCollector(registry, str(folder))  # type: ignore[no-untyped-call]
        return registry
