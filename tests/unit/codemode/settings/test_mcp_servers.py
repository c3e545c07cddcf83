"""Files of MCP servers as their clients' documentation shows them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from codemode.errors import ConfigurationError
from codemode.settings.file import load_settings
from codemode.settings.mcp_servers import servers_in

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "mcp-clients.md"


def read(folder: Path, content: str | dict[str, Any], name: str = "mcp.json") -> dict[str, Any]:
    """What is read of a file, as plain data, without what is as by default: programs work in the workspace."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    found = {
        key: source.model_dump(mode="json", exclude_defaults=True, exclude={"kind"})
        for key, source in servers_in(file).items()
    }
    for server in found.values():
        if server.get("cwd") == str(folder):
            del server["cwd"]
    return found


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("API_KEY", "k3y"), ("PERPLEXITY_KEY", "asked")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("MISSING", raising=False)


def test_claude_desktop(tmp_path: Path) -> None:
    command = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/Desktop"]}
    assert read(tmp_path, {"mcpServers": {"filesystem": command}, "globalShortcut": "Ctrl+Space"}) == {
        "filesystem": {"command": ["npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/me/Desktop"]}
    }


def test_claude_code(tmp_path: Path) -> None:
    servers = {
        "api-server": {
            "type": "http",
            "url": "${API_BASE_URL:-https://api.example.com}/mcp",
            "headers": {"Authorization": "Bearer ${API_KEY}"},
        },
        "old": {"type": "sse", "url": "https://example.com/events"},
        "local": {"type": "stdio", "command": "server", "args": [], "env": {"A": "${MISSING}"}},
    }
    assert read(tmp_path, {"mcpServers": servers}, ".mcp.json") == {
        "api_server": {
            "location": "https://api.example.com/mcp",
            "transport": "http",
            "headers": {"Authorization": "Bearer k3y"},
        },
        "old": {"location": "https://example.com/events", "transport": "sse"},
        "local": {"command": ["server"], "env": {"A": ""}},
    }


def test_cursor(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# secrets\nexport A=1\nB='two'\n\nC=3\n", encoding="utf-8")
    local = {
        "command": "${workspaceFolder}/bin/server",
        "args": ["--root", "${workspaceFolder}${/}data", "${userHome}"],
        "env": {"KEY": "${env:API_KEY}", "C": "own"},
        "envFile": "${workspaceFolder}/.env",
    }
    remote = {"url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer ${env:API_KEY}"}}
    assert read(tmp_path, {"mcpServers": {"local": local, "remote": remote}}, ".cursor/mcp.json") == {
        "local": {
            "command": [f"{tmp_path}/bin/server", "--root", f"{tmp_path}/data", str(Path.home())],
            "env": {"A": "1", "B": "two", "C": "own", "KEY": "k3y"},
        },
        "remote": {"location": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer k3y"}},
    }


VS_CODE = """
// Servers of this project
{
    "inputs": [
        {"type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true},
        {"type": "pickString", "id": "region", "options": ["eu", "us"], "default": "eu"},
    ],
    "servers": {
        /* "gone": {"command": "gone"}, */
        "Perplexity": {
            "type": "stdio",
            "command": "npx",
            "args": ["-y", "server-perplexity-ask", "https://example.com/a,b"], // a comment
            "env": {"PERPLEXITY_API_KEY": "${input:perplexity-key}", "REGION": "${input:region}"},
            "cwd": "sub",
            "dev": {"watch": "build/**/*.js"},
        },
        "fetch": {"type": "http", "url": "https://example.com/mcp"},
    },
}
"""


def test_vs_code_with_comments_and_what_it_would_ask_for(tmp_path: Path) -> None:
    expected = {
        "perplexity": {
            "command": ["npx", "-y", "server-perplexity-ask", "https://example.com/a,b"],
            "env": {"PERPLEXITY_API_KEY": "asked", "REGION": "eu"},
            "cwd": str(tmp_path / "sub"),
        },
        "fetch": {"location": "https://example.com/mcp", "transport": "http"},
    }
    assert read(tmp_path, VS_CODE, ".vscode/mcp.json") == expected
    in_settings = '{"editor.fontSize": 12, "mcp": ' + VS_CODE.partition("\n{")[2].join(("{", "}"))
    assert set(read(tmp_path, in_settings, ".vscode/settings.json")) == set(expected)


def test_windsurf_cline_and_roo(tmp_path: Path) -> None:
    servers = {
        "windsurf": {"serverUrl": "https://example.com/mcp", "headers": {"API_KEY": "Bearer ${env:API_KEY}"}},
        "cline": {"type": "streamableHttp", "url": "https://example.com/x", "autoApprove": ["a"], "timeout": 120},
        "roo": {
            "type": "streamable-http",
            "url": "https://example.com/y",
            "alwaysAllow": ["b"],
            "disabled": False,
            "disabledTools": ["drop"],
        },
        "off": {"command": "x", "disabled": True},
    }
    assert read(tmp_path, {"mcpServers": servers}) == {
        "windsurf": {"location": "https://example.com/mcp", "headers": {"API_KEY": "Bearer k3y"}},
        "cline": {"location": "https://example.com/x", "transport": "http", "timeout_s": 120},
        "roo": {"location": "https://example.com/y", "transport": "http", "exclude": ["drop"]},
    }


def test_gemini_cli(tmp_path: Path) -> None:
    servers = {
        "python": {
            "command": "python",
            "args": ["-m", "my_server"],
            "cwd": "./tools",
            "timeout": 15000,
            "trust": False,
            "env": {"KEY": "$API_KEY", "OTHER": "${API_KEY}", "PRICE": "5$"},
            "includeTools": ["safe_tool"],
            "excludeTools": ["bad_tool"],
        },
        "web": {"httpUrl": "https://example.com/sse"},
    }
    assert read(tmp_path, {"mcpServers": servers}, ".gemini/settings.json") == {
        "python": {
            "command": ["python", "-m", "my_server"],
            "env": {"KEY": "k3y", "OTHER": "k3y", "PRICE": "5$"},
            "cwd": str(tmp_path / "tools"),
            "timeout_s": 15,
            "include": ["safe_tool"],
            "exclude": ["bad_tool"],
        },
        "web": {"location": "https://example.com/sse", "transport": "http"},
    }


def test_zed_and_opencode(tmp_path: Path) -> None:
    zed = {
        "custom": {"source": "custom", "command": "server", "args": ["x"], "env": {}},
        "older": {"command": {"path": "server", "args": ["y"], "env": {"A": "1"}}, "settings": {}},
        "extension": {"source": "extension", "settings": {}},
    }
    assert read(tmp_path, {"context_servers": zed}) == {
        "custom": {"command": ["server", "x"]},
        "older": {"command": ["server", "y"], "env": {"A": "1"}},
    }
    opencode = {
        "local": {"type": "local", "command": ["bun", "x", "server"], "environment": {"A": "{env:API_KEY}"}},
        "remote": {"type": "remote", "url": "https://example.com/mcp", "enabled": True},
        "off": {"type": "local", "command": ["x"], "enabled": False},
    }
    assert read(tmp_path, {"$schema": "https://opencode.ai/config.json", "mcp": opencode}) == {
        "local": {"command": ["bun", "x", "server"], "env": {"A": "k3y"}},
        "remote": {"location": "https://example.com/mcp"},
    }


def test_a_type_that_nobody_knows_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"mcp\.json: mcpServers\.a: unknown type 'carrier pigeon'"):
        read(tmp_path, {"mcpServers": {"a": {"type": "carrier pigeon", "url": "https://example.com"}}})


