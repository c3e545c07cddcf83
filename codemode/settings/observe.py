"""The section on what is told of executions to those who operate the service."""

from __future__ import annotations

from typing import Literal

from codemode.settings.section import HomePath, Section


class ObserveSettings(Section):
    """What is told of executions: a line of log each, without payloads; more only where it is asked for.

    `log` is how `codemode serve` writes its log. `audit_file` gets who ran which program (its digest), every call with
    its decision and its arguments without secrets. `traces` are sent where the `OTEL_EXPORTER_OTLP_…` variables say;
    `metrics` are served at `/metrics`.
    """

    log: Literal["json", "text", "off"] = "text"
    audit_file: HomePath | None = None
    traces: bool = False
    metrics: bool = False
