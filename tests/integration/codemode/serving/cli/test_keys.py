"""`codemode keys` and `codemode policy`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.command_line import codemode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Gym

POLICY = """
policy:
  roles: [support]
  rules:
    - {name: no money, tools: "gym.salary.*", roles: support, decision: deny, reason: not for support}
    - {tools: "gym.clients.*", where: {status: active}, decision: allow}
    - {tools: "gym.salary.get_*", roles: support, decision: ask}
"""


@pytest.fixture
def folder(tmp_path: Path, gym: Gym) -> Path:
    text = f"sources:\n  gym: {{location: {gym.document}, base_url: '{gym.url}'}}\nstate_folder: state\n"
    text += f"cache_folder: {gym.token_file.parent / 'cache'}\n{POLICY}"
    (tmp_path / "codemode.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_key_is_shown_once_listed_rotated_and_revoked(folder: Path) -> None:
    made = codemode("keys", "create", "--role", "support", "--label", "CI", "--expires", "90d", folder=folder)
    assert made.returncode == 0, made.stderr
    key = made.stdout.strip()
    (listed,) = json.loads(codemode("keys", "list", "--json", folder=folder).stdout)
    assert (listed["role"], listed["label"], listed["status"]) == ("support", "CI", "active")
    assert key.startswith(f"cm_{listed['id']}_")
    assert key not in codemode("keys", "list", folder=folder).stdout
    rotated = json.loads(codemode("keys", "rotate", listed["id"], "--grace", "1h", "--json", folder=folder).stdout)
    assert rotated["key"] != key
    assert codemode("keys", "revoke", listed["id"], folder=folder).returncode == 0
    assert json.loads(codemode("keys", "list", "--json", folder=folder).stdout)[0]["status"] == "revoked"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create", "--role", "boss"), "there is no role 'boss'; valid: default, support"),
        (("create", "--expires", "soon"), "'soon' is not a duration"),
        (("revoke", "abc"), "there is no key 'abc'"),
    ],
)
def test_a_wrong_key_command_is_exit_code_2(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    ended = codemode("keys", *arguments, folder=folder)
    assert ended.returncode == 2
    assert said in ended.stderr


def test_explain_says_which_rule_decides_and_why(folder: Path) -> None:
    tool = "gym.salary.get_pending_salaries"
    found = json.loads(codemode("policy", "explain", tool, "--role", "support", "--json", folder=folder).stdout)
    assert (found["decision"], found["rule"], found["exists"]) == ("deny", "rule 1 (no money)", False)
    allowed = codemode("policy", "explain", "get_clients_list", "--args", '{"status": "active"}', folder=folder)
    assert allowed.returncode == 0, allowed.stderr
    assert "allow by rule 2" in allowed.stdout
    denied = codemode("policy", "explain", "gym.clients.create_client", "--read-only", folder=folder)
    assert denied.returncode == 1
    assert "deny by read_only: only reads are allowed here" in denied.stdout
    depends = codemode("policy", "explain", "get_clients_list", folder=folder)
    assert depends.returncode == 1
    assert "the decision depends on the arguments" in depends.stdout


def test_explain_says_which_rule_decided_on_each_call_of_an_execution(folder: Path) -> None:
    code = "gym.clients.delete_client(clientId=1)"
    ran = json.loads(codemode("run", "-", "--no-input", "--json", folder=folder, stdin=code).stdout)
    explained = codemode("policy", "explain", ran["id"], "--json", folder=folder)
    assert explained.returncode == 0, explained.stderr
    (delete,) = json.loads(explained.stdout)["calls"]
    assert (delete["decision"], delete["state"]) == ("ask", "pending")
    assert delete["reason"] == "default for destructive"
    assert "gym.clients.delete_client" in codemode("policy", "explain", ran["id"], folder=folder).stdout
    unknown = codemode("policy", "explain", "ex_" + 32 * "0", folder=folder)
    assert (unknown.returncode, "ex_000" in unknown.stderr) == (2, True)


def test_check_finds_rules_that_never_decide_and_patterns_that_fit_nothing(folder: Path) -> None:
    found = codemode("policy", "check", folder=folder)
    assert found.returncode == 1
    assert "line 11: policy.rules.2: it is never reached: rule 1 (no money) decides before it" in found.stdout
    file = folder / "codemode.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("gym.salary.get_*", "gym.salaries.*"), encoding="utf-8")
    unknown = codemode("policy", "check", folder=folder)
    assert unknown.returncode == 2
    assert "no tool matches 'gym.salaries.*'; did you mean 'gym.salary.*'?" in unknown.stderr
    assert "codemode.yaml, line 11" in unknown.stderr


def test_the_label_of_a_key_may_be_an_argument(folder: Path) -> None:
    assert codemode("keys", "create", "CI", folder=folder).returncode == 0
    (listed,) = json.loads(codemode("keys", "list", "--json", folder=folder).stdout)
    assert listed["label"] == "CI"
    twice = codemode("keys", "create", "CI", "--label", "ann", folder=folder)
    assert (twice.returncode, "LABEL and --label exclude each other" in twice.stderr) == (2, True)
