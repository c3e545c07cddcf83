"""`codemode measure TASKS.yaml`: tasks of one's own are a suite like any other."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codemode.bench.task_file import read_tasks
from codemode.testing.model_server import ModelRequest, Reply
from tests.command_line import codemode
from tests.model_service import serving

if TYPE_CHECKING:
    from codemode.testing.model_server import ModelServer

TASKS = Path(str(files("api_specs") / "gym" / "tasks.yaml"))

#: Tools whose state is a file, so that it outlives a service.
TALLY = '''
from pathlib import Path

FILE = Path(__file__).with_name("tally.txt")


def add(name: str) -> int:
    """Add a name to the tally."""
    with FILE.open("a") as file:
        return file.write(f"{name} ")


def erase() -> int:
    """Delete all names."""
    FILE.unlink()
    return 0


def names() -> list[str]:
    """List the names."""
    return FILE.read_text().split() if FILE.exists() else []
'''

CONFIGURATION = """
sources: {tally: {location: tally.py, effect: {add: write, erase: destructive, names: read}}}
policy: {default: {destructive: deny}}
state_folder: state
cache_folder: cache
"""

OWN_TASKS = """
tasks:
  - {id: first, message: Add Ann., check: "'Ann' in tally.names()", solution: tally.add(name='Ann')}
  - {id: second, message: Who is there?, setup: tally.add(name='Bo'), answer: tally.names()}
"""


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with tools, a configuration and tasks on it."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "tally.py").write_text(TALLY)
    (folder / "codemode.yaml").write_text(CONFIGURATION)
    (folder / "tasks.yaml").write_text(OWN_TASKS)
    return folder


def solves(seen: ModelRequest) -> Reply:
    """A model that knows the programs of the tasks, and how to be asked for them in each mode."""
    task = next(task for task in read_tasks(TASKS).tasks if task.message.strip() == seen.message.strip())
    if seen.answers:
        return Reply(f"It is done: {seen.answers[-1].text}")
    return Reply(calls=[("execute", {"code": task.solution or task.answer})])


def test_the_tasks_of_the_gym_can_be_done_under_the_name_that_the_command_had(tmp_path: Path) -> None:
    with serving(solves) as server:
        to_model = ("--model", "scripted", "--model-url", server.base_url, "--results", "out.jsonl", "--json")
        run = ("eval", str(TASKS), "--mode", "code", *to_model)
        ended = codemode(*run, folder=tmp_path, OPENAI_API_KEY=server.key)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == "`codemode eval` is `codemode measure suite --mode native,menu,code` now\n"
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [one.get("reason", "") for one in lines] == [""] * len(read_tasks(TASKS).tasks)
    (group,) = json.loads(ended.stdout)
    assert (group["suite"], group["solved"], group["requests"]) == ("tasks", len(lines), 2.0)
    assert group["tokens"] > 100


def test_a_task_is_not_done_by_talking(tmp_path: Path) -> None:
    with serving(lambda _: Reply("I have done it; it is 1, or 2.")) as server:
        to_model = ("--model", "scripted", "--model-url", server.base_url, "--tasks", "2", "--json")
        run = ("measure", str(TASKS), "--mode", "code,menu", *to_model)
        ended = codemode(*run, folder=tmp_path, OPENAI_API_KEY=server.key)
    assert ended.returncode == 0, ended.stderr
    assert [(one["mode"], one["solved"]) for one in json.loads(ended.stdout)] == [("code", 0), ("menu", 0)]


def test_137_native_tools_are_what_the_service_refuses(tmp_path: Path) -> None:
    with serving(solves) as server:
        to_model = ("--model", "scripted", "--model-url", server.base_url, "--tasks", "2")
        ended = codemode("measure", "gym", "--mode", "native", *to_model, folder=tmp_path, OPENAI_API_KEY=server.key)
    assert ended.returncode == 1
    assert "array too long. Expected an array with maximum length 128, but got an array with length 137" in ended.stderr


TEN_LINES = """\
modes: [native, code]
tasks:
  - message: How many names are there?
    expect: 2
  - message: Who is there?
    expect: [Ann, Bo]
  - message: Add Cy.
    check: "'Cy' in tally.names()"
