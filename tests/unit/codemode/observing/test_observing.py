"""What is told of executions: logs, audit, traces, metrics, through a service that runs programs."""

from __future__ import annotations

import io
import json
import logging
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from codemode import CodeMode, ConfigurationError, tool
from codemode.executions.life.observer import ExecutionStart, Observers
from codemode.executions.types.records import Decision
from codemode.gateway.caller import Caller
from codemode.observing.audit import AuditFile
from codemode.observing.logs import JsonFormatter, TextFormatter
from codemode.observing.metrics import MetricsObserver
from codemode.observing.traces import TraceObserver
from codemode.settings import Settings
from codemode.text.times import SECOND_US, rfc3339

CALLER = Caller("key:ann", "default", "Ann")
SECRET = "hunter2-hunter2"
PROGRAM = f"""
shop.order(sku="tea", password="{SECRET}")
try:
    shop.refuse()
except Exception:
    pass
try:
    shop.drop()
except Exception:
    pass
"""


def order(sku: str, password: str) -> str:
    """Order."""
    return f"ordered {sku}"


def refuse() -> None:
    """Refuse."""
    message = "no"
    raise ValueError(message)


@tool(effect="destructive")
def drop() -> None:
    """What the policy asks a person about."""


def settings(tmp_path: Path, **observe: Any) -> Settings:
    content = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache", "observe": observe}
    return Settings.model_validate(content)


async def run(tmp_path: Path, code: str = PROGRAM, **observe: Any) -> CodeMode:
    service = CodeMode.from_settings(settings(tmp_path, **observe), functions={"shop": [order, refuse, drop]})
    async with service:
        await service.execute(code, caller=CALLER)
    return service


async def test_the_audit_says_who_ran_what_and_what_was_decided(tmp_path: Path) -> None:
    file = tmp_path / "audit" / "audit.jsonl"
    await run(tmp_path, audit_file=file)
    text = file.read_text(encoding="utf-8")
    started, *calls, ended = [json.loads(line) for line in text.splitlines()]
    assert (started["event"], started["caller"], started["label"]) == ("started", "key:ann", "Ann")
    assert started["program_sha256"] == sha256(PROGRAM.encode()).hexdigest()
    assert [(call["tool"], call["state"], call["decision"]) for call in calls] == [
        ("shop.order", "running", "allow"),
        ("shop.order", "committed", "allow"),
        ("shop.refuse", "running", "allow"),
        ("shop.refuse", "failed", "allow"),
        ("shop.drop", "pending", "ask"),
    ]
    assert (ended["event"], ended["status"], ended["calls"]) == ("ended", "paused", 3)
    assert SECRET not in text
    assert file.stat().st_mode & 0o777 == 0o600
    assert {line["execution"] for line in (started, *calls, ended)} == {started["execution"]}


async def test_an_audit_file_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    async with CodeMode.from_settings(settings(tmp_path, audit_file=file), functions={"shop": [order]}) as service:
        await service.execute("1")
        file.rename(tmp_path / "audit.1")
        await service.execute("2")
    assert [len((tmp_path / name).read_text().splitlines()) for name in ("audit.1", "audit.jsonl")] == [2, 2]


async def test_a_decision_is_an_audit_event_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    given = settings(tmp_path, audit_file=str(file))
    async with CodeMode.from_settings(given, functions={"shop": [order, refuse, drop]}) as service:
        await service.execute("shop.drop()", caller=CALLER)
        boss = Caller("key:boss", "approver")
        (call,) = await service.executions.approvals(boss)
        decision = Decision(call.id, call.digest, "rejected", by="", note="not now", via="http 192.0.2.7")
        await service.executions.decide([decision], boss)
    (line,) = [json.loads(line) for line in file.read_text().splitlines() if '"decided"' in line]
    assert line.pop("at").endswith("Z")
    assert line == {
        "event": "decided",
        "execution": call.execution,
        "approval": call.id,
        "tool": "shop.drop",
        "digest": call.digest,
        "verdict": "rejected",
        "by": "key:boss",
        "via": "http 192.0.2.7",
        "note": "not now",
        "up_to": 0,
        "grant": "",
    }


async def test_a_disk_that_is_full_ends_no_program(caplog: pytest.LogCaptureFixture) -> None:
    full = AuditFile(Path("/dev/full"))
    with caplog.at_level(logging.ERROR):
        Observers([full]).started(ExecutionStart.of("ex_1", CALLER, "1"))
    assert "the observer AuditFile failed" in caplog.text
    assert "No space left on device" in caplog.text
    full.close()


async def test_an_audit_file_that_cannot_be_written_is_said_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"observe\.audit_file"):
        await run(tmp_path, audit_file="/proc/no/audit.jsonl")


async def test_spans_of_calls_stand_under_that_of_their_execution(tmp_path: Path) -> None:
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    async with CodeMode.from_settings(settings(tmp_path), functions={"shop": [order, refuse, drop]}) as service:
        service.runtime.runner.observers = Observers([TraceObserver(provider)])
        await service.execute(PROGRAM, caller=CALLER)
    *calls, execution = spans.get_finished_spans()
    assert execution.name == "codemode.execution"
    assert execution.attributes is not None
    assert execution.attributes["codemode.status"] == "paused"
    assert [call.attributes and call.attributes["codemode.state"] for call in calls] == [
        "committed",
        "failed",
        "pending",
    ]
    assert {call.parent and call.parent.span_id for call in calls} == {execution.context and execution.context.span_id}
    assert SECRET not in "".join(span.to_json() for span in (*calls, execution))


async def test_metrics_count_executions_and_calls(tmp_path: Path) -> None:
    service = await run(tmp_path, metrics=True)
    metrics = service.runtime.runner.observers.find(MetricsObserver)
    assert metrics is not None
    text = metrics.text()[0].decode()
    for line in (
        'codemode_executions_total{status="paused"} 1.0',
        'codemode_calls_total{source="shop",state="committed"} 1.0',
        'codemode_calls_total{source="shop",state="failed"} 1.0',
        'codemode_calls_total{source="shop",state="pending"} 1.0',
        "codemode_executions_running 0.0",
        "codemode_execution_seconds_count 1.0",
    ):
        assert line in text


async def test_nothing_is_counted_or_collected_unless_it_is_asked_for(tmp_path: Path) -> None:
    service = await run(tmp_path)
    assert service.runtime.runner.observers.find(MetricsObserver) is None


async def test_a_line_of_log_has_facts_and_no_payloads(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "codemode.executions"):
        await run(tmp_path)
    (record,) = [record for record in caplog.records if record.message == "execution ended"]
    line = json.loads(JsonFormatter().format(record))
    assert (line["level"], line["caller"], line["status"]) == ("info", "key:ann", "paused")
    assert line["calls"] == {"committed": 1, "failed": 1, "pending": 1}
    assert line["at"] == rfc3339(record.created * SECOND_US)
    assert "status=paused" in TextFormatter().format(record)
    assert SECRET not in caplog.text + json.dumps(line)
    assert "ordered tea" not in caplog.text + json.dumps(line)


def test_exceptions_stand_in_the_log() -> None:
    stream = io.StringIO()
    logger = logging.getLogger("tests.a-logger")
    logger.propagate = False
    for formatter in (JsonFormatter(), TextFormatter()):
        handler = logging.StreamHandler(stream)
        handler.setFormatter(formatter)
        logger.handlers = [handler]
        try:
            raise LookupError("gone")
        except LookupError:
            logger.exception("what happened")
    first, *rest = stream.getvalue().splitlines()
    assert "LookupError: gone" in json.loads(first)["exception"]
    assert rest[-1] == "LookupError: gone"
