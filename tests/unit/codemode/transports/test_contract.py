"""The contract of transports with their `CallContext`: nothing is sent before `before_send` returns."""

from __future__ import annotations

import json
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

import botocore.session
import mcp_types
import pytest
from mcp.server import Server

from codemode import testing, transports
from codemode.catalog.tool import Effect
from codemode.errors import UpstreamUnreachable
from codemode.sources.openapi.document import load_openapi
from codemode.testing import RecordingTransport, make_tool
from codemode.transports.absent import AbsentTransport
from codemode.transports.auth.account import READER, Account
from codemode.transports.auth.requirements import Authentication
from codemode.transports.aws import AwsInvocation, AwsReach, AwsTransport
from codemode.transports.base import CallContext
from codemode.transports.connected import ConnectedTransport
from codemode.transports.function import FunctionInvocation, FunctionTransport
from codemode.transports.graphql import FieldInvocation, GraphqlTransport
from codemode.transports.http.deferred import DeferredTransport
from codemode.transports.http.transport import HttpTransport, Reach
from codemode.transports.mcp.transport import McpTransport
from tests.unit.codemode.transports.recorder import Answered, Recorder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from codemode.catalog.tool import Tool
    from codemode.transports.base import Transport

    Happenings = list[str]
    Build = Callable[[Recorder, Happenings], tuple[Transport, Tool]]

_OPERATION = load_openapi({"openapi": "3.1.0", "paths": {"/x": {"post": {"operationId": "op"}}}}, name="api").tools[0]


def _http(recorder: Recorder, _: Happenings) -> tuple[Transport, Tool]:
    return HttpTransport(Reach("api", recorder.url)), _OPERATION


def _deferred(recorder: Recorder) -> DeferredTransport:
    return DeferredTransport(
        "api",
        lambda: Authentication.none("api"),
        lambda authentication: HttpTransport(Reach("api", recorder.url), authentication=authentication),
    )


def _opened_later(recorder: Recorder, _: Happenings) -> tuple[Transport, Tool]:
    return _deferred(recorder), _OPERATION


def _connected(recorder: Recorder, _: Happenings) -> tuple[Transport, Tool]:
    async def open_(_: Account) -> Transport:
        return _deferred(recorder)

    return ConnectedTransport("api", open_), _OPERATION


def _graphql(recorder: Recorder, _: Happenings) -> tuple[Transport, Tool]:
    tool = make_tool("api.freeze", effect=Effect.WRITE, invocation=FieldInvocation("mutation", "freeze", {}))
    return GraphqlTransport("api", _deferred(recorder), "/graphql"), tool


def _aws(recorder: Recorder, _: Happenings) -> tuple[Transport, Tool]:
    session = botocore.session.Session()
    session.set_credentials("AKIAEXAMPLE", "a-secret")
    tool = make_tool("aws.sqs.list", effect=Effect.WRITE, invocation=AwsInvocation("sqs", "ListQueues"))
    return AwsTransport(session, AwsReach("aws", "eu-central-1", endpoint=recorder.url)), tool


def _function(_: Recorder, happenings: Happenings) -> tuple[Transport, Tool]:
    def work() -> None:
        happenings.append("sent")

    tool = make_tool("here.work", effect=Effect.WRITE, invocation=FunctionInvocation(work))
    return FunctionTransport("here"), tool


def _mcp(_: Recorder, happenings: Happenings) -> tuple[Transport, Tool]:
    async def listed(*_: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=[mcp_types.Tool(name="work", input_schema={"type": "object"})])

    async def called(*_: Any) -> mcp_types.CallToolResult:
        happenings.append("sent")
        return mcp_types.CallToolResult(content=[mcp_types.TextContent(text="done")])

    server: Server[Any] = Server("example", on_list_tools=listed, on_call_tool=called)
    tool = make_tool("example.work", effect=Effect.WRITE, invocation="work")
    return McpTransport("example", lambda _: server), tool  # type: ignore[arg-type, return-value]


def _recording(_: Recorder, happenings: Happenings) -> tuple[Transport, Tool]:
    return RecordingTransport(lambda *_: happenings.append("sent")), make_tool("fake.work", effect=Effect.WRITE)


@pytest.fixture(params=[_http, _opened_later, _connected, _graphql, _aws, _function, _mcp, _recording])
async def built(
    request: pytest.FixtureRequest, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Transport, Tool, Happenings]]:
    """Return a transport, a write for it, and the list to which each send appends."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    happenings: Happenings = []

    def answer(_: Any) -> Answered:
        happenings.append("sent")
        return Answered(body=json.dumps({"data": {"freeze": None}}).encode())

    recorder.answer = answer
    build: Build = request.param
    transport, tool = build(recorder, happenings)
    if isinstance(transport, McpTransport):
        await transport.start()
    yield transport, tool, happenings
    await transport.aclose()


async def test_the_hook_returns_before_the_call_is_sent(built: tuple[Transport, Tool, Happenings]) -> None:
    transport, tool, happenings = built

    async def before_send() -> None:
        happenings.append("before")

    await transport.call(tool, {}, CallContext(account=READER, before_send=before_send))
    assert happenings == ["before", "sent"]


async def test_nothing_is_sent_if_the_hook_raises(built: tuple[Transport, Tool, Happenings]) -> None:
    transport, tool, happenings = built

    async def before_send() -> None:
        message = "another server has the execution"
        raise PermissionError(message)

    with pytest.raises(PermissionError, match="another server has the execution"):
        await transport.call(tool, {}, CallContext(account=READER, before_send=before_send))
    assert happenings == []


async def test_a_transport_says_whether_its_service_takes_keys(built: tuple[Transport, Tool, Happenings]) -> None:
    transport, _, _ = built
    assert transport.idempotency_header == ""


async def test_a_source_that_is_absent_sends_nothing() -> None:
    happenings: Happenings = []

    async def before_send() -> None:
        happenings.append("before")

    transport: Transport = AbsentTransport("api", "it could not be loaded")
    for call in (transport.call, transport.call_page):
        with pytest.raises(UpstreamUnreachable, match="it could not be loaded"):
            await call(_OPERATION, {}, CallContext(account=READER, before_send=before_send))
    assert happenings == []


def test_every_transport_is_checked_here() -> None:
    """A new transport fails this test until it has an entry above."""
    modules = [import_module(one.name) for one in walk_packages(transports.__path__, f"{transports.__name__}.")]
    found = {name for one in (*modules, testing) for name, kind in vars(one).items() if hasattr(kind, "call_page")}
    checked = {
        AbsentTransport,
        AwsTransport,
        ConnectedTransport,
        DeferredTransport,
        FunctionTransport,
        GraphqlTransport,
    }
    checked |= {HttpTransport, McpTransport, RecordingTransport}
    assert found - {"Transport", "AnsweringTransport"} == {kind.__name__ for kind in checked}
