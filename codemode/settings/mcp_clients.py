"""MCP clients: where each keeps its servers, and how it refers to an environment variable."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence


class ClientName(StrEnum):
    """The clients, as the command line calls them."""

    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    VSCODE = "vscode"
    GEMINI = "gemini"
    ZED = "zed"
    CODEX = "codex"
    GOOSE = "goose"
    OPENCODE = "opencode"


@dataclass(frozen=True)
class McpClient:
    """A client and its configuration file.

    `section` is the key that has a server for each name, empty if codemode is not installed there. `reference` is a
    value of the server's environment that the client replaces by the variable `{name}`; it is empty where the client
    has no such form. `project_file` is the file of a project, relative to its folder, and is empty where there is none.
    """

    name: ClientName
    title: str
    file: Path
    section: str = "mcpServers"
    form: Literal["json", "toml", "yaml"] = "json"
    reference: str = ""
    project_file: str = ""


@dataclass(frozen=True)
class Machine:
    """The platform (as `sys.platform` names it), the home folder, and the variables that move configuration files."""

    platform: str
    home: Path
    variables: dict[str, str]

    @classmethod
    def this(cls) -> Machine:
        """Return the machine that this process runs on."""
        return cls(sys.platform, Path.home(), dict(os.environ))

    def folder(self, variable: str, default: Path) -> Path:
        """Return the folder that a variable names, or the default."""
        named = self.variables.get(variable)
        return Path(named) if named else default

    @property
    def dot_config(self) -> Path:
        """`~/.config`, or `XDG_CONFIG_HOME` on Linux (XDG Base Directory Specification)."""
        default = self.home / ".config"
        return default if self.platform == "darwin" else self.folder("XDG_CONFIG_HOME", default)

    @property
    def app_data(self) -> Path:
        """`%APPDATA%` on Windows."""
        return self.folder("APPDATA", self.home / "AppData" / "Roaming")

    @property
    def applications(self) -> Path:
        """Where desktop applications keep their settings (Electron's `app.getPath("appData")`)."""
        if self.platform == "win32":
            return self.app_data
        return self.home / "Library" / "Application Support" if self.platform == "darwin" else self.dot_config


def mcp_clients(machine: Machine | None = None) -> dict[ClientName, McpClient]:
    """Return the clients by name, with the file of this user on a machine (default: this one).

    Sources, as of 2026:

    - Claude Desktop: https://modelcontextprotocol.io/docs/develop/connect-local-servers
    - Claude Code: https://code.claude.com/docs/en/mcp (user scope; `${NAME:-default}`)
    - Cursor: https://cursor.com/docs/mcp (`${env:NAME}`)
    - VS Code: https://code.visualstudio.com/docs/agents/reference/mcp-configuration (inputs)
    - Gemini CLI: https://geminicli.com/docs/cli/configuration and https://geminicli.com/docs/tools/mcp-server (`$NAME`)
    - Zed: https://zed.dev/docs/configuring-zed and https://zed.dev/docs/ai/mcp
    - Codex: https://developers.openai.com/codex/mcp (`env_vars`)
    - opencode: https://opencode.ai/docs/mcp-servers (`mcp`, and `mcp.servers` since V2); its servers are only imported
    - goose: https://block.github.io/goose/docs/guides/config-files (`env_keys`)
    """
    on = machine or Machine.this()
    is_windows = on.platform == "win32"
    goose = on.app_data / "Block" / "goose" / "config" if is_windows else on.home / ".config" / "goose"
    zed = on.app_data / "Zed" if is_windows else on.dot_config / "zed"
    clients = (
        McpClient(
            ClientName.CLAUDE_DESKTOP, "Claude Desktop", on.applications / "Claude" / "claude_desktop_config.json"
        ),
        McpClient(
            ClientName.CLAUDE_CODE,
            "Claude Code",
            on.folder("CLAUDE_CONFIG_DIR", on.home) / ".claude.json",
            reference="${{{name}:-}}",
            project_file=".mcp.json",
        ),
        McpClient(
            ClientName.CURSOR,
            "Cursor",
            on.home / ".cursor" / "mcp.json",
            reference="${{env:{name}}}",
            project_file=".cursor/mcp.json",
        ),
        McpClient(
            ClientName.VSCODE,
            "VS Code",
            on.applications / "Code" / "User" / "mcp.json",
            section="servers",
            reference="${{input:{name}}}",
            project_file=".vscode/mcp.json",
        ),
        McpClient(
            ClientName.GEMINI,
            "Gemini CLI",
            on.home / ".gemini" / "settings.json",
            reference="${name}",
            project_file=".gemini/settings.json",
        ),
        McpClient(
            ClientName.ZED, "Zed", zed / "settings.json", section="context_servers", project_file=".zed/settings.json"
        ),
        McpClient(
            ClientName.CODEX,
            "Codex",
            on.folder("CODEX_HOME", on.home / ".codex") / "config.toml",
            section="mcp_servers",
            form="toml",
            project_file=".codex/config.toml",
        ),
        McpClient(ClientName.GOOSE, "goose", goose / "config.yaml", section="extensions", form="yaml"),
        McpClient(
            ClientName.OPENCODE,
            "opencode",
            on.home / ".config" / "opencode" / "opencode.json",
            section="",
            project_file="opencode.json",
        ),
    )
    return {client.name: client for client in clients}


def runs_codemode(command: Sequence[str]) -> bool:
    """Whether a command starts `codemode mcp`."""
    words = [Path(word).stem for word in command]
    return "mcp" in words and "codemode" in words[: words.index("mcp")]
