"""MCP servers that others wrote, as codemode's configuration has them, and where `make servers` installs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.servers.running import INSTALLED, program

if TYPE_CHECKING:
    from collections.abc import Mapping

MODULES = INSTALLED / "npm" / "node_modules"

#: How many tools each of them has.
TOOLS = {"everything": 15, "filesystem": 14, "memory": 9, "thinking": 1, "git": 12, "time": 2, "fetch": 1}

#: Servers of ours beside them, and the tools of each, so that there are eleven with 340 tools.
OURS, TOOLS_OF_OURS = ("orders", "parts", "people", "rooms"), 72

PAGING_SERVER = Path(__file__).parents[2] / "unit" / "codemode" / "sources" / "example_server.py"


def npm(name: str) -> tuple[str, str]:
    """Node.js, and a program of a package for it, or a skip that says how they are installed."""
    node, script = MODULES / "node" / "bin" / "node", MODULES / ".bin" / name
    if not (node.exists() and script.exists()):
        pytest.skip(f"{name} is not installed: make servers")
    return str(node), str(script.resolve())


def servers(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """The sources of a configuration; `folder` is what they may see and change, a git repository is in `repository`."""
    files, repository = folder / "files", folder / "repository"
    files.mkdir()
    subprocess.run(["git", "init", "--quiet", "--initial-branch", "main", str(repository)], check=True)
    for key, value in (("user.name", "A. Tester"), ("user.email", "a@example.org")):
        subprocess.run(["git", "-C", str(repository), "config", key, value], check=True)
    return {
        "everything": {"command": npm("mcp-server-everything")},
        "filesystem": {"command": (*npm("mcp-server-filesystem"), str(files))},
        "memory": {"command": npm("mcp-server-memory"), "env": {"MEMORY_FILE_PATH": str(folder / "memory.json")}},
        "thinking": {"command": npm("mcp-server-sequential-thinking")},
        "git": {"command": (program("mcp", "mcp-server-git"), "-r", str(repository))},
        "time": {"command": (program("mcp", "mcp-server-time"), "--local-timezone", "Europe/Berlin")},
        "fetch": {"command": (program("mcp", "mcp-server-fetch"), "--allow-private-ips", "--ignore-robots-txt")},
    }


def ours(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """Servers with many tools on many pages."""
    found = {}
    for name in OURS:
        schema = {"type": "object", "properties": {"do": {"type": "string"}}, "required": ["do"]}
        offered = [
            {"name": f"{name}_{number}", "description": f"Read number {number} of the {name}.", "inputSchema": schema}
            for number in range(TOOLS_OF_OURS)
        ]
        (folder / f"{name}.json").write_text(json.dumps(offered), encoding="utf-8")
        found[name] = {"command": (sys.executable, str(PAGING_SERVER), str(folder / f"{name}.json"))}
    return found
