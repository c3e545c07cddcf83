from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ConfigurationError
from codemode.serving.agent.attempt_file import AttemptFile
from codemode.serving.agent.evaluation import Attempt, read_tasks, tells
from codemode.testing.model_server import Say, Seen
from tests.command_line import codemode
from tests.model_service import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.testing.model_server import ModelServer

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


def test_the_tasks_of_the_gym_can_be_done() -> None:
    with serving(solves) as server:
        to_model = ("--model", "scripted", "--model-url", server.base_url, "--json")
        ended = codemode("eval", str(TASKS), "--mode", "code", *to_model, OPENAI_API_KEY=server.key)
    assert ended.returncode == 0, ended.stderr
    (done,) = json.loads(ended.stdout)
    assert [attempt["why"] for attempt in done["attempts"]] == [""] * len(done["attempts"])
    assert (done["success"], done["turns"]) == (1.0, 2.0)
    assert done["tokens"] > 100


def test_a_task_is_not_done_by_talking(tmp_path: Path) -> None:
    text = TASKS.read_text(encoding="utf-8")
    file = tmp_path / "tasks.yaml"
    file.write_text(text[: text.index("  - id: leaders")])
    with serving(lambda _: Say("I have done it; it is 1, or 2.")) as server:
        to_model = ("--model", "scripted", "--model-url", server.base_url, "--json")
        ended = codemode("eval", str(file), "--mode", "code,menu", *to_model, OPENAI_API_KEY=server.key)
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
    assert "'nativ' is not one of code, hybrid, menu, native, off, auto; did you mean 'native'?" in ended.stderr


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


def agent_file(folder: Path, server: ModelServer) -> Path:
    """A configuration file with nothing but the section `agent`."""
    (folder / "key").write_text(server.key)
    agent = {"model": "of-the-file", "base_url": server.base_url, "api_key": {"file": str(folder / "key")}}
    file = folder / "agent.yaml"
    file.write_text(json.dumps({"agent": {**agent, "instructions": "Be brief."}}))
    return file


def two_tasks(folder: Path) -> Path:
    file = folder / "tasks.yaml"
    file.write_text(
        "surface: gym\n"
        "tasks:\n"
        "  - {id: first, message: one, check: 'True'}\n"
        "  - {id: second, message: two, check: 'False'}\n"
    )
    return file


def test_the_agent_section_of_the_file_applies_to_an_example_service(tmp_path: Path) -> None:
    with serving(lambda _: Say("ok")) as server:
        file = agent_file(tmp_path, server)
        ended = codemode("eval", str(two_tasks(tmp_path)), "--mode", "code", "-c", str(file))
        assert {seen.body["model"] for seen in server.seen} == {"of-the-file"}
        assert all("Be brief." in seen.system for seen in server.seen)
    assert ended.returncode == 0, ended.stderr
    first, second = ended.stderr.splitlines()
    assert first.startswith("code 1/2 first: done (1 turn, ")
    assert second.startswith("code 2/2 second: not done (1 turn, ")


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    ended = codemode("eval", str(two_tasks(tmp_path)), "-c", str(tmp_path / "no.yaml"), "--model", "m")
    assert ended.returncode == 2
    assert "cannot read the configuration" in ended.stderr


def test_an_interrupted_evaluation_is_continued(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with serving(lambda _: Say("ok")) as server:
        given = ("-c", str(agent_file(tmp_path, server)), "--results", str(results))
        run = ("eval", str(two_tasks(tmp_path)), "--mode", "code", *given, "--json")
        whole = codemode(*run)
        lines = results.read_text().splitlines()
        assert [json.loads(line)["task"] for line in lines] == ["first", "second"]
        assert len(server.seen) == 2
        results.write_text(f"{lines[0]}\n{lines[1][:20]}")
        again = codemode(*run)
        assert [seen.message for seen in server.seen] == ["one", "two", "two"]
    assert whole.stderr == again.stderr == "", "progress is for people"
    assert [json.loads(line)["task"] for line in results.read_text().splitlines()] == ["first", "second"]
    (before,), (after,) = json.loads(whole.stdout), json.loads(again.stdout)
    assert [one["done"] for one in after["attempts"]] == [one["done"] for one in before["attempts"]] == [True, False]


def test_a_file_of_something_else_is_not_written_to(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    results.write_text('{"a": 1}\n')
    wrong = r"results.jsonl, line 1: not an attempt of `codemode eval`"
    with AttemptFile(results) as file, pytest.raises(ConfigurationError, match=wrong):
        file.earlier("m", "code")


def test_attempts_of_other_models_and_modes_are_left_alone(tmp_path: Path) -> None:
    attempt = Attempt("a\u2028", True, "cut \ud83d off", "completed", 10, 1, 0.5, None, "code")
    with AttemptFile(tmp_path / "results.jsonl") as file:
        file.append(attempt, "m", "code")
        file.append(replace(attempt, task="b", done=False, status="unreachable"), "m", "code")
        assert file.earlier("m", "code") == {"a\u2028": attempt}
        assert file.earlier("m", "menu") == file.earlier("n", "code") == {}
