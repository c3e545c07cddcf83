"""`codemode serve` that is told to stop: what it has is closed, and what it has to tell is told."""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.integration.codemode.executions.upstream import document, place
from tests.integration.codemode.serving.served import serving
from tests.unit.codemode.transports.sockets import listening

MISBEHAVING = Path(__file__).parents[3] / "unit" / "codemode" / "sources" / "misbehaving_server.py"
SECRET = "hunter2-hunter2"
PROGRAM = f"""
shop.order(sku="tea", password="{SECRET}")
try:
    shop.refuse()
except ToolError:
    print("refused")
"""


class Collector:
    """Takes spans by OTLP over HTTP; with `hangs` it never answers."""

    def __init__(self, *, hangs: bool = False) -> None:
        self.texts: list[str] = []
        self.spans: dict[str, Any] = {}
        self._hangs = hangs

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        body = await reader.readexactly(int(headers["content-length"]))
        request = ExportTraceServiceRequest()
        request.ParseFromString(gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body)
        self.texts.append(str(request))
        for of_resource in request.resource_spans:
            for of_scope in of_resource.scope_spans:
                self.spans |= {span.span_id: span for span in of_scope.spans}
        if self._hangs:
            await reader.read()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def traced(port: int) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}"}


SECTIONS = {"sources": {"shop": {"location": "python:tools"}}, "observe": {"traces": True}}


async def test_a_server_that_stops_closes_its_mcp_servers(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    sources = {"bad": {"command": [sys.executable, str(MISBEHAVING), str(heard)]}}
    async with serving(tmp_path, {}, sources=sources) as http:
        assert (await http.post("/v1/execute", json={"code": "bad.plain()"})).json()["value"] == "plain"
    assert heard.read_text().splitlines()[-1] == "input closed"


async def test_the_last_spans_are_sent_and_stand_as_the_calls_did(tmp_path: Path) -> None:
    collector = Collector()
    async with (
        listening(collector.answer) as port,
        serving(tmp_path, traced(port), **SECTIONS) as http,
    ):
        ended = (await http.post("/v1/execute", json={"code": PROGRAM})).json()
        assert ended["status"] == "completed", ended
    (execution,) = (span for span in collector.spans.values() if span.name == "codemode.execution")
    calls = [span for span in collector.spans.values() if span.name == "codemode.call"]
    assert {call.parent_span_id for call in calls} == {execution.span_id}
    told = [{one.key: one.value.string_value for one in call.attributes} for call in calls]
    assert sorted((one["codemode.tool"], one["codemode.state"]) for one in told) == [
        ("shop.order", "committed"),
        ("shop.refuse", "failed"),
    ]
    facts = {one.key: one.value.string_value for one in execution.attributes}
    assert (facts["codemode.execution.id"], facts["codemode.status"]) == (ended["id"], "completed")
    assert SECRET not in "".join(collector.texts)
    assert "tea" not in "".join(collector.texts)


async def test_a_collector_that_never_answers_holds_up_neither_programs_nor_the_end(tmp_path: Path) -> None:
    collector = Collector(hangs=True)
    async with (
        listening(collector.answer) as port,
        serving(tmp_path, traced(port) | {"OTEL_BSP_SCHEDULE_DELAY": "10"}, **SECTIONS) as http,
    ):
        for _ in range(3):
            assert (await http.post("/v1/execute", json={"code": PROGRAM})).json()["status"] == "completed"
    assert collector.texts


async def test_who_waits_when_the_server_stops_is_told_what_becomes_of_his_program(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        here = await stack.enter_async_context(place(tmp_path))
        here.upstream.hold("/post")
        (tmp_path / "x.json").write_text(json.dumps(document()))
        up = {"location": "x.json", "base_url": f"http://127.0.0.1:{here.port}"}
        async with serving(tmp_path, {}, sources={"up": up}, server={"drain_s": 0}) as http:
            client = await stack.enter_async_context(httpx2.AsyncClient(base_url=http.base_url, timeout=200))
            waiting = asyncio.create_task(client.post("/v1/execute", json={"code": "up.x.post(n=1)"}))
            kept = asyncio.create_task(client.post("/v1/execute", json={"code": "up.x.post(n=2)", "wait_s": 50}))
            await here.upstream.wait_for(2)
        answer, later = await waiting, await kept
        assert (answer.status_code, answer.json()["code"]) == (503, "stopping")
        assert (later.status_code, later.json()["status"]) == (202, "running")
        async with serving(tmp_path, {}, sources={"up": up}) as http:
            status = "running"
            while status == "running":
                status = (await http.get(later.headers["location"])).json()["status"]
            assert status == "paused"  # whether it was done is for a person to say
            known = (await http.get("/v1/executions")).json()["executions"]
            assert sorted(one["status"] for one in known) == ["cancelled", "paused"]
    assert sorted(here.upstream.seen) == ["POST /post?n=1", "POST /post?n=2"]
