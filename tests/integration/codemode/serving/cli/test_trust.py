"""`codemode trust`: a stranger's folder runs no code and sends no secret before a person has said yes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codemode.serving.cli.main import COMMANDS
from tests.command_line import untrusting
from tests.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

#: Each command that reads the configuration, and that needs no more arguments than these to do so.
READERS = [
    ("tools",), ("search", "x"), ("cost",), ("menu", "x"), ("run", "program.py"), ("call", "evil.f"), ("serve",),
    ("mcp",), ("chat", "x"),
    ("measure", "tasks.yaml"), ("measure", "search", "q.yaml"), ("measure", "menu"), ("measure", "embeddings"),
    ("config", "check"),
    ("sources", "list"), ("sources", "check"), ("sources", "refresh"), ("sources", "accept", "evil"),
    ("auth", "login", "evil"), ("auth", "logout", "evil"), ("auth", "status"), ("keys", "list"), ("policy", "check"),
    ("policy", "explain", "evil.f"), ("approvals", "list"), ("plans", "list"), ("executions", "list"),
    ("content", "list"), ("notify", "list"), ("saved", "list"), ("saved", "check"), ("journal", "check"),
    ("mcp", "install", "cursor", "--print"),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose configuration leaves a file behind if anything of it runs."""
    folder = tmp_path / "cloned"
    folder.mkdir()
    leaves = f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    (folder / "evil.py").write_text(f"{leaves}def f() -> int:\n    'One.'\n    return 1\n", encoding="utf-8")
    (folder / "codemode.yaml").write_text(
        f"""
sources:
  evil: {{location: evil.py}}
  server: {{command: [touch, {tmp_path / "ran"}]}}
state_folder: state
journal: {{key: {{command: [touch, {tmp_path / "ran"}]}}}}
""",
        encoding="utf-8",
    )
    (folder / "program.py").write_text("evil.f()", encoding="utf-8")
    (folder / "tasks.yaml").write_text("tasks: [{id: a, message: b, check: 'True'}]\n", encoding="utf-8")
    (folder / "q.yaml").write_text("- {query: f, expected: [evil.f]}\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_no_command_does_what_a_found_file_says(words: tuple[str, ...], folder: Path) -> None:
    ended = untrusting(*words, folder=folder)
    assert ended.returncode == 2, ended
    assert "is not trusted yet, so nothing in it was run, read or sent" in ended.stderr
    assert "run Python code: evil.py (sources.evil)" in ended.stderr
    assert "Run `codemode trust` in this folder if you know who wrote the file" in ended.stderr
    assert not (folder.parent / "ran").exists()
    assert not (folder / "state").exists()


def test_every_command_was_tried_or_reads_no_found_file() -> None:
    without = {"demo", "init", "doctor", "trust", "login", "logout"}
    assert {words[0] for words in READERS} == set(COMMANDS) - without


def test_doctor_reports_it_and_runs_nothing(folder: Path) -> None:
    ended = untrusting("doctor", "--json", folder=folder)
    assert ended.returncode == 1
    assert "is not trusted yet" in ended.stdout
    assert "read it, then run `codemode trust`" in ended.stdout
    assert not (folder.parent / "ran").exists()


def test_a_named_file_is_used(folder: Path) -> None:
    (folder / "codemode.yaml").write_text("sources: {good: {location: evil.py}}\n", encoding="utf-8")
    assert "good.f" in untrusting("tools", "--config", "codemode.yaml", folder=folder).stdout
    assert untrusting("tools", folder=folder).returncode == 2


def test_trust_is_given_shown_and_taken_back(folder: Path) -> None:
    (folder / "codemode.yaml").write_text("sources: {good: {location: evil.py}}\n", encoding="utf-8")
    nobody = untrusting("trust", folder=folder)
    assert (nobody.returncode, "`codemode trust --yes`" in nobody.stderr) == (2, True)
    given = untrusting("trust", "--yes", folder=folder)
    assert (given.returncode, given.stdout) == (0, "codemode.yaml: trusted\n")
    assert "run Python code: evil.py (sources.good)" in given.stderr
    assert "good.f" in untrusting("tools", folder=folder).stdout
    assert untrusting("trust", folder=folder).stdout == "codemode.yaml: needs no trust now\n"
    assert json.loads(untrusting("trust", "--remove", "--json", folder=folder).stdout)["state"] == "was_trusted"
    as_json = untrusting("tools", "--json", folder=folder)
    assert json.loads(as_json.stderr)["error"]["code"] == "configuration_untrusted"


def test_a_terminal_asks_once_and_again_after_a_change(folder: Path) -> None:
    file = folder / "codemode.yaml"
    file.write_text("sources: {good: {location: evil.py}}\n", encoding="utf-8")
    refused = Terminal(folder, "tools", trusts=False)
    refused.wait_for("run Python code: evil.py (sources.good)")
    refused.wait_for("Trust it as it is now?")
    refused.type("n\n")
    assert refused.close() == 2
    asked = Terminal(folder, "tools", trusts=False)
    asked.wait_for("Trust it as it is now?")
    asked.type("y\n")
    asked.wait_for("good.f")
    assert asked.close() == 0
    assert "good.f" in untrusting("tools", folder=folder).stdout
    file.write_text("sources: {other: {location: evil.py}}\n", encoding="utf-8")
    assert untrusting("tools", folder=folder).returncode == 2


def test_a_source_that_the_user_adds_keeps_the_trust_and_gives_none(folder: Path) -> None:
    file = folder / "codemode.yaml"
    file.unlink()
    assert untrusting("sources", "add", "mine", "evil.py", folder=folder).returncode == 0
    assert "mine.f" in untrusting("tools", folder=folder).stdout
    file.write_text("sources:\n  theirs: {location: evil.py}\n", encoding="utf-8")
    assert untrusting("sources", "add", "mine", "evil.py", folder=folder).returncode == 0
    assert untrusting("tools", folder=folder).returncode == 2
