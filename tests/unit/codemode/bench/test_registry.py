"""Suites and their tasks are found by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.bench.registry import chosen_tasks, suite_of
from codemode.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

OWN = """
class Own:
    name = "own"
    def tasks(self):
        return []
other = 1
"""


def test_the_bundled_gym_has_tasks_by_id_and_by_number() -> None:
    gym = suite_of("gym")
    assert [task.id for task in chosen_tasks(gym, "dark-theme")] == ["dark-theme"]
    assert len(chosen_tasks(gym, "3")) == 3
    assert len(chosen_tasks(gym, "")) == len(gym.tasks())


def test_an_unknown_task_is_rejected_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="dark-theme"):
        chosen_tasks(suite_of("gym"), "dark-them")


def test_an_unknown_suite_is_rejected_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="agentdojo"):
        suite_of("agentdoj")


def test_a_suite_of_ones_own_is_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN, encoding="utf-8")
    assert suite_of(f"{file}:Own").name == "own"
    with pytest.raises(ConfigurationError, match="is not a suite"):
        suite_of(f"{file}:other")
