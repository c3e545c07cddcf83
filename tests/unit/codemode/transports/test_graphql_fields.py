"""Default fields that answered with an error, and results beside errors in unions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from graphql import build_schema

from codemode.errors import UpstreamError
from codemode.sources.graphql.source import _surface
from codemode.transports.auth.requirements import Authentication
from codemode.transports.base import CallContext
from codemode.transports.graphql import GraphqlTransport
from codemode.transports.graphql_fields import failed_paths, without_fields
from codemode.transports.http.deferred import DeferredTransport
from codemode.transports.http.transport import HttpTransport, Reach
from tests.unit.codemode.transports.recorder import Answered

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from tests.unit.codemode.transports.recorder import Received, Recorder

SDL = """
type Query { me: User, runsOrError(first: Int): RunsOrError }
type User { id: ID, email: String, orders: [Order] }
type Order { id: ID, total: Int }
union RunsOrError = Runs | AuthError | RunsNotFound
type Runs { results: [Order], count: Int }
type AuthError { message: String }
type RunsNotFound { reason: String }
"""


def test_fields_are_left_out_by_their_paths() -> None:
    selection = "id email buyer: user { id name } ... on Order { total lines { sku } }"
    paths = frozenset({("email",), ("buyer", "name"), ("lines", "sku")})
    assert " ".join(without_fields(selection, paths).split()) == "id buyer: user { id } ... on Order { total }"
    assert without_fields("id", frozenset({("id",)})) == ""


@pytest.mark.parametrize(
    ("errors", "paths"),
    [
        ([{"path": ["me", "email"]}], {("email",)}),
        ([{"path": ["me", "orders", 0, "total"]}, {"path": ["me", "email"]}], {("orders", "total"), ("email",)}),
        ([{"path": ["me"]}], set()),
        ([{"path": ["me", "email"]}, {"message": "down"}], set()),
        ([{"path": ["other", "email"]}], set()),
        ("x", set()),
    ],
)
def test_only_errors_below_the_field_blame_its_fields(errors: Any, paths: set[Any]) -> None:
    assert failed_paths(errors, ("me",)) == paths


def _tool(name: str) -> Tool:
    tools = _surface("shop", build_schema(SDL), "", {}).tools
    return next(tool for tool in tools if tool.path == f"queries.{name}")


def _transport(recorder: Recorder, answers: list[Any]) -> tuple[GraphqlTransport, list[str]]:
    asked: list[str] = []

    def answer(received: Received) -> Answered:
        asked.append(json.loads(received.body)["query"])
        body = json.dumps(answers[min(len(asked), len(answers)) - 1]).encode()
        return Answered(200, {"Content-Type": "application/json"}, body)

    recorder.answer = answer
    http = DeferredTransport(
        "shop",
        lambda: Authentication("shop"),
        lambda used: HttpTransport(Reach("shop", recorder.url), authentication=used),
    )
    return GraphqlTransport("shop", http, "/graphql"), asked


async def test_a_default_field_that_answered_with_an_error_is_left_out_afterwards(recorder: Recorder) -> None:
    denied = {"data": {"me": {"id": "1", "email": None}}, "errors": [{"message": "no", "path": ["me", "email"]}]}
    transport, asked = _transport(recorder, [denied, {"data": {"me": {"id": "1"}}}])
    notes: list[str] = []
    context = CallContext(owner="a", on_note=notes.append)
    with pytest.raises(UpstreamError, match=r"me\.email: no"):
        await transport.call(_tool("me"), {}, context)
    assert await transport.call(_tool("me"), {}, context) == {"id": "1"}
    assert ["email" in query for query in asked] == [True, False]
    assert notes == [
        "shop.queries.me left out email, which answered with an error; fields='…' asks for it",
    ]
    await transport.call(_tool("me"), {"fields": "email"}, context)
    await transport.call(_tool("me"), {}, CallContext(owner="b"))
    assert ["email" in query for query in asked[2:]] == [True, True]
    await transport.aclose()


async def test_a_result_beside_errors_is_selected_whole(recorder: Recorder) -> None:
    runs = {"__typename": "Runs", "results": [{"id": "1", "total": 2}], "count": 1}
    transport, asked = _transport(recorder, [{"data": {"runsOrError": runs}}])
    tool = _tool("runs_or_error")
    assert await transport.call(tool, {}, CallContext()) == runs
    assert "... on Runs { results { id total } count }" in asked[0]
    assert "... on RunsNotFound { reason }" in asked[0]
    assert tool.returns is not None
    assert {"results", "count"} <= tool.returns.properties().keys()
    await transport.aclose()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"__typename": "AuthError", "message": "log in"}, "shop: AuthError: log in"),
        ({"__typename": "RunsNotFound", "reason": "gone"}, "shop: RunsNotFound: {'reason': 'gone'}".replace("'", '"')),
    ],
)
async def test_an_error_beside_a_result_is_raised(recorder: Recorder, value: dict[str, Any], says: str) -> None:
    transport, _ = _transport(recorder, [{"data": {"runsOrError": value}}])
    with pytest.raises(UpstreamError) as raised:
        await transport.call(_tool("runs_or_error"), {}, CallContext())
    assert (str(raised.value), raised.value.body) == (says, value)
    assert await transport.call(_tool("runs_or_error"), {"fields": "__typename"}, CallContext()) == value
    await transport.aclose()