"""


def looks(seen: ModelRequest) -> Reply:
    """A model that reads the names, one way or the other, and adds what it is asked to add."""
    is_code = "execute" in seen.tools
    if len(seen.answers) == 0:
        name = seen.message[4:-1] if seen.message.startswith("Add") else ""
        program = f"tally.add(name={name!r})" if name else "tally.names()"
        native = ("tally-add", {"name": name}) if name else ("tally-names", {})
        return Reply(calls=[("execute", {"code": program})] if is_code else [native])
    return Reply(f"{seen.answers[0].text}, which is 2.")


def test_ten_lines_give_one_table_one_plot_and_a_sentence_that_says_whether_code_mode_pays(own: Path) -> None:
    (own / "tally.txt").write_text("Ann Bo ")
    (own / "tasks.yaml").write_text(TEN_LINES)
    with serving(looks) as server:
        to_model = ("--model", "scripted", "--model-url", server.base_url)
        ended = codemode("measure", "tasks.yaml", *to_model, folder=own, OPENAI_API_KEY=server.key, COLUMNS="220")
    assert ended.returncode == 0, ended.stderr
    rows = {line.split()[2]: line.split() for line in ended.stdout.splitlines() if line.strip().startswith("tasks")}
    assert {mode: row[3] for mode, row in rows.items()} == {"native": "3/3", "code": "3/3"}
    plot = [line.split() for line in ended.stdout.partition("tokens of a task\n")[2].splitlines()[:2]]
    assert [(mode, set(bar), float(tokens.replace(",", "")) > 0) for mode, bar, tokens in plot] == [
        ("code", {"#"}, True),
        ("native", {"#"}, True),
    ]
    assert "code instead of native: " in ended.stdout
    assert "solved 3 and 3 of the 3 same tasks (p 1.00)" in ended.stdout


def test_an_expected_value_is_not_told_by_another_answer(own: Path) -> None:
    (own / "tasks.yaml").write_text("tasks: [{message: How many?, expect: 3}]")
    with serving(lambda _: Reply("There are four.")) as server:
        to_model = ("--model", "scripted", "--model-url", server.base_url)
        ended = codemode("measure", "tasks.yaml", *to_model, folder=own, OPENAI_API_KEY=server.key)
    assert "1: the answer lacks 3: 'There are four.'" in ended.stdout


def test_a_mode_that_there_is_not(tmp_path: Path) -> None:
    ended = codemode("measure", str(TASKS), "--mode", "code,nativ", "--model", "m", folder=tmp_path)
    assert ended.returncode == 2
    assert "there is no mode 'nativ'; did you mean 'native'?" in ended.stderr


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
    with serving(lambda _: Reply("ok")) as server:
        file = agent_file(tmp_path, server)
        ended = codemode("measure", str(two_tasks(tmp_path)), "-c", str(file), folder=tmp_path)
        assert {seen.body["model"] for seen in server.seen} == {"of-the-file"}
        assert all("Be brief." in seen.system for seen in server.seen)
    assert ended.returncode == 0, ended.stderr
    assert "1/2" in ended.stdout
    assert "second: the check did not return true" in ended.stdout


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    ended = codemode("measure", str(two_tasks(tmp_path)), "-c", str(tmp_path / "no.yaml"), "--model", "m")
    assert ended.returncode == 2
    assert "cannot read the configuration" in ended.stderr


def test_an_interrupted_run_is_continued(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with serving(lambda _: Reply("ok")) as server:
        given = ("-c", str(agent_file(tmp_path, server)), "--out", str(results), "--jobs", "1")
        run = ("measure", str(two_tasks(tmp_path)), *given, "--json")
        whole = codemode(*run)
        lines = results.read_text().splitlines()
        assert [json.loads(line)["task"] for line in lines] == ["first", "second"]
        assert len(server.seen) == 2
        results.write_text(f"{lines[0]}\n{lines[1][:20]}")
        again = codemode(*run)
        assert [seen.message for seen in server.seen] == ["one", "two", "two"]
    assert whole.stderr == again.stderr == "", "progress is for people"
    assert [json.loads(line)["task"] for line in results.read_text().splitlines()] == ["first", "second"]
    assert [json.loads(one.stdout)[0]["solved"] for one in (whole, again)] == [1, 1]


def test_gold_programs_show_that_tasks_on_ones_own_sources_can_be_done(own: Path) -> None:
    ended = codemode("measure", "tasks.yaml", "-c", "codemode.yaml", folder=own)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2/2" in ended.stdout
    assert (own / "tally.txt").read_text() == "Ann Bo ", "one after another, on the state that all tasks share"
    assert not (own / "bench.jsonl").exists(), "tasks on sources that change are played anew"


def test_the_policy_of_the_configuration_applies_to_ones_own_sources(own: Path) -> None:
    (own / "tally.txt").write_text("Cy ")
    (own / "tasks.yaml").write_text(
        "tasks: [{id: a, message: Erase it., check: 'not tally.names()', solution: tally.erase()}]"
    )
    ended = codemode("measure", "tasks.yaml", "-c", "codemode.yaml", "--out", "out.jsonl", folder=own)
    assert ended.returncode == 1
    assert (own / "tally.txt").read_text() == "Cy "
    assert json.loads((own / "out.jsonl").read_text())["policy"] == "configured"
    refused = codemode("measure", "tasks.yaml", "-c", "codemode.yaml", "--policy", "off", folder=own)
    assert refused.returncode == 2
    assert "the policy of the configuration applies" in refused.stderr


def test_a_program_of_a_task_that_fails_is_named(own: Path) -> None:
    (own / "tasks.yaml").write_text("tasks: [{id: a, message: b, check: 1 / 0, solution: '1'}]")
    ended = codemode("measure", "tasks.yaml", "-c", "codemode.yaml", folder=own)
    assert ended.returncode == 1
    assert "a: its check program fails: " in ended.stdout
    assert "ZeroDivisionError" in ended.stdout


def test_without_a_model_the_solutions_run_and_the_command_says_so(own: Path) -> None:
    ended = codemode("measure", "tasks.yaml", folder=own)
    assert ended.returncode == 0, ended.stderr
    assert "no model plays: the solutions of the tasks run. --model NAME measures a model" in ended.stderr


def test_a_task_without_a_solution_needs_a_model(own: Path) -> None:
    (own / "tasks.yaml").write_text(TEN_LINES)
    ended = codemode("measure", "tasks.yaml", folder=own)
    assert ended.returncode == 2, ended.stderr
    assert "no model plays, and tasks has no solution of 1 task (3): name a model with --model" in ended.stderr
    assert codemode("measure", "tasks.yaml", "--tasks", "1", folder=own).returncode == 0, (
        "its solution is what it expects"
    )
    assert not (own / "bench.jsonl").exists()


def test_nothing_is_printed_of_a_model_that_was_not_reached(own: Path) -> None:
    to_model = ("--model", "none", "--model-url", "http://127.0.0.1:9/v1")
    ended = codemode("measure", "tasks.yaml", *to_model, folder=own, OPENAI_API_KEY="k")
    assert (ended.returncode, ended.stdout) == (1, ""), ended.stderr
    assert "2 attempts did not reach the model" in ended.stderr
