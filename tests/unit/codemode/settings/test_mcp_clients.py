"""The clients' files are where their documentation says."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemode.settings import ClientName, Machine, mcp_clients

HOME = Path("/home/me")

FILES = {
    "linux": {
        "claude-desktop": ".config/Claude/claude_desktop_config.json",
        "claude-code": ".claude.json",
        "cursor": ".cursor/mcp.json",
        "vscode": ".config/Code/User/mcp.json",
        "gemini": ".gemini/settings.json",
        "zed": ".config/zed/settings.json",
        "codex": ".codex/config.toml",
        "goose": ".config/goose/config.yaml",
        "opencode": ".config/opencode/opencode.json",
    },
    "darwin": {
        "claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json",
        "claude-code": ".claude.json",
        "cursor": ".cursor/mcp.json",
        "vscode": "Library/Application Support/Code/User/mcp.json",
        "gemini": ".gemini/settings.json",
        "zed": ".config/zed/settings.json",
        "codex": ".codex/config.toml",
        "goose": ".config/goose/config.yaml",
        "opencode": ".config/opencode/opencode.json",
    },
    "win32": {
        "claude-desktop": "AppData/Roaming/Claude/claude_desktop_config.json",
        "claude-code": ".claude.json",
        "cursor": ".cursor/mcp.json",
        "vscode": "AppData/Roaming/Code/User/mcp.json",
        "gemini": ".gemini/settings.json",
        "zed": "AppData/Roaming/Zed/settings.json",
        "codex": ".codex/config.toml",
        "goose": "AppData/Roaming/Block/goose/config/config.yaml",
        "opencode": ".config/opencode/opencode.json",
    },
}


@pytest.mark.parametrize("platform", sorted(FILES))
def test_each_client_has_a_file_on_each_platform(platform: str) -> None:
    clients = mcp_clients(Machine(platform, HOME, {}))
    assert {name: str(client.file.relative_to(HOME)) for name, client in clients.items()} == FILES[platform]
    assert set(clients) == set(ClientName)


def test_variables_of_the_user_move_the_files() -> None:
    variables = {"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d"}
    clients = mcp_clients(Machine("linux", HOME, variables))
    assert clients[ClientName.ZED].file == Path("/x/zed/settings.json")
    assert clients[ClientName.VSCODE].file == Path("/x/Code/User/mcp.json")
    assert clients[ClientName.CODEX].file == Path("/c/config.toml")
    assert clients[ClientName.CLAUDE_CODE].file == Path("/d/.claude.json")
    windows = mcp_clients(Machine("win32", HOME, {"APPDATA": "/roaming"}))
    assert windows[ClientName.CLAUDE_DESKTOP].file == Path("/roaming/Claude/claude_desktop_config.json")
