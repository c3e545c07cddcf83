"""A model behind an endpoint plays tasks in the agent's modes, and keeps the conversation between turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.bench.players import AgentPlayer
from codemode.bench.runner import run_task
from codemode.settings import AgentSettings, SecretReference
from codemode.testing.model_server import ModelServer, Reply
from tests.integration.codemode.bench.counter import counter

if TYPE_CHECKING:
    from codemode.settings import AgentMode
    from codemode.testing.model_server import ModelRequest


def script(seen: ModelRequest) -> Reply:
    assert "Count well." in seen.system
    users = sum(one["role"] == "user" for one in seen.messages)
    if seen.answers:
        return Reply(f"now {users}", usage=(100, 10))
    if "execute" in seen.tools:
        return Reply(calls=[("execute", {"code": "counter.add(number=1)"})], usage=(100, 10))
    (name,) = seen.tools
    return Reply(calls=[(name, {"number": 1})], usage=(100, 10))


@pytest.mark.parametrize("mode", ["code", "native"])
async def test_a_model_plays_a_task_of_two_turns(mode: AgentMode, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer(script) as server:
        monkeypatch.setenv("BENCH_KEY", server.key)
        settings = AgentSettings.model_validate(
            {"model": "m", "base_url": server.base_url, "mode": mode, "api_key": SecretReference(env="BENCH_KEY")}
        )
        result = await run_task("tiny", counter(), AgentPlayer(settings))
    assert result.solved, result
    assert (result.model, result.mode, result.tokens) == ("m", mode, 440)
    assert [turn.requests for turn in result.turns] == [2, 2]
    assert "number" in result.turns[0].steps[0].program
