from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ConfigurationError
from codemode.serving.agent.evaluation import read_tasks, tells
from codemode.testing.model_server import Say, Seen
from tests.command_line import codemode
from tests.model_service import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

TASKS = Path(str(files("api_specs") / "gym" / "tasks.yaml"))


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def solves(seen: Seen) -> Say:
    """A model that knows the programs of the tasks, and how to be asked for them in each mode."""
    task = next(task for task in read_tasks(TASKS).tasks if task.message.strip() == seen.message.strip())
    if seen.answers:
        return Say(f"It is done: {seen.answers[-1].text}")
    return Say(calls=[("execute", {"code": task.solution or task.answer})])


def test_the_tasks_of_the_gym_can_be_done_and_are_not_done_by_talking() -> None:
    with serving(solves) as server:
        to_model = ("--model", "scripted", "--model-url", server.base_url, "--json")
        ended = codemode("eval", str(TASKS), "--mode", "code", *to_model, OPENAI_API_KEY=server.key)
    assert ended.returncode == 0, ended.stderr
    (done,) = json.loads(ended.stdout)
    assert [attempt["why"] for attempt in done["attempts"]] == [""] * len(done["attempts"])
    assert (done["success"], done["turns"]) == (1.0, 2.0)
    assert done["tokens"] > 100

    with serving(lambda _: Say("I have done it; it is 1, or 2.")) as server:
        to_model = ("--model", "scripted", "--model-url", server.base_url, "--json")
        ended = codemode("eval", str(TASKS), "--mode", "code,menu", *to_model, OPENAI_API_KEY=server.key)
    assert ended.returncode == 0, ended.stderr
    assert [one["success"] for one in json.loads(ended.stdout)] == [0.0, 0.0]


def test_137_native_tools_are_what_the_service_refuses() -> None:
    with serving(solves) as server:
        to_model = ("--model", "scripted", "--model-url", server.base_url)
        ended = codemode("eval", str(TASKS), "--mode", "native", *to_model, OPENAI_API_KEY=server.key)
    assert ended.returncode == 1
    assert "array too long. Expected an array with maximum length 128, but got an array with length 137" in ended.stdout


def test_a_mode_that_there_is_not(tmp_path: Path) -> None:
    ended = codemode("eval", str(TASKS), "--mode", "code,nativ", "--model", "m")
    assert ended.returncode == 2
    assert "'nativ' is not one of code, hybrid, menu, native, off; did you mean 'native'?" in ended.stderr


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
    yield "tasks: []", "tasks: Tuple should have at least 1 item"
    yield "tasks: [{id: a, message: b}]", "tasks.0: Value error, set answer, check, or both"
    yield "tasks: [{id: a, message: b, check: x}, {id: a, message: b, check: x}]", "more than one task has the id a"
    yield "tasks: [{id: a, mesage: b, check: x}]", "tasks.0.mesage: Extra inputs are not permitted"
    yield "{", "are not YAML"


@pytest.mark.parametrize(("text", "said"), [*wrong_files()])
def test_a_file_of_tasks_is_read_whole_or_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "tasks.yaml"
    file.write_text(text)
    with pytest.raises(ConfigurationError) as raised:
        read_tasks(file)
    assert said in str(raised.value)
