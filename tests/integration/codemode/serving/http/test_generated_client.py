"""A typed client generated from the OpenAPI document by a tool of others, and calls with it."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.codemode.serving.http.conftest import Server

_BIN = Path(sys.executable).parent
_NAME = "generated_codemode_client"


class Generated:
    """The generated package, with one client for each key."""

    def __init__(self, server: Server) -> None:
        client = importlib.import_module(f"{_NAME}.client")
        self.models = importlib.import_module(f"{_NAME}.models")
        self.agent = client.AuthenticatedClient(base_url=server.url, token=server.agent, timeout=200)
        self.boss = client.AuthenticatedClient(base_url=server.url, token=server.boss, timeout=200)
        self.nobody = client.AuthenticatedClient(base_url=server.url, token="wrong", timeout=200)

    def call(self, tag: str, operation: str, *arguments: Any, client: Any = None, **named: Any) -> Any:
        """Call an operation, and return its typed result."""
        module = importlib.import_module(f"{_NAME}.api.{tag}.{operation}")
        return module.sync_detailed(*arguments, client=client or self.agent, **named)


@pytest.fixture(scope="module")
def package(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("client") / _NAME
    command = [str(_BIN / "openapi-python-client"), "generate", "--url", f"{server.url}/openapi.json"]
    environment = {**os.environ, "PATH": f"{_BIN}{os.pathsep}{os.environ['PATH']}"}  # noqa: TID251
    options = ["--output-path", str(folder), "--meta", "none", "--fail-on-warning"]
    made = subprocess.run([*command, *options], env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    yield folder


@pytest.fixture(scope="module")
def generated(package: Path, server: Server) -> Iterator[Generated]:
    sys.path.insert(0, str(package.parent))
    found = Generated(server)
    with found.agent, found.boss, found.nobody:
        yield found
    sys.path.remove(str(package.parent))


def test_the_client_is_typed(package: Path) -> None:
    program = """
from generated_codemode_client.api.executions import execute
from generated_codemode_client.client import AuthenticatedClient
from generated_codemode_client.models import AcceptedExecution, ExecuteRequest, Outcome, Problem

answer = execute.sync(client=AuthenticatedClient("http://localhost", "key"), body=ExecuteRequest("1 + 1"))
reveal_type(answer)
assert isinstance(answer, Outcome)
reveal_type(answer.pending[0].asked)
"""
    (package.parent / "program.py").write_text(program, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports=silent",
        "--cache-dir",
        ".cache",
        "program.py",
    ]
    checked = subprocess.run(command, cwd=package.parent, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    for name in ("AcceptedExecution", "Outcome", "Problem", "datetime.datetime"):
        assert name in checked.stdout


def test_tools_are_searched_and_read(generated: Generated) -> None:
    found = generated.call("tools", "search", body=generated.models.SearchRequest("freeze a membership")).parsed
    assert found.hits[0].id == "gym.memberships.freeze_membership"
    assert found.hits[0].effect == generated.models.Effect.WRITE
    tool = generated.call("tools", "get_tool", found.hits[0].id).parsed
    assert "clientId" in tool.documentation
    assert generated.call("tools", "list_tools", limit=3).parsed.total == 137
    assert [source.state for source in generated.call("tools", "list_sources").parsed.sources] == ["ready"]


def test_errors_are_typed_problems(generated: Generated) -> None:
    unknown = generated.call("tools", "get_tool", "gym.memberships.freeze_memberships")
    assert isinstance(unknown.parsed, generated.models.Problem)
    assert (unknown.status_code, unknown.parsed.code) == (404, "tool_not_found")
    assert unknown.parsed.nearest[0] == "gym.memberships.freeze_membership"
    assert unknown.parsed.type_.endswith("/errors.md#tool_not_found")
    rejected = generated.call("executions", "list_executions", client=generated.nobody)
    assert (rejected.status_code, rejected.parsed.code) == (401, "unauthorized")
    invalid = generated.call("tools", "search", body=generated.models.SearchRequest([]))
    assert (invalid.status_code, invalid.parsed.code, invalid.parsed.errors[0].at) == (
        422,
        "request_invalid",
        "body.queries",
    )


def test_a_program_runs_waits_for_a_person_and_goes_on(generated: Generated) -> None:
    models = generated.models
    done = generated.call("executions", "execute", body=models.ExecuteRequest("print('hi')\n1 + 1")).parsed
    assert (done.status, done.value, done.output) == ("completed", 2, "hi\n")
    program = models.ExecuteRequest("gym.core.get_gym_info()['name']")
    paused = generated.call("executions", "execute", body=program, idempotency_key="one").parsed
    (asked,) = paused.pending
    assert (paused.status, asked.tool, asked.asked.utcoffset().total_seconds()) == (
        "paused",
        "gym.core.get_gym_info",
        0,
    )
    repeated = generated.call("executions", "execute", body=models.ExecuteRequest("2"), idempotency_key="one")
    assert (repeated.status_code, repeated.parsed.code) == (422, "request_conflict")

    waiting = generated.call("approvals", "list_approvals", client=generated.boss).parsed.approvals
    assert [call.id for call in waiting] == [asked.id]
    decision = models.DecisionRequest(asked.digest, models.DecisionRequestVerdict.APPROVED)
    refused = generated.call("approvals", "decide", asked.id, body=decision)
    assert (refused.status_code, refused.parsed.code) == (403, "approval_forbidden")
    decided = generated.call("approvals", "decide", asked.id, client=generated.boss, body=decision).parsed
    assert (decided.approvals[0].verdict, decided.executions[paused.id].reason) == ("approved", "")
    again = generated.call("approvals", "decide", asked.id, client=generated.boss, body=decision)
    assert (again.status_code, again.parsed.code) == (409, "approval_refused")

    events = generated.call("executions", "stream_events", paused.id).parsed
    assert events.splitlines()[-3:-1] == ["event: status", f"data: {events.rpartition('data: ')[2].strip()}"]
    ended = generated.call("executions", "get_execution", paused.id).parsed
    assert (ended.status, ended.outcome.value) == ("completed", "Northlight Fitness")
    assert ended.started <= ended.ended
    assert paused.id in [one.id for one in generated.call("executions", "list_executions").parsed.executions]


def test_a_program_in_the_background_is_accepted_and_cancelled(generated: Generated) -> None:
    program = generated.models.ExecuteRequest("gym.core.get_gym_info()", wait_s=0)
    begun = generated.call("executions", "execute", body=program)
    assert begun.status_code == 202
    assert isinstance(begun.parsed, generated.models.AcceptedExecution)
    assert begun.headers["location"] == f"/v1/executions/{begun.parsed.id}"
    cancelled = generated.call("executions", "cancel_execution", begun.parsed.id).parsed
    assert (cancelled.status, cancelled.outcome.status) == ("cancelled", "cancelled")
    assert isinstance(cancelled.outcome.usage, generated.models.Usage)


def test_the_state_of_the_server_is_typed(generated: Generated, server: Server) -> None:
    assert generated.call("health", "get_health").parsed.tools == 137
    assert generated.call("health", "get_readiness").parsed.status == "ok"
    index = generated.call("health", "get_index").parsed
    with urllib.request.urlopen(server.url + index.docs) as page:
        assert page.status == 200
