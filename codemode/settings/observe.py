"""The `observe` section."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from codemode.settings.section import HomePath, Section


class ObserveSettings(Section):
    """Logs, audit records, traces and metrics for operators."""

    log: Literal["json", "text", "off"] = Field(
        default="text", description="Format of the log of `codemode serve`: one line per execution, without payloads."
    )
    audit_file: HomePath | None = Field(
        default=None,
        description="File for audit records: callers, program digests, and every call with its decision and its "
        "arguments without secrets. null: no audit records.",
        examples=["/var/log/codemode/audit.jsonl"],
    )
    traces: bool = Field(
        default=False,
        description="Send OpenTelemetry traces to the endpoint in the `OTEL_EXPORTER_OTLP_…` variables. Needs the "
        "extra `telemetry`.",
    )
    metrics: bool = Field(
        default=False, description="Serve Prometheus metrics at `/metrics`. Needs the extra `telemetry`."
    )