def test_what_our_own_page_tells_of_clients_can_be_read(tmp_path: Path) -> None:
    blocks = re.findall(r"^```json\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 5
    for block in blocks:
        (server,) = read(tmp_path, block, ".vscode/mcp.json").values()
        assert server.get("command", ["codemode"])[0] == "codemode"


def test_codex(tmp_path: Path) -> None:
    text = """
model = "o5"
[mcp_servers.local]
command = "npx"
args = ["-y", "server"]
env = {A = "1"}
env_vars = ["API_KEY", {name = "PERPLEXITY_KEY", source = "local"}]
[mcp_servers.remote]
url = "https://api.example.com/mcp"
bearer_token_env_var = "API_KEY"
http_headers = {X-One = "1"}
env_http_headers = {X-Two = "PERPLEXITY_KEY"}
[mcp_servers.off]
command = "off"
enabled = false
"""
    assert read(tmp_path, text, "config.toml") == {
        "local": {"command": ["npx", "-y", "server"], "env": {"A": "1", "API_KEY": "k3y", "PERPLEXITY_KEY": "asked"}},
        "remote": {
            "location": "https://api.example.com/mcp",
            "headers": {"X-One": "1", "X-Two": "asked", "Authorization": "Bearer k3y"},
        },
    }


def test_goose(tmp_path: Path) -> None:
    text = """
extensions:
  developer: {type: builtin, enabled: true, name: developer, bundled: true}
  files: {type: stdio, enabled: true, cmd: npx, args: [files], envs: {A: one}, env_keys: [API_KEY], timeout: 300}
  web: {type: streamable_http, enabled: true, uri: "https://api.example.com/mcp", headers: {X-One: "1"}, timeout: 60}
"""
    assert read(tmp_path, text, "config.yaml") == {
        "files": {"command": ["npx", "files"], "env": {"A": "one", "API_KEY": "k3y"}, "timeout_s": 300.0},
        "web": {
            "location": "https://api.example.com/mcp",
            "transport": "http",
            "headers": {"X-One": "1"},
            "timeout_s": 60.0,
        },
    }


def test_variables_are_kept_as_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    server = {"command": "${workspaceFolder}/x", "args": ["${env:API_KEY}"], "env": {"KEY": "$API_KEY"}}
    file.write_text(json.dumps({"mcpServers": {"x": server}}), encoding="utf-8")
    found = servers_in(file, keeps_variables=True)["x"]
    assert found.command == (f"{tmp_path}/x", "${env:API_KEY}")
    assert found.env == {"KEY": "$API_KEY"}


def test_codemode_is_no_source_of_itself(tmp_path: Path) -> None:
    own = {"command": "/opt/codemode", "args": ["mcp", "--config", "codemode.yaml"]}
    servers = {"mcpServers": {"codemode": own, "x": {"command": "x"}}}
    (tmp_path / "mcp.json").write_text(json.dumps(servers), encoding="utf-8")
    (tmp_path / "codemode.yaml").write_text("mcp_servers: [mcp.json]\n", encoding="utf-8")
    assert list(load_settings(tmp_path / "codemode.yaml").sources) == ["x"]
