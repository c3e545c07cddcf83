"""MCP servers of other clients are found and added, and values of their variables are never printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.command_line import Ended, codemode

if TYPE_CHECKING:
    from pathlib import Path

CURSOR = {
    "mcpServers": {
        "github": {
            "command": "npx",
            "args": ["server-github", "--verbose"],
            "env": {"GITHUB_TOKEN": "hunter2", "OTHER": "${env:MY_OTHER}"},
        },
        "remote": {"url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer hunter2"}},
        "keyed": {"url": "https://me:hunter2@api.example.com/mcp?key=hunter2"},
        "told": {"command": "told", "args": ["--api-key", "hunter2", "--auth-token=hunter2", "KEY=hunter2", "x"]},
        "late": {"command": "x", "args": ["${env:ROOT}"]},
        "codemode": {"command": "/opt/codemode", "args": ["mcp", "--config", "/x.yaml"]},
    }
}
CODEX = """
[mcp_servers.files]
command = "npx"
args = ["files"]
env_vars = ["FILES_KEY"]

[mcp_servers.github]
command = "docker"
args = ["github"]
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name, text in ((".cursor/mcp.json", json.dumps(CURSOR)), (".codex/config.toml", CODEX)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def discover(home: Path, *arguments: str, **environment: str) -> Ended:
    ended = codemode("sources", "discover", *arguments, folder=home, **environment)
    assert "hunter2" not in ended.stdout + ended.stderr
    return ended


def found(ended: Ended) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(ended.stdout)
    return content


def test_servers_are_listed_with_their_client_and_without_values(home: Path) -> None:
    servers = found(discover(home, "--json"))["servers"]
    assert [(one["client"], one["name"], one["server"]) for one in servers] == [
        ("cursor", "github", "npx server-github --verbose"),
        ("cursor", "remote", "https://api.example.com/mcp"),
        ("cursor", "keyed", "https://api.example.com/mcp"),
        ("cursor", "told", "told --api-key … --auth-token=… KEY=… x"),
        ("cursor", "late", "x ${env:ROOT}"),
        ("codex", "files", "npx files"),
        ("codex", "github", "docker github"),
    ]
    assert servers[0]["env"] == ["GITHUB_TOKEN", "OTHER"]
    assert servers[1]["headers"] == ["Authorization"]
    ended = discover(home)
    assert "Cursor" in ended.stdout
    assert "next: codemode sources discover --add" in ended.stdout
    assert not (home / "codemode.yaml").exists()


def test_servers_are_added_once_with_references_to_variables(home: Path) -> None:
    (home / "codemode.yaml").write_text("# mine\nsources:\n  gym: {location: gym.json}\n", encoding="utf-8")
    ended = discover(home, "--add", GITHUB_TOKEN="here")
    assert "github added to codemode.yaml; set MY_OTHER: the values are in" in ended.stdout
    for name in ("late", "keyed", "told"):
        assert f"{name} has secrets or variables in its command or URL" in ended.stdout
    text = (home / "codemode.yaml").read_text(encoding="utf-8")
    assert text.startswith("# mine\n")
    assert "hunter2" not in text
    sources = yaml.safe_load(text)["sources"]
    assert list(sources) == ["gym", "github", "remote", "files", "github_2"]
    assert sources["github"]["env"] == {"GITHUB_TOKEN": {"env": "GITHUB_TOKEN"}, "OTHER": {"env": "MY_OTHER"}}
    assert sources["remote"]["headers"] == {"Authorization": {"env": "REMOTE_AUTHORIZATION"}}
    assert sources["files"]["env"] == {"FILES_KEY": {"env": "FILES_KEY"}}
    again = discover(home, "--add")
    assert "codemode.yaml has them all" in again.stdout
    assert (home / "codemode.yaml").read_text(encoding="utf-8") == text


def test_a_file_that_cannot_be_read_is_skipped_and_named(home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{", encoding="utf-8")
    ended = discover(home)
    assert ended.returncode == 0
    assert ".gemini/settings.json is not JSON: line 1, column 2" in ended.stderr


def test_nothing_found_is_exit_code_1(tmp_path: Path) -> None:
    ended = discover(tmp_path)
    assert (ended.returncode, "no MCP servers found" in ended.stdout) == (1, True)
