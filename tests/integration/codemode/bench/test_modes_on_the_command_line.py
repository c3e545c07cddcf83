"""`codemode measure` plays several modes in one run, with the section `agent` of a configuration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codemode.testing.model_server import Reply
from tests.command_line import codemode
from tests.model_service import serving

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.testing.model_server import ModelRequest

SUITE = '''
from codemode.bench.suite import Episode, Task, Verdict


class Doors:
    name = "doors"

    def tasks(self):
        return [Task("close", ["Close the door."], begin)]


def begin():
    closed = []

    def close() -> str:
        """Close the door."""
        closed.append(True)
        return "closed"

    async def judge(run):
        return Verdict(bool(closed), "the door is open")

    return Episode(judge, gold=["doors.close()"], tools={"doors": [close]})
'''


def closes(seen: ModelRequest) -> Reply:
    if seen.answers:
        return Reply("The door is closed.")
    if "execute" in seen.tools:
        return Reply(calls=[("execute", {"code": "doors.close()"})])
    return Reply(calls=[("doors-close", {})])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "suite.py").write_text(SUITE)
    return tmp_path


def test_modes_are_played_in_one_run_with_the_settings_of_the_file(folder: Path) -> None:
    with serving(closes) as server:
        agent = {"model": "m", "base_url": server.base_url, "answer_tokens": 99, "temperature": 0.5}
        (folder / "c.json").write_text(json.dumps({"agent": agent}))
        options = ("--mode", "code,native", "-c", "c.json", "--temperature", "0", "--seed", "3", "--json")
        ended = codemode("measure", "suite.py:Doors", *options, folder=folder, OPENAI_API_KEY=server.key)
        bodies = [seen.body for seen in server.seen]
    assert ended.returncode == 0, ended.stderr
    assert [(one["mode"], one["solved"]) for one in json.loads(ended.stdout)] == [("code", 1), ("native", 1)]
    assert {(body["max_completion_tokens"], body["temperature"], body["seed"]) for body in bodies} == {(99, 0, 3)}
    lines = (folder / "bench.jsonl").read_text().splitlines()
    assert [json.loads(line)["mode"] for line in lines] == ["code", "native"]


def test_gold_is_played_without_a_model(folder: Path) -> None:
    ended = codemode("measure", "suite.py:Doors", "--json", folder=folder)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)[0]["model"] == "gold"


def test_nothing_is_solved_without_a_call_if_the_judge_looks(folder: Path) -> None:
    ended = codemode("measure", "suite.py:Doors", "--model", "idle", "--json", folder=folder)
    assert ended.returncode == 0, ended.stderr
    (group,) = json.loads(ended.stdout)
    assert (group["model"], group["solved"]) == ("idle", 0)
    assert json.loads((folder / "bench.jsonl").read_text())["reason"] == "the door is open"


@pytest.mark.parametrize(
    ("gold", "known", "code"),
    [
        ("None", "", 1),
        ("None", "the lock is broken", 0),
        ("doors.close()", "the lock is broken", 1),
        ("doors.close()\n1 / 0", "", 1),
    ],
    ids=("newly fails", "known to fail", "solved against the word of the suite", "solved, then an error"),
)
def test_a_gold_run_fails_if_a_task_ends_otherwise_than_its_suite_says(
    folder: Path, gold: str, known: str, code: int
) -> None:
    suite = SUITE.replace('gold=["doors.close()"]', f"gold=[{gold!r}]").replace(
        "begin)]", f"begin, gold_fails={known!r})]"
    )
    (folder / "suite.py").write_text(suite)
    ended = codemode("measure", "suite.py:Doors", folder=folder)
    assert ended.returncode == code, ended.stderr
    assert ("unexpected: close: " in ended.stderr) == bool(code)


def test_an_unknown_mode_is_rejected(folder: Path) -> None:
    ended = codemode("measure", "suite.py:Doors", "--model", "m", "--mode", "code,nativ", folder=folder)
    assert ended.returncode == 2
    assert "no mode 'nativ'" in ended.stderr
    assert "native" in ended.stderr
