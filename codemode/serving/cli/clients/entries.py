"""What a client's configuration says of codemode: command, arguments and references to environment variables."""

from __future__ import annotations

import base64
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from codemode.errors import ConfigurationError
from codemode.settings import ClientName

if TYPE_CHECKING:
    from codemode.settings import McpClient

#: Clients with install links.
LINKED = (ClientName.CURSOR, ClientName.VSCODE)

#: Seconds that goose waits for an answer; its own default for extensions.
_GOOSE_TIMEOUT_S = 300


@dataclass(frozen=True)
class Launch:
    """How a client starts codemode: a command of absolute paths, and the variables that the configuration reads."""

    name: str
    command: tuple[str, ...]
    variables: tuple[str, ...] = ()


def executable() -> tuple[str, ...]:
    """Return the command that starts this installation of codemode, with an absolute path."""
    beside = Path(sys.executable).with_name("codemode.exe" if sys.platform == "win32" else "codemode")
    if beside.exists():
        return (str(beside),)
    found = shutil.which("codemode")
    return (str(Path(found).absolute()),) if found else (sys.executable, "-m", "codemode")


def entry(client: McpClient, launch: Launch) -> dict[str, Any]:
    """Return the client's entry for codemode. No value of a variable is in it."""
    program, *arguments = launch.command
    names = list(launch.variables)
    match client.name:
        case ClientName.CODEX:
            return {"command": program, "args": arguments} | ({"env_vars": names} if names else {})
        case ClientName.GOOSE:
            return {
                "enabled": True,
                "type": "stdio",
                "name": launch.name,
                "description": "Search and call tools of any API",
                "cmd": program,
                "args": arguments,
                "env_keys": names,
                "envs": {},
                "timeout": _GOOSE_TIMEOUT_S,
            }
    kind = {
        ClientName.CLAUDE_CODE: {"type": "stdio"},
        ClientName.VSCODE: {"type": "stdio"},
        ClientName.ZED: {"source": "custom"},
    }.get(client.name, {})
    known = input_id if client.name is ClientName.VSCODE else str
    env = {name: client.reference.format(name=known(name)) for name in names} if client.reference else {}
    return {**kind, "command": program, "args": arguments, **({"env": env} if env else {})}


def inputs(client: McpClient, launch: Launch) -> list[dict[str, Any]]:
    """Return the inputs that VS Code asks for once and stores, one for each variable; none for other clients."""
    if client.name is not ClientName.VSCODE:
        return []
    return [
        {"type": "promptString", "id": input_id(name), "description": f"{name} of {launch.name}", "password": True}
        for name in launch.variables
    ]


def input_id(variable: str) -> str:
    """Return the id of the VS Code input of a variable: `GYM_TOKEN` is `gym-token`."""
    return variable.lower().replace("_", "-")


def link(client: McpClient, launch: Launch) -> str:
    """Return the link that installs codemode in a client. Raises ConfigurationError for a client that has none.

    Sources: https://code.visualstudio.com/api/extension-guides/ai/mcp#create-an-mcp-installation-url and
    https://cursor.com/docs/mcp/install-links.
    """
    content = entry(client, launch)
    if client.name is ClientName.VSCODE:
        whole = {"name": launch.name, **content, "inputs": inputs(client, launch)}
        return f"vscode:mcp/install?{quote(_compact(whole), safe='')}"
    if client.name is ClientName.CURSOR:
        config = quote(base64.b64encode(_compact(content).encode()), safe="")
        return f"cursor://anysphere.cursor-deeplink/mcp/install?name={quote(launch.name, safe='')}&config={config}"
    message = f"{client.title} has no install links; --link is for {' and '.join(LINKED)}"
    raise ConfigurationError(message)


def command_of(server: Any) -> tuple[str, ...]:
    """Return the command of a server in a client's file, or () if it has none."""
    if not isinstance(server, dict):
        return ()
    given = server["command"] if isinstance(server.get("command"), dict) else server
    program, arguments = given.get("path") or given.get("command") or given.get("cmd"), given.get("args") or ()
    words = program if isinstance(program, list) else [program, *arguments] if program else ()
    return tuple(map(str, words))


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
