"""MCP servers of other clients become sources, their secrets move, and values are never printed."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from codemode.serving.cli.clients.discovery import ClientServer
from codemode.settings import SourceSettings, mcp_clients
from tests.command_line import Ended, codemode
from tests.integration.codemode.sources.mcp.authorized_server import authorized_site

CURSOR = {
    "mcpServers": {
        "github": {
            "command": "npx",
            "args": ["server-github", "--verbose"],
            "env": {"GITHUB_TOKEN": "hunter2", "OTHER": "${env:MY_OTHER}", "LOG_LEVEL": "info"},
        },
        "remote": {
            "url": "https://api.example.com/mcp",
            "headers": {"Authorization": "Bearer hunter2", "X-Team": "hunter2"},
        },
        "keyed": {"url": "https://me:hunter2@api.example.com/mcp?key=hunter2"},
        "told": {"command": "told", "args": ["--api-key", "hunter2", "--auth-token=hunter2", "KEY=hunter2", "x"]},
        "late": {"command": "x", "args": ["${env:ROOT}"]},
        "bridged": {
            "command": "npx",
            "args": ["-y", "mcp-remote@0.1", "https://bridged.example/mcp", "--header", "Authorization:${AUTH}"],
            "env": {"AUTH": "Bearer hunter2-bridged"},
        },
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


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the tests from the keyring of whoever runs them."""
    monkeypatch.setitem(sys.modules, "keyring", None)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name, text in ((".cursor/mcp.json", json.dumps(CURSOR)), (".codex/config.toml", CODEX)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


CLAUDE = """{
  "numStartups": 3,
  "mcpServers": {"everywhere": {"type": "http", "url": "https://everywhere.example/mcp"}},
  "projects": {"FOLDER": {"mcpServers": {"here": {"command": "here", "env": {"PAT": "hunter2-here"}}}}}
}"""
OPENCODE = """{ // comments are allowed
  "mcp": {"servers": {"opener": {"type": "local", "command": ["opener"], "environment": {"A_KEY": "hunter2"}}}}
}"""


def run(home: Path, *arguments: str, **environment: str) -> Ended:
    ended = codemode("mcp", "import", *arguments, folder=home, **environment)
    assert "hunter2" not in ended.stdout + ended.stderr
    return ended


def found(ended: Ended) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(ended.stdout)
    return content


def _secrets(home: Path) -> dict[str, str]:
    files = list((home / "state" / "secrets").iterdir())
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert (home / "state" / "secrets").stat().st_mode & 0o777 == 0o700
    return {file.name: file.read_text() for file in files}


def test_servers_are_listed_with_their_client_and_without_values(home: Path) -> None:
    servers = found(run(home, "--list", "--json"))["servers"]
    assert [(one["client"], one["name"], one["server"]) for one in servers] == [
        ("cursor", "github", "npx server-github --verbose"),
        ("cursor", "remote", "https://api.example.com/mcp"),
        ("cursor", "keyed", "https://api.example.com/mcp"),
        ("cursor", "told", "told --api-key … --auth-token=… KEY=… x"),
        ("cursor", "late", "x ${env:ROOT}"),
        ("cursor", "bridged", "https://bridged.example/mcp"),
        ("codex", "files", "npx files"),
        ("codex", "github", "docker github"),
    ]
    assert servers[0]["secrets"] == ["GITHUB_TOKEN"]
    assert servers[1]["secrets"] == ["Authorization", "X-Team"]
    ended = run(home)
    assert "Cursor" in ended.stdout
    assert "next: codemode mcp import NAME …, or --all" in ended.stdout
    assert not (home / "codemode.yaml").exists()


def test_servers_become_sources_once_and_their_secrets_move(home: Path) -> None:
    before = {file: file.read_bytes() for file in (home / ".cursor" / "mcp.json", home / ".codex" / "config.toml")}
    text = f"# mine\nstate_folder: {home / 'state'}\nsources:\n  gym: {{location: gym.json}}\n"
    (home / "codemode.yaml").write_text(text, encoding="utf-8")
    ended = run(home, "--all", "--from", "cursor")
    assert "github added to codemode.yaml; set MY_OTHER, as Cursor does" in ended.stdout
    assert f"secrets are in {home / 'state' / 'secrets'}; the files of the clients still have them" in ended.stdout
    for name in ("late", "keyed", "told"):
        assert f"{name} has secrets or variables in its command or URL" in ended.stdout
    text = (home / "codemode.yaml").read_text(encoding="utf-8")
    assert text.startswith("# mine\n")
    assert "hunter2" not in text
    sources = yaml.safe_load(text)["sources"]
    assert list(sources) == ["gym", "github", "remote", "bridged"]
    folder = home / "state" / "secrets"
    assert sources["github"]["env"] == {
        "GITHUB_TOKEN": {"file": str(folder / "github.GITHUB_TOKEN")},
        "OTHER": {"env": "MY_OTHER"},
        "LOG_LEVEL": "info",
    }
    assert sources["remote"] == {
        "location": "https://api.example.com/mcp",
        "kind": "mcp",
        "credentials": [{"kind": "bearer", "token": {"file": str(folder / "remote.Authorization")}}],
        "headers": {"X-Team": {"file": str(folder / "remote.X-Team")}},
    }
    assert sources["bridged"]["location"] == "https://bridged.example/mcp"
    assert _secrets(home) == {
        "github.GITHUB_TOKEN": "hunter2",
        "remote.Authorization": "hunter2",
        "remote.X-Team": "hunter2",
        "bridged.Authorization": "hunter2-bridged",
    }
    again = run(home, "--all", "--from", "cursor")
    assert "codemode.yaml has them all" in again.stdout
    assert (home / "codemode.yaml").read_text(encoding="utf-8") == text
    assert {file: file.read_bytes() for file in before} == before


def test_only_the_named_servers_are_imported(home: Path) -> None:
    imported = found(run(home, "files", "--json"))["imported"]
    assert list(imported) == ["files"]
    assert yaml.safe_load((home / "codemode.yaml").read_text())["sources"] == {
        "files": {"command": ["npx", "files"], "cwd": str(home), "env": {"FILES_KEY": {"env": "FILES_KEY"}}}
    }
    ended = run(home, "file")
    assert (ended.returncode, "no client has a server 'file'; did you mean 'files'?" in ended.stderr) == (2, True)


def test_claude_code_has_servers_of_a_folder_and_opencode_those_of_both_versions(tmp_path: Path) -> None:
    (tmp_path / ".claude.json").write_text(CLAUDE.replace("FOLDER", str(tmp_path)), encoding="utf-8")
    (tmp_path / ".config" / "opencode").mkdir(parents=True)
    (tmp_path / ".config" / "opencode" / "opencode.jsonc").write_text(OPENCODE, encoding="utf-8")
    (tmp_path / "opencode.json").write_text('{"mcp": {"first": {"type": "local", "command": ["first"]}}}')
    servers = found(run(tmp_path, "--list", "--json"))["servers"]
    assert [(one["client"], one["name"], one["secrets"]) for one in servers] == [
        ("claude-code", "everywhere", []),
        ("claude-code", "here", ["PAT"]),
        ("opencode", "opener", ["A_KEY"]),
        ("opencode", "first", []),
    ]


def test_secrets_are_in_the_keyring_where_there_is_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries: dict[tuple[str, str], str] = {}
    keyring = ModuleType("keyring")
    keyring.set_password = lambda service, name, value: entries.update({(service, name): value})  # type: ignore[attr-defined]
    keyring.get_password = lambda service, name: entries.get((service, name))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    ended = run(home, "github", "--from", "cursor")
    assert "secrets are in the system's keyring" in ended.stdout
    env = yaml.safe_load((home / "codemode.yaml").read_text())["sources"]["github"]["env"]
    assert env["GITHUB_TOKEN"] == {"keyring": {"service": "codemode", "username": "github.GITHUB_TOKEN"}}
    assert entries == {("codemode", "github.GITHUB_TOKEN"): "hunter2"}


async def test_a_login_is_offered_where_a_server_asks_for_one(tmp_path: Path) -> None:
    async with authorized_site() as site:
        servers = {"mcpServers": {"bank": {"url": site.url}, "files": {"command": "npx", "args": ["files"]}}}
        (tmp_path / ".mcp.json").write_text(json.dumps(servers), encoding="utf-8")
        ended = await asyncio.to_thread(run, tmp_path, "--all")
        assert (ended.returncode, ended.stderr) == (75, "bank asks for a login; run: codemode auth login bank\n")


@pytest.mark.parametrize(
    ("name", "value", "is_secret"),
    [
        ("API_KEY", "x", True),
        ("DATABASE_URL", "postgres://me:pw@host/db", True),
        ("SETTING", "sk-ant-0123456789abcdef0123456789", True),
        ("SETTING", "ghp 0123", True),
        ("LOG_LEVEL", "info", False),
        ("PORT", "8080", False),
        ("ROOT", "/home/ann/my files", False),
        ("ROOT", "C:\\Users\\ann", False),
        ("VERBOSE", "true", False),
        ("EMPTY_TOKEN", "", False),
        ("TOKEN", "${env:TOKEN}", False),
    ],
)
def test_a_value_is_a_secret_unless_it_plainly_is_none(name: str, value: str, is_secret: bool) -> None:
    source = SourceSettings(kind="mcp", command=("x",), env={name: value})
    server = ClientServer(next(iter(mcp_clients().values())), Path("x"), "x", source)
    assert server.secrets == ((name,) if is_secret else ())


def test_a_file_that_cannot_be_read_is_skipped_and_named(home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{", encoding="utf-8")
    ended = run(home)
    assert ended.returncode == 0
    assert ".gemini/settings.json is not JSON: line 1, column 2" in ended.stderr


def test_nothing_found_is_exit_code_1(tmp_path: Path) -> None:
    ended = run(tmp_path)
    assert (ended.returncode, "no MCP servers found" in ended.stdout) == (1, True)
