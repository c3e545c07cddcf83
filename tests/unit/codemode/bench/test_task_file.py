"""Files of tasks are read whole or rejected, and an answer is compared with a value as people write it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codemode.bench.task_file import read_tasks, tells
from codemode.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(
    ("text", "value", "told"),
    [
        ("It comes to 60,924.17 euro", 60924.17, True),
        ("60 924.17 EUR", 60924.17, True),
        ("about 60,924", 60924.17, False),
        ("There are 18.", 18, True),
        ("There are 180.", 18, False),
        ("1, 2 and 3", 2, True),
        ("The trainer is CLARA  Costa", "Clara Costa", True),
        ("Clara", "Clara Costa", False),
        ("minus -3 points", -3, True),
    ],
)
def test_an_answer_tells_a_value_in_any_notation(text: str, value: Any, told: bool) -> None:
    assert tells(text, value) is told


def wrong_files() -> Iterator[tuple[str, str]]:
    yield "hello", "tasks.yaml: expected a mapping with a list of `tasks`"
    yield "tasks: []", "line 1: tasks: Tuple should have at least 1 item"
    yield "tasks: [{id: a, message: b}]", "line 1: tasks.0: set expect, answer or check"
    yield "tasks: [{id: a, message: b, check: x}, {id: a, message: b, check: x}]", "more than one task has the id a"
    yield (
        "tasks:\n- message: b\n  chek: x",
        "line 3: tasks.0.chek: unknown key; did you mean 'check'? valid: answer, check, ",
    )
    yield "taks:\n- message: b", "line 1: taks: unknown key; did you mean 'tasks'? valid: modes, surface, tasks"
    yield "{", "are not YAML"


@pytest.mark.parametrize(("text", "said"), [*wrong_files()])
def test_a_file_of_tasks_is_read_whole_or_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "tasks.yaml"
    file.write_text(text)
    with pytest.raises(ConfigurationError) as raised:
        read_tasks(file)
    assert said in str(raised.value)


def test_the_page_of_agents_begins_with_a_file_of_tasks_for_the_example(tmp_path: Path) -> None:
    page = (Path(__file__).parents[4] / "docs" / "benchmarks" / "agents.md").read_text(encoding="utf-8")
    text = page.split("```")[1].removeprefix("text\n")
    (tmp_path / "tasks.yaml").write_text(text)
    tasks = read_tasks(tmp_path / "tasks.yaml")
    assert (len(text.splitlines()), tasks.surface, tasks.modes) == (9, "gym", ("deferred", "code"))
    assert len(tasks.tasks) == 3
