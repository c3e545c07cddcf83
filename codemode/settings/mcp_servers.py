"""Sources from the configuration files of other MCP clients.

Claude Desktop, Claude Code, Cursor, Windsurf, Cline, Roo and Gemini CLI list servers under `mcpServers`, VS Code under
`servers` (`mcp` in `settings.json`), Zed under `context_servers`, and opencode under `mcp`. Codex has `mcp_servers` in
TOML, goose `extensions` in YAML. A server is a program with arguments and environment, or a URL with headers. The key
names differ.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import ValidationError

from codemode.errors import ConfigurationError
from codemode.settings.mistakes import yaml_message
from codemode.settings.namespace import is_namespace
from codemode.settings.section import expanded
from codemode.settings.sources import SourceSettings
from codemode.text import jsonc
from codemode.text.yaml import YamlLoader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${input:ID}`, `${workspaceFolder}`; opencode's `{env:NAME}`.
_VARIABLE = re.compile(r"\$\{(?:(env|input):)?([\w/.-]+?)(?::-([^{}]*))?\}|\{env:(\w+)\}")

#: A value that is one variable, as in Gemini CLI: `$NAME`.
_WHOLE = re.compile(r"\$([A-Za-z_]\w*)")

#: Extensions of goose that are part of it.
_BUILT_IN = ("builtin", "platform", "frontend", "inline_python")

#: Transports by the names that clients use.
_TRANSPORTS = {"sse": "sse", "http": "http", "streamablehttp": "http"}

#: Timeouts from this value on are milliseconds. Some clients write milliseconds, others seconds.
_MILLISECONDS = 1_000

_LONGEST_S = 3_600


class NoServers(ConfigurationError):
    """A client's file has no section of MCP servers."""


@dataclass(frozen=True)
class _Place:
    """The place of a file, which gives its variables their values."""

    file: Path
    inputs: Mapping[str, str] = field(default_factory=dict)
    keeps_variables: bool = False

    @property
    def workspace(self) -> Path:
        """The workspace folder: the parent of `.cursor`, `.vscode` and the like, or the folder of the file."""
        folder = self.file.absolute().parent
        nearest = next((each for each in (folder, folder.parent) if each.name.startswith(".")), None)
        return nearest.parent if nearest is not None else folder

    def expanded(self, value: object) -> str:
        """Return a value with its variables replaced. Unknown variables become empty."""
        text = str(value)
        if self.keeps_variables:
            return _VARIABLE.sub(lambda found: self._own().get(found[2], found[0]), text)
        whole = _WHOLE.fullmatch(text)
        return os.environ.get(whole[1], text) if whole else _VARIABLE.sub(self._variable, text)

    def _variable(self, found: re.Match[str]) -> str:
        kind, name, default = found[1], found[2] or found[4], found[3] or ""
        if kind == "input":  # an editor would prompt for it
            return os.environ.get(re.sub(r"\W", "_", name).upper()) or self.inputs.get(name, "")
        own = self._own()
        return own[name] if kind is None and name in own else os.environ.get(name) or default

    def _own(self) -> dict[str, str]:
        """Return the variables that are not of the environment."""
        return {
            "workspaceFolder": str(self.workspace),
            "workspaceRoot": str(self.workspace),
            "workspaceFolderBasename": self.workspace.name,
            "userHome": str(Path.home()),
            "pathSeparator": os.sep,
            "/": os.sep,
        }


def servers_in(file: Path, *, keeps_variables: bool = False, project: Path | None = None) -> dict[str, SourceSettings]:
    """Return the servers of a file by namespace. Raises ConfigurationError with the file and the server.

    With `keeps_variables`, references to environment variables and inputs stay as they are written. A file of Claude
    Code also has servers of a `project`, by its folder.
    """
    content = _content(file)
    content = content if isinstance(content, dict) else {}
    key, servers = _servers(content)
    own = _of_project(content, project)
    if own:
        key, servers = key or "mcpServers", {**(servers if isinstance(servers, dict) else {}), **own}
    if not isinstance(servers, dict):
        message = f"mcp_servers: {file} has no mapping `mcpServers` of names to servers"
        raise NoServers(message)
    place = _Place(file, _defaults(content.get("inputs")), keeps_variables)
    wanted = {name: one for name, one in servers.items() if not isinstance(one, dict) or _is_wanted(one)}
    names = _namespaces(map(str, wanted))
    return {names[str(name)]: _source(server, place, f"{key}.{name}") for name, server in wanted.items()}


def _content(file: Path) -> Any:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"mcp_servers: cannot read {file}: {reason}"
        raise ConfigurationError(message) from None
    form = {".toml": "TOML", ".yaml": "YAML", ".yml": "YAML"}.get(file.suffix, "JSON")
    try:
        if form == "YAML":
            return yaml.load(text, YamlLoader)  # noqa: S506 -- a safe loader
        return tomllib.loads(text) if form == "TOML" else jsonc.loads(text)
    except (ValueError, yaml.YAMLError) as error:
        reason = yaml_message(error) if isinstance(error, yaml.YAMLError) else str(error)
        message = f"mcp_servers: {file} is not {form}: {reason}"
        raise ConfigurationError(message) from None


def _servers(content: dict[str, Any]) -> tuple[str, Any]:
    """Return the key of the servers, and the servers."""
    for key in ("mcpServers", "servers", "context_servers", "mcp_servers", "extensions"):
        if key in content:
            return key, content[key]
    inner = content.get("mcp")
    if isinstance(inner, dict):
        return ("mcp.servers", inner["servers"]) if "servers" in inner else ("mcp", inner)
    return "", None


