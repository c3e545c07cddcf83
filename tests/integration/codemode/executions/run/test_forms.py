"""`operation.response(…)` and `operation.result(…)`, in the sandbox, against a service, and from the journal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codemode.executions.types.records import Decision
from codemode.features.rollback.rollback import Rollbacks
from codemode.gateway.call import CallState
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, Upstream, document
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator
    from pathlib import Path


class Orders(Upstream):
    """`POST /post` makes an order, `PUT /put` begins an export that is done at the second look at its status."""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, *_ = head.split()
        self.seen.append(f"{method} {target}")
        status, headers, value = self._answer(target.partition("?")[0])
        body = json.dumps(value).encode()
        headers += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        writer.write(f"HTTP/1.1 {status}\r\n{headers}\r\n".encode() + body)

    def _answer(self, path: str) -> tuple[str, str, Any]:
        match path:
            case "/post":
                return "201 Created", 'Location: /orders/7\r\nETag: "v1"\r\nSet-Cookie: sid=1\r\n', {"id": 7}
            case "/put":
                return "202 Accepted", "Location: /status\r\nRetry-After: 0\r\n", {}
            case "/status":
                state = "running" if self.seen.count("GET /status") == 1 else "succeeded"
                return "200 OK", "Retry-After: 0\r\n", {"status": state}
            case _:
                return "200 OK", "", {"path": path}


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    upstream = Orders()
    async with listening(upstream.answer) as port:
        yield Place(tmp_path, upstream, port)


def _declared() -> dict[str, Any]:
    declared = document()
    declared["paths"]["/post"]["post"]["responses"] = {"201": {"description": "", "headers": {"Location": {}}}}
    return declared


async def test_a_program_reads_status_headers_and_value(here: Place) -> None:
    async with here.service() as service:
        outcome = await service.execute(
            "r = up.x.post.response(n=1)\n[r.status, r.headers.etag, r.value.id, r.headers]"
        )
    assert outcome.value[:3] == [201, '"v1"', 7], outcome.failure
    assert "set-cookie" not in outcome.value[3]
    assert [(call.path, call.tool, str(call.state)) for call in outcome.calls] == [
        ("1/response", "up.x.post", "committed")
    ]


async def test_work_that_goes_on_is_waited_for_and_its_status_is_a_read(here: Place) -> None:
    async with here.service() as service:
        outcome = await service.execute("up.x.put.result(n=1, wait_s=30)")
        alone = await service.execute("up.x.post.result(n=1)")
    assert outcome.value == {"status": "succeeded"}, outcome.failure
    assert [(call.path, str(call.effect), str(call.state)) for call in outcome.calls] == [
        ("1/response", "write", "committed"),
        ("1/result", "read", "read"),
    ]
    assert here.upstream.seen[:3] == ["PUT /put?n=1", "GET /status", "GET /status"]
    assert alone.value == {"id": 7}


async def test_whole_answers_come_from_the_journal_after_a_decision(here: Place) -> None:
    code = "r = up.x.post.response(n=1)\nj = up.x.put.result(n=2)\nup.x.drop(n=3)\n[r.headers.location, j.status]"
    async with here.service() as service:
        paused = await service.execute(code, caller=OWNER)
        (question,) = await service.executions.approvals(APPROVER)
        await service.executions.decide([Decision(question.id, question.digest, "approved", by="")], APPROVER)
        await service.executions.resume(paused.id, OWNER)
        stored = await service.executions.wait(paused.id, OWNER, 30)
    assert paused.status == "paused"
    assert stored.outcome is not None
    assert stored.outcome["value"] == ["/orders/7", "succeeded"]
    sent = ["POST /post?n=1", "PUT /put?n=2", "GET /status", "GET /status", "DELETE /drop?n=3"]
    assert here.upstream.seen == sent


async def test_the_policy_rules_on_the_call_whatever_its_form(here: Place) -> None:
    denied = {"policy": {"rules": [{"tools": "up.x.post", "where": {"n": 1}, "decision": "deny"}]}}
    async with here.service(**denied) as service:
        outcome = await service.execute("up.x.post.response(n=1)")
    assert outcome.calls, outcome.failure
    assert (outcome.calls[0].state, here.upstream.seen) == (CallState.DENIED, [])


async def test_a_dry_run_lists_the_write_and_names_its_headers(here: Place) -> None:
    code = "r = up.x.post.response(n=1)\nup.x.put.result(n=2)\n[r.headers.location, r.value]"
    async with here.service(document=_declared()) as service:
        outcome = await service.execute(code, dry_run=True)
    assert outcome.value[0] == "<headers.location of up.x.post #1>", outcome.failure
    assert [call.tool for call in outcome.planned] == ["up.x.post", "up.x.put"]
    assert here.upstream.seen == []


async def test_a_rollback_undoes_a_write_of_any_form(here: Place) -> None:
    source = {"revert": {"post": "x.drop(n=result.id)"}}
    async with here.service(source=source, policy={"default": {"destructive": "allow"}}) as service:
        done = await service.execute("up.x.post.response(n=1)", caller=OWNER)
        rollback = await service.part(Rollbacks).start(done.id, OWNER)
    assert [(step.tool, step.arguments) for step in rollback.steps] == [("up.x.drop", {"n": 7})]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("up.x.post.response(m=1)", "no parameter 'm'"),
        ("up.x.put.result(wait_s=0.5, m=1)", "no parameter 'm'"),
        ("up.x.put.result(wait_s=-1)", "wait_s must be a number of seconds from 0 to 3,600"),
    ],
)
async def test_mistakes_are_told(here: Place, code: str, said: str) -> None:
    async with here.service() as service:
        outcome = await service.execute(code)
    assert outcome.failure is not None
    assert said in str(outcome.failure)
    assert here.upstream.seen == []
