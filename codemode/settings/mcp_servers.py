"""`mcpServers` files as other MCP clients write them, read as sources."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from codemode.errors import ConfigurationError
from codemode.settings.sources import SourceSettings

if TYPE_CHECKING:
    from pathlib import Path

#: `${NAME}` and `${NAME:-default}` in a value, as the files of several clients have them.
_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]*))?\}")

#: Keys under which clients keep their servers.
_KEYS = ("mcpServers", "servers")


def servers_in(file: Path) -> dict[str, SourceSettings]:
    """The servers of a file by namespace. Raises ConfigurationError, which names the file and the server."""
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        message = f"mcp_servers: {file} cannot be read: {error.strerror}"
        raise ConfigurationError(message) from None
    except ValueError as error:
        message = f"mcp_servers: {file} is not JSON: {error}"
        raise ConfigurationError(message) from None
    servers = next((content[key] for key in _KEYS if isinstance(content, dict) and key in content), None)
    if not isinstance(servers, dict):
        message = f"mcp_servers: {file} has no `mcpServers` with a server for each name"
        raise ConfigurationError(message)
    found: dict[str, SourceSettings] = {}
    for name, server in servers.items():
        if not isinstance(server, dict) or not (server.get("disabled") or server.get("enabled") is False):
            found[_namespace(name, found)] = _source(server, file, name)
    return found


def _source(server: Any, file: Path, name: str) -> SourceSettings:
    try:
        if not isinstance(server, dict):
            raise TypeError("is no object")
        url = server.get("url") or server.get("serverUrl") or ""
        command = [server["command"], *server.get("args", ())] if server.get("command") else []
        return SourceSettings(
            kind="mcp",
            location=_expanded(url),
            command=tuple(_expanded(str(part)) for part in command),
            env={key: _expanded(str(value)) for key, value in server.get("env", {}).items()},
            headers={key: _expanded(str(value)) for key, value in server.get("headers", {}).items()},
            cwd=server.get("cwd"),
        )
    except (ValidationError, TypeError, AttributeError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        message = f"mcp_servers: {file}: mcpServers.{name}: {reason.removeprefix('Value error, ')}"
        raise ConfigurationError(message) from None


def _expanded(text: str) -> str:
    return _VARIABLE.sub(lambda found: os.environ.get(found[1]) or found[2] or "", text)


def _namespace(name: str, taken: dict[str, SourceSettings]) -> str:
    base = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:28] or "server"
    base = base if base[0].isalpha() else f"s_{base}"
    return next(one for number in range(1, 1000) if (one := base if number == 1 else f"{base}_{number}") not in taken)
