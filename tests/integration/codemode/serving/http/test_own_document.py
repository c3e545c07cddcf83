"""codemode as a source of codemode: its own OpenAPI document is searched, and its operations are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode import CodeMode
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.integration.codemode.serving.http.conftest import Server


@pytest.fixture
async def service(server: Server, tmp_path: Path) -> AsyncIterator[CodeMode]:
    (tmp_path / "key").write_text(server.agent, encoding="utf-8")
    source = {
        "location": f"{server.url}/openapi.json",
        "base_url": server.url,
        "credentials": [{"kind": "bearer", "token": {"file": str(tmp_path / "key")}}],
    }
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    async with CodeMode.from_settings(Settings.model_validate({"sources": {"inner": source}, **folders})) as service:
        yield service


async def test_its_operations_have_good_names(service: CodeMode) -> None:
    names = {tool.id for tool in service.catalog.tools}
    assert {"inner.tools.search", "inner.executions.execute", "inner.executions.cancel_execution"} <= names


@pytest.mark.parametrize(
    ("query", "tool"),
    [
        ("run a program", "inner.executions.execute"),
        ("stop a running execution", "inner.executions.cancel_execution"),
        ("approve a call", "inner.approvals.decide"),
    ],
)
async def test_it_is_searched(service: CodeMode, query: str, tool: str) -> None:
    answer = await service.search(query)
    assert tool in [hit.tool.id for hit in answer.hits[:3]]


PROGRAM = """
found = inner.tools.search(queries=["freeze a membership"])
outcome = inner.executions.execute(code="gym.clients.get_clients_list(limit=1)['total'] > 100")
stored = inner.executions.get_execution(execution=outcome["id"])
events = inner.executions.stream_events(execution=outcome["id"])
[found["hits"][0]["id"], outcome["value"], stored["status"], [event["event"] for event in events]]
"""


async def test_it_calls_itself(service: CodeMode) -> None:
    outcome = await service.execute(PROGRAM)
    assert outcome.ok, outcome.failure
    assert outcome.value == [
        "gym.memberships.freeze_membership",
        True,
        "completed",
        ["call_started", "call_ended", "status"],
    ]


async def test_a_problem_of_the_inner_server_is_an_error_of_the_program(service: CodeMode) -> None:
    outcome = await service.execute("inner.tools.get_tool(name='gym.nothing')")
    assert outcome.failure is not None
    assert "404" in outcome.failure.message
    assert "there is no tool 'gym.nothing'" in outcome.failure.message
