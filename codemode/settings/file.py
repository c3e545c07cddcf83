"""`codemode.yaml`, read whole and checked whole; or settings for one document and no file."""

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
from codemode.settings.mistakes import line_of, mistakes, not_yaml, said_twice, unknown_names
from codemode.settings.namespace import is_namespace
from codemode.settings.project import project_of, project_of_file
from codemode.settings.section import expanded
from codemode.settings.sections import Settings
from codemode.settings.sources import is_url
from codemode.text.yaml import YamlLoader

if TYPE_CHECKING:
    from codemode.settings.secrets import SecretReference

#: Where `CodeMode.from_config` and the command line look when no file is named.
DEFAULT_FILE = "codemode.yaml"

#: The server's key where no configuration file names one.
API_KEY_VARIABLE = "CODEMODE_API_KEY"

#: File names that say what a document is and not what it is about.
_GENERIC_NAMES = {"openapi", "swagger", "api", "spec", "index", "schema", "v1", "v2", "v3", "docs"}


def load_settings(path: str | Path = DEFAULT_FILE) -> Settings:
    """Read a configuration file. Raises ConfigurationError with all of its mistakes at once."""
    try:
        file = expanded(Path(path))
    except ValueError as error:
        message = f"the configuration {path}: {error}"
        raise ConfigurationError(message) from None
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"the configuration {file} cannot be read: {reason}; name another with --config"
        if isinstance(error, FileNotFoundError):
            message += ", or write one with `codemode init`"
        raise ConfigurationError(message) from None
    try:
        node = yaml.compose(text, YamlLoader)
        content = yaml.load(text, YamlLoader)  # noqa: S506 -- a safe loader
    except yaml.YAMLError as error:
        message = f"{file}: not YAML: {not_yaml(error)}"
        raise ConfigurationError(message) from None
    content = _with_menu(content, file.parent)
    wrong = said_twice(node)
    try:
        settings = Settings.model_validate(content if content is not None else {})
    except ValidationError as error:
        raise _invalid(file, wrong + mistakes(error, node)) from None
    if wrong:
        raise _invalid(file, wrong)
    settings = _with_servers(settings, file.parent)
    if not settings.sources:
        message = f"{file} names no sources: `codemode sources add NAME LOCATION` writes one"
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


def _with_menu(content: Any, folder: Path) -> Any:
    """The content with the menu that it names a file for. Raises ConfigurationError where that cannot be read."""
    if not isinstance(content, dict) or not isinstance(content.get("menu"), str):
        return content
    try:
        file = folder / expanded(Path(content["menu"]))
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
                reason = f"not YAML: {not_yaml(error)}"
            case _:
                reason = "it is not UTF-8 text"
        message = f"menu: {file} cannot be read: {reason}"
        raise ConfigurationError(message) from None
    return {**content, "menu": menu}


def settings_for_document(
    location: str, *, base_url: str = "", name: str = "", bearer: SecretReference | None = None
) -> Settings:
    """Settings for one document and no file. Raises ConfigurationError.

    The namespace is `name`, else made of the location. `CODEMODE_API_KEY`, where it is set, is the server's key.
    """
    content = {
        "sources": {
            name or _namespace(location): {
                "location": location,
                "base_url": base_url or None,
                "keep_names": False,  # another document may come under the same name next time
                "credentials": [
                    {"kind": "bearer", "token": bearer.model_dump(exclude_unset=True), "scheme": "*"}
                    if bearer
                    else {"kind": "none"}
                ],
            }
        },
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


def _namespace(location: str) -> str:
    """A namespace from a location: its file, folder or host, whichever first says more than 'openapi'."""
    parts = [part for part in re.split(r"[/\\\\]", location.partition("://")[2] or location) if part]
    words = [re.sub(r"\W+", "_", part.lower().split(".")[0]).strip("_") for part in reversed(parts)]
    found = (name for word in words if word not in _GENERIC_NAMES for name in (word, f"{word}_api"))
    return next(filter(is_namespace, found), "api")


def _with_servers(settings: Settings, folder: Path) -> Settings:
    """The settings with the servers of `mcp_servers` among the sources. Raises ConfigurationError."""
    sources = dict(settings.sources)
    for named in settings.mcp_servers:
        servers = servers_in(folder / named)
        found = {name: server for name, server in servers.items() if not runs_codemode(server.command)}
        twice = sorted(found.keys() & sources.keys())
        if twice:
            message = f"mcp_servers: {named}: there is a source {twice[0]!r} already"
            raise ConfigurationError(message)
        sources |= found
    return settings.model_copy(update={"sources": sources})


def _anchored(settings: Settings, folder: Path) -> Settings:
    """With what stands relative to the file found from anywhere: a server started elsewhere has the same journal."""
    sources = {name: source.anchored(folder) for name, source in settings.sources.items()}
    folders = {
        name: folder / path
        for name, path in (("state_folder", settings.state_folder), ("cache_folder", settings.cache_folder))
        if path is not None
    }
    return settings.model_copy(update={"sources": sources, **folders})
