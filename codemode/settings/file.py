"""Load `codemode.yaml`, or create settings for one document without a file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import ValidationError

from codemode.errors import ConfigurationError
from codemode.settings.mcp_clients import runs_codemode
from codemode.settings.mcp_servers import servers_in
from codemode.settings.mistakes import duplicate_keys, line_of, mistakes, unknown_names, yaml_message
from codemode.settings.namespace import is_namespace
from codemode.settings.project import project_of, project_of_file
from codemode.settings.section import expanded
from codemode.settings.sections import Settings
from codemode.settings.sources import is_python
from codemode.settings.trust import is_outside, require_trust
from codemode.settings.urls import is_url
from codemode.text.yaml import YamlLoader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.settings.secrets import SecretReference

#: Default configuration file of `CodeMode.from_config` and the command line.
DEFAULT_FILE = "codemode.yaml"

#: Variable of the server key if there is no configuration file.
API_KEY_VARIABLE = "CODEMODE_API_KEY"

#: File names without information about the API.
GENERIC_NAMES = {"openapi", "swagger", "api", "spec", "index", "schema", "v1", "v2", "v3", "docs", "mcp", "sse"}


def load_settings(path: str | Path = DEFAULT_FILE, *, needs_sources: bool = True, is_named: bool = True) -> Settings:
    """Return the settings of a configuration file. Raises ConfigurationError with all mistakes at once.

    A file that nobody named (`is_named=False`) was found in a folder. Raises ConfigurationUntrusted for such a file
    unless it is trusted, or can do nothing that needs trust.
    """
    try:
        file = expanded(Path(path))
    except ValueError as error:
        message = f"the configuration {path}: {error}"
        raise ConfigurationError(message) from None
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"cannot read the configuration {file}: {reason}; choose another file with --config"
        if isinstance(error, FileNotFoundError):
            message += ", or write one with `codemode init`"
        raise ConfigurationError(message) from None
    try:
        node = yaml.compose(text, YamlLoader)
        content = yaml.load(text, YamlLoader)  # noqa: S506 -- a safe loader
    except yaml.YAMLError as error:
        message = f"{file}: not YAML: {yaml_message(error)}"
        raise ConfigurationError(message) from None
    menu = _named_menu(content)
    if menu and not is_named and is_outside(menu, file.parent):
        require_trust(file, text, _validated(file, {**content, "menu": {}}, node), menu)
    settings = _validated(file, _with_menu(content, menu, file.parent) if menu else content, node)
    if not is_named:
        require_trust(file, text, settings, menu)
    settings = _with_servers(settings, file.parent)
    if needs_sources and not settings.sources:
        message = f"{file} has no sources: add one with `codemode sources add NAME LOCATION`"
        raise ConfigurationError(message)
    strange = [(line_of(node, place), text) for place, text in unknown_names(settings)]
    if strange:
        raise _invalid(file, strange)
    settings = _anchored(settings, file.parent)
    settings._where = lambda location: f"{file}, line {line_of(node, location)}: "
    settings._derived = project_of_file(file)
    return settings


def _invalid(file: Path, wrong: list[tuple[int, str]]) -> ConfigurationError:
    lines = "\n".join(f"  line {line}: {text}" for line, text in sorted(wrong))
    return ConfigurationError(f"{file} is not a valid configuration:\n{lines}")


def _validated(file: Path, content: Any, node: yaml.Node | None) -> Settings:
    wrong = duplicate_keys(node)
    try:
        settings = Settings.model_validate(content if content is not None else {})
    except ValidationError as error:
        raise _invalid(file, wrong + mistakes(error, node)) from None
    if wrong:
        raise _invalid(file, wrong)
    return settings


def _named_menu(content: Any) -> str:
    """Return the name of the file with the menu, or "" if the configuration has its menu itself."""
    menu = content.get("menu") if isinstance(content, dict) else None
    return menu if isinstance(menu, str) else ""


def _with_menu(content: Any, name: str, folder: Path) -> Any:
    """Return the content with the menu of the file of that name. Raises ConfigurationError."""
    try:
        file = folder / expanded(Path(name))
    except ValueError as error:
        message = f"menu: {error}"
        raise ConfigurationError(message) from None
    try:
        menu = yaml.load(file.read_text(encoding="utf-8"), YamlLoader)  # noqa: S506 -- a safe loader
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        match error:
            case OSError():
                reason = error.strerror
            case yaml.YAMLError():
                reason = f"not YAML: {yaml_message(error)}"
            case _:
                reason = "it is not UTF-8 text"
        message = f"menu: cannot read {file}: {reason}"
        raise ConfigurationError(message) from None
    return {**content, "menu": menu}


def settings_for_document(
    location: str, *, base_url: str = "", name: str = "", bearer: SecretReference | None = None
) -> Settings:
    """Return settings for one document, without a configuration file. Raises ConfigurationError.

    The namespace is `name`, or derived from the location. `CODEMODE_API_KEY` is the server key if it is set.
    """
    source: dict[str, Any] = {"location": location, "base_url": base_url or None}
    if bearer:
        token = bearer.model_dump(exclude_unset=True)
        source["credentials"] = [{"kind": "bearer", "token": token, "scheme": "*"}]
    if not is_python(location):
        source["keep_names"] = False  # the same name may mean another document next time
        source.setdefault("credentials", [{"kind": "none"}])
    content = {
        "sources": {name or namespace_of(location): source},
        "journal": {"enabled": True},
        "server": {"keys": [{"env": API_KEY_VARIABLE}] if os.environ.get(API_KEY_VARIABLE) else []},
    }
    try:
        settings = Settings.model_validate(content)
    except ValidationError as error:
        found = "; ".join(text for _, text in mistakes(error, None))
        raise ConfigurationError(found) from None
    (named,) = settings.sources
    where = location if is_url(location) else str(Path(location).resolve())
    settings._derived = project_of(named, where, base_url)
    return settings


def settings_for_mcp_server(server: str | Sequence[str], *, name: str, headers: Mapping[str, str]) -> Settings:
    """Return settings for one MCP server, by URL or command, without a file. Raises ConfigurationError."""
    where = {"location": server} if isinstance(server, str) else {"command": tuple(server)}
    content = {"sources": {name: {"kind": "mcp", **where, "headers": dict(headers)}}, "journal": {"enabled": True}}
    try:
        settings = Settings.model_validate(content)
    except ValidationError as error:
        raise ConfigurationError("; ".join(text for _, text in mistakes(error, None))) from None
    settings._derived = project_of(name, server if isinstance(server, str) else "\0".join(server))
    return settings


def namespace_of(location: str) -> str:
    """Return a namespace from a location: its file, folder or host, the first with more meaning than 'openapi'."""
    scheme, _, rest = location.rpartition("://")
    parts = [part for part in re.split(r"[/\\\\]", rest) if part]
    names = [part.lower().split(".")[0] for part in reversed(parts)]
    if scheme and parts:  # of `mcp.linear.app` the second word is the name
        names += parts[0].lower().split(".")[1:-1]
    words = [re.sub(r"\W+", "_", name).strip("_") for name in names]
    named = (name for word in words if word not in GENERIC_NAMES for name in (word, f"{word}_api"))
    return next(filter(is_namespace, named), "api")


def _with_servers(settings: Settings, folder: Path) -> Settings:
    """Return the settings with the servers of `mcp_servers` as sources. Raises ConfigurationError."""
    sources = dict(settings.sources)
    for named in settings.mcp_servers:
        servers = servers_in(folder / named)
        found = {name: server for name, server in servers.items() if not runs_codemode(server.command)}
        twice = sorted(found.keys() & (sources.keys() | settings.own_namespaces.keys()))
        if twice:
            message = f"mcp_servers: {named}: source {twice[0]!r} already exists"
            raise ConfigurationError(message)
        sources |= found
    return settings.model_copy(update={"sources": sources})


def _anchored(settings: Settings, folder: Path) -> Settings:
    """Return the settings with paths relative to the file, so that the working directory has no influence."""
    sources = {name: source.anchored(folder) for name, source in settings.sources.items()}
    folders = {
        name: folder / path
        for name, path in (("state_folder", settings.state_folder), ("cache_folder", settings.cache_folder))
        if path is not None
    }
    saved = settings.saved
    if saved.folder is not None:
        saved = saved.model_copy(update={"folder": folder / saved.folder})
    return settings.model_copy(update={"sources": sources, "saved": saved, **folders})
