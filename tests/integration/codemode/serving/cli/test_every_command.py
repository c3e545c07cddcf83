"""What holds for every command of `codemode`."""

from __future__ import annotations

import io
import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from rich.console import Console
from typer.testing import CliRunner

from codemode.serving.cli import main as cli
from codemode.serving.cli.examples import EXAMPLES
from codemode.serving.cli.main import app
from codemode.serving.output import terminal as console

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Commands that run until they are told to stop; the output of `mcp` is the protocol.
SERVERS = {"serve", "mcp"}

#: Commands whose only output is JSON.
JSON_ALONE = {"config schema"}


def commands(group: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, command in group.items():
        if hasattr(command, "commands"):
            yield from commands(command.commands, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(commands({name: cli.imported(name) for name in cli.COMMANDS}))


def test_the_table_of_commands_says_what_they_say_themselves(subtests: pytest.Subtests) -> None:
    for name in sorted(cli.COMMANDS):
        with subtests.test(name):
            assert cli.COMMANDS[name].help == " ".join(cli.imported(name).help.split("\n\n")[0].split())


def test_it_prints_json_when_it_is_asked_to(subtests: pytest.Subtests) -> None:
    for name in sorted(set(COMMANDS) - SERVERS - JSON_ALONE):
        with subtests.test(name):
            options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
            assert "--json" in options


#: Commands whose first error is not about the configuration: they write one, read another file first, or need none.
WITHOUT_CONFIGURATION = {
    "config explain",
    "config schema",
    "demo",
    "doctor",
    "init",
    "keys create",
    "login",
    "logout",
    "mcp import",
    "mcp uninstall",
    "measure report",
    "measure search",
    "measure suite",
    "sources add",
    "sources remove",
}


def test_its_errors_are_json_when_json_is_asked_for(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for name in sorted(set(COMMANDS) - SERVERS - WITHOUT_CONFIGURATION):
        with subtests.test(name):
            values = {"client": "cursor", "arguments": "a=b", "verdict": "committed"}
            required = [one for one in COMMANDS[name].params if one.param_type_name == "argument" and one.required]
            words = [values.get(one.name, "x") for one in required]
            ended = CliRunner().invoke(app, [*name.split(), *words, "--json", "--config", str(tmp_path / "none.yaml")])
            assert (ended.exit_code, ended.stdout) == (2, ""), ended.output
            error = json.loads(ended.stderr)["error"]
            assert (error["code"], error["exit_code"]) == ("configuration_invalid", 2)
            assert "read" in error["message"]


def test_an_error_names_the_nearest_as_json(gym: Any) -> None:
    given = ["--source", str(gym.document), "--json"]
    ended = CliRunner().invoke(app, ["call", "gym.clients.get_client_list", *given])
    error = json.loads(ended.stderr.splitlines()[-1])["error"]
    assert error["code"] == "tool_not_found"
    assert "gym.clients.get_clients_list" in error["nearest"]


def test_its_help_has_an_example_that_can_be_typed(subtests: pytest.Subtests) -> None:
    for name in sorted({*COMMANDS, "mcp"}):
        with subtests.test(name):
            example = EXAMPLES[name].partition(" > ")[0]
            assert f"Example: {example}" in " ".join(CliRunner().invoke(app, [*name.split(), "--help"]).stdout.split())
            program, *words = shlex.split(example)
            path = name.split()
            assert (program, words[: len(path)]) == ("codemode", path)
            command = COMMANDS[name] if name in COMMANDS else cli.imported(name)
            command.make_context(name, words[len(path) :])


def test_examples_are_of_commands_that_exist() -> None:
    assert set(EXAMPLES) == {*COMMANDS, *cli.COMMANDS}
    for name in set(cli.COMMANDS) - set(COMMANDS):
        words = shlex.split(EXAMPLES[name])[1:]
        assert " ".join(words[:2]) in COMMANDS or words[0] == "mcp"


#: The commands that `codemode --help` lists.
VISIBLE = {
    *("demo", "init", "doctor", "sources", "auth"),
    *("run", "call", "search", "chat"),
    *("serve", "mcp", "keys", "approvals", "admin"),
}


def listed(*words: str) -> tuple[list[str], set[str]]:
    """Return the panels of a help page, and the first words of their rows."""
    lines = CliRunner().invoke(app, [*words, "--help"]).stdout.splitlines()
    titles = [line.split("─")[1].strip() for line in lines if line.startswith("╭")]
    return titles, {line.split()[1] for line in lines if line[:2] == "│ " and line[2].isalpha()}


def test_help_lists_the_commands_of_every_day_and_says_where_the_others_are() -> None:
    titles, names = listed()
    assert titles == ["Options", "Set up", "Search and run", "Serve and govern"]
    assert names & {*cli.COMMANDS, "admin"} == VISIBLE
    last = [line.strip() for line in CliRunner().invoke(app, ["--help"]).stdout.splitlines() if line.strip()][-1]
    assert last == "Other commands: codemode admin --help"


def test_help_of_admin_lists_all_other_commands() -> None:
    titles, names = listed("admin")
    assert titles == ["Options", "Configuration", "Catalog", "Executions and people", "Measure and tune"]
    assert names & set(cli.COMMANDS) == set(cli.COMMANDS) - VISIBLE


def test_a_command_below_admin_can_be_called_without_that_word(subtests: pytest.Subtests) -> None:
    for name in sorted(set(cli.COMMANDS) - VISIBLE):
        with subtests.test(name):
            short, whole = (CliRunner().invoke(app, [*words, name, "--help"]) for words in ([], ["admin"]))
            assert (short.exit_code, whole.exit_code) == (0, 0), whole.output
            usage = f"Usage: root admin {name}"
            assert usage in " ".join(whole.stdout.split())
            assert " ".join(whole.stdout.split()).replace(usage, f"Usage: root {name}") == " ".join(
                short.stdout.split()
            )


def test_it_says_what_it_is_for(subtests: pytest.Subtests) -> None:
    for name in sorted(COMMANDS):
        with subtests.test(name):
            ended = CliRunner().invoke(app, [*name.split(), "--help"])
            assert ended.exit_code == 0, ended.output
            assert COMMANDS[name].help


def test_sources_come_and_go_as_json(gym: Any, tmp_path: Path) -> None:
    config = ["--config", str(tmp_path / "codemode.yaml"), "--json"]
    added = CliRunner().invoke(app, ["sources", "add", "gym", str(gym.document), *config])
    assert json.loads(added.stdout)["gym"]["operations"] == 137
    removed = CliRunner().invoke(app, ["sources", "remove", "gym", *config])
    assert json.loads(removed.stdout) == {"removed": "gym"}


REGION = {"url": "https://{region}.example/v1", "variables": {"region": {"default": "eu"}}}


@pytest.mark.parametrize(
    ("servers", "base", "said"),
    [
        (
            ["https://a.example", "https://b.example"],
            "https://a.example",
            "servers (other servers: https://b.example). Calls",
        ),
        (["/v1", "https://a.example"], "https://a.example", "https://a.example, taken from the document's servers"),
        (
            [REGION],
            "https://eu.example/v1",
            "https://eu.example/v1, taken from the document's servers (with region=eu)",
        ),
        (
            ["https://{region}.example"],
            None,
            "is not an absolute URL (https://{region}.example): set sources.x.base_url",
        ),
        ([], None, "the document names no server: set sources.x.base_url in"),
    ],
)
def test_whose_word_it_is_where_calls_go_is_said(
    servers: list[Any], base: str | None, said: str, tmp_path: Path
) -> None:
    named = [one if isinstance(one, dict) else {"url": one} for one in servers]
    paths = {"/x": {"get": {"operationId": "x", "responses": {}}}}
    document = {"openapi": "3.1.0", "info": {"title": "X", "version": "1"}, "servers": named, "paths": paths}
    (tmp_path / "x.json").write_text(json.dumps(document))
    config = ["--config", str(tmp_path / "codemode.yaml")]
    added = CliRunner().invoke(app, ["sources", "add", "x", str(tmp_path / "x.json"), *config])
    assert said in added.stderr
    assert "sources.x.base_url in" in added.stderr
    assert yaml.safe_load((tmp_path / "codemode.yaml").read_text())["sources"]["x"].get("base_url") == base
    given = ["--base-url", "https://given.example", "--json"]
    added = CliRunner().invoke(app, ["sources", "add", "y", str(tmp_path / "x.json"), *config, *given])
    assert "base_url" not in added.stderr


def test_who_waits_on_a_terminal_is_told_what_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_terminal in (True, False):
        shown = io.StringIO()
        monkeypatch.setattr(console, "errors", Console(file=shown, force_terminal=is_terminal, width=80))
        monkeypatch.setattr(console, "WAIT_S", 0)
        with console.waiting("reading the sources"):
            while is_terminal and "reading the sources …" not in shown.getvalue():
                pass
        assert ("reading the sources …" in shown.getvalue()) is is_terminal


def test_a_renamed_command_runs_as_the_new_one(subtests: pytest.Subtests) -> None:
    for old, new in cli.RENAMED.items():
        with subtests.test(" ".join(old)):
            ended = CliRunner().invoke(app, [*old, "--help"])
            assert ended.exit_code == 0, ended.output
            assert f"`codemode {' '.join(old)}` is `codemode {' '.join(new)}` now" in ended.stderr
            path = " ".join(word for word in new[:2] if not word.startswith("-"))
            assert f"Usage: codemode {path}" in " ".join(ended.stdout.split()).replace("root", "codemode")
