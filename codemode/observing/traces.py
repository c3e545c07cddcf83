"""OpenTelemetry spans: one per execution, with one child per call. They contain no arguments or answers."""

from __future__ import annotations

import time
from threading import Thread
from typing import TYPE_CHECKING

from opentelemetry import trace

from codemode.errors import ConfigurationError
from codemode.gateway.call import CallState, state_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.sdk.trace import TracerProvider

    from codemode.executions.life.observer import ExecutionStart
    from codemode.executions.types.delivery import Delivery
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.records import PendingCall
    from codemode.executions.types.remembered import Remembered


#: Seconds for sending the last spans on close.
_LAST_S = 3.0


class TraceObserver:
    """Creates spans with the process's tracer provider: the embedding application's, or one from `export_traces`.

    `send_last` is called on close.
    """

    def __init__(
        self, provider: trace.TracerProvider | None = None, *, send_last: Callable[[], object] = lambda: None
    ) -> None:
        self._send_last = send_last
        self._tracer = trace.get_tracer("codemode", tracer_provider=provider)
        self._executions: dict[str, trace.Span] = {}
        self._calls: dict[tuple[str, str], trace.Span] = {}
        self._effects: dict[tuple[str, str], str] = {}

    def started(self, execution: ExecutionStart) -> None:
        """Start the execution's span, under the current span."""
        self._executions[execution.id] = self._tracer.start_span(
            "codemode.execution",
            attributes={
                "codemode.execution.id": execution.id,
                "codemode.caller.id": execution.caller.id,
                "codemode.caller.role": execution.caller.role,
                "codemode.program.sha256": execution.digest,
            },
        )

    def called(self, execution: ExecutionStart, entry: LedgerEntry) -> None:
        """Start or end the span of a call. A rejected call's span starts and ends at once."""
        key = (execution.id, entry.path)
        span = self._calls.get(key)
        if span is None:
            parent = trace.set_span_in_context(self._executions[execution.id])
            self._effects[key] = entry.effect
            attributes = {"codemode.tool": entry.tool, "codemode.decision": entry.decision, "codemode.rule": entry.rule}
            span = self._calls[key] = self._tracer.start_span(
                "codemode.call", context=parent, attributes=attributes, kind=trace.SpanKind.CLIENT
            )
        if entry.state is CallState.RUNNING:
            return
        span.set_attribute("codemode.state", str(entry.state))
        if entry.state not in (CallState.COMMITTED, CallState.READ):
            span.set_status(trace.StatusCode.ERROR)
        del self._calls[key], self._effects[key]
        span.end()

    def ended(self, execution: ExecutionStart, outcome: ExecutionOutcome | None) -> None:
        """End the execution's span, and the spans of calls that never ended."""
        now = time.time_ns()
        for key in [key for key in self._calls if key[0] == execution.id]:
            unfinished = self._calls.pop(key)
            state = state_of(self._effects.pop(key), CallState.UNKNOWN)
            unfinished.set_attribute("codemode.state", str(state))
            unfinished.end(now)
        span = self._executions.pop(execution.id)
        span.set_attribute("codemode.status", str(outcome.status) if outcome else "cancelled")
        if outcome is None or outcome.status not in ("completed", "paused"):
            span.set_status(trace.StatusCode.ERROR)
        span.end(now)

    def decided(self, call: PendingCall) -> None:
        """Do nothing: decisions are in the journal and the audit file."""

    def remembered(self, decision: Remembered) -> None:
        """Do nothing: remembered decisions are in the audit file."""

    def notified(self, delivery: Delivery) -> None:
        """Do nothing: a message has no span."""

    def close(self) -> None:
        """Send the remaining spans. Wait at most `_LAST_S` seconds for the collector."""
        sending = Thread(target=self._send_last, daemon=True)
        sending.start()
        sending.join(_LAST_S)


def export_traces() -> TracerProvider:
    """Return a provider that sends spans by OTLP over HTTP, configured by `OTEL_…` environment variables.

    Raises ConfigurationError if the extra is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError:
        message = "observe.traces needs the extra: pip install codemode[telemetry]"
        raise ConfigurationError(message) from None
    provider = TracerProvider(resource=Resource.create({"service.name": "codemode"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def trace_observer() -> TraceObserver:
    """Return an observer for the tracer provider of the application, or for one that exports.

    Raises ConfigurationError for a missing extra.
    """
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return TraceObserver()
    provider = export_traces()
    return TraceObserver(provider, send_last=provider.shutdown)