def _of_project(content: dict[str, Any], project: Path | None) -> dict[str, Any]:
    """Return the servers that Claude Code keeps for a folder (its local scope)."""
    projects = content.get("projects")
    one = projects.get(str(project)) if isinstance(projects, dict) else None
    own = one.get("mcpServers") if isinstance(one, dict) else None
    return own if isinstance(own, dict) else {}


def _defaults(inputs: Any) -> dict[str, str]:
    """Return the default values of inputs by id."""
    asked = [each for each in inputs if isinstance(each, dict)] if isinstance(inputs, list) else []
    return {str(each.get("id")): str(each["default"]) for each in asked if "default" in each}


def _is_wanted(server: dict[str, Any]) -> bool:
    """Return whether a server is enabled and belongs to the user. Zed also lists servers of extensions."""
    is_off = bool(server.get("disabled")) or server.get("enabled") is False
    return not is_off and server.get("source") != "extension" and server.get("type") not in _BUILT_IN


def _source(server: Any, place: _Place, where: str) -> SourceSettings:
    try:
        if not isinstance(server, dict):
            raise TypeError("expected an object")
        command = _command(server, place)
        url = next((server[key] for key in ("url", "serverUrl", "httpUrl", "uri") if server.get(key)), "")
        return SourceSettings(
            kind="mcp",
            location="" if command else place.expanded(url),
            transport=_transport(server),
            command=command,
            env=dict(_environment(server, place)) if command else {},
            cwd=_folder(server.get("cwd"), place) if command else None,
            headers=dict(_headers(server, place)),
            **_further(server),
        )
    except (ValidationError, TypeError, AttributeError, ValueError, OSError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        message = f"mcp_servers: {place.file}: {where}: {reason.removeprefix('Value error, ')}"
        raise ConfigurationError(message) from None


def _command(server: dict[str, Any], place: _Place) -> tuple[str, ...]:
    """Return a program and its arguments: two keys, one list (opencode), or an object (Zed)."""
    given: dict[str, Any] = server["command"] if isinstance(server.get("command"), dict) else server
    command, arguments = given.get("path") or given.get("command") or given.get("cmd"), given.get("args") or ()
    whole = command if isinstance(command, list) else [command, *arguments] if command else []
    return tuple(place.expanded(part) for part in whole)


def _environment(server: dict[str, Any], place: _Place) -> Iterator[tuple[str, str]]:
    """Yield the variables of `envFile`, then those of the server, which take precedence."""
    if server.get("envFile"):
        file = _folder(server["envFile"], place)
        for line in file.read_text(encoding="utf-8").splitlines():
            name, is_set, value = line.strip().removeprefix("export ").partition("=")
            if is_set and not name.startswith("#"):
                yield name.strip(), value.strip().strip("\"'")
    command = server.get("command")
    own = command.get("env") if isinstance(command, dict) else _first(server, "env", "environment", "envs")
    for name, value in (own or {}).items():
        yield name, place.expanded(value)
    for name in _first(server, "env_vars", "env_keys") or ():
        variable = name["name"] if isinstance(name, dict) else name
        yield variable, place.expanded(f"${{{variable}}}")


def _headers(server: dict[str, Any], place: _Place) -> Iterator[tuple[str, str]]:
    for name, value in (_first(server, "headers", "http_headers") or {}).items():
        yield name, place.expanded(value)
    for name, variable in (server.get("env_http_headers") or {}).items():
        yield name, place.expanded(f"${{{variable}}}")
    if server.get("bearer_token_env_var"):
        yield "Authorization", place.expanded(f"Bearer ${{{server['bearer_token_env_var']}}}")


def _first(server: dict[str, Any], *keys: str) -> Any:
    """Return the value of the first of the keys that has one."""
    return next((server[key] for key in keys if server.get(key)), None)


def _folder(path: Any, place: _Place) -> Path:
    """Return a path relative to the workspace."""
    return place.workspace / expanded(Path(place.expanded(path or ".")))


def _transport(server: dict[str, Any]) -> Any:
    """Return the transport of a server at a URL."""
    said = str(server.get("type") or server.get("transport") or "")
    if said in ("", "stdio", "local", "remote"):
        return "http" if server.get("httpUrl") else "auto"
    known = _TRANSPORTS.get(re.sub(r"[^a-z]", "", said.lower()))
    if known is None:
        message = f"unknown type {said!r}; valid: stdio, http (or streamable-http), sse"
        raise ValueError(message)
    return known


def _further(server: dict[str, Any]) -> dict[str, Any]:
    """Return the tool filters and the timeout of a server."""
    further: dict[str, Any] = {}
    wanted = server.get("includeTools") or server.get("tools")
    if isinstance(wanted, list) and wanted != ["*"]:
        further["include"] = tuple(map(str, wanted))
    if server.get("excludeTools") or server.get("disabledTools"):
        further["exclude"] = tuple(map(str, server.get("excludeTools") or server["disabledTools"]))
    timeout = server.get("timeout")
    if isinstance(timeout, (int, float)) and timeout > 0:
        further["timeout_s"] = min(timeout if timeout < _MILLISECONDS else timeout / 1_000, _LONGEST_S)
    return further


def _namespaces(names: Iterable[str]) -> dict[str, str]:
    """Return the namespaces of servers by name, whatever their order: a name that is a namespace already keeps it."""
    given: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names, key=lambda name: (_base(name) != name, name)):
        base = _base(name)
        numbered = (f"{base}_{number}" for number in count(2))
        given[name] = next(one for one in chain((base,), numbered) if one not in taken)
        taken.add(given[name])
    return given


def _base(name: str) -> str:
    base = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:28] or "server"
    base = base if base[0].isalpha() else f"s_{base}"
    return base if is_namespace(base) else f"{base[:25]}_server"
