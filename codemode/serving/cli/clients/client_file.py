"""Edit a client's configuration file: one server changes, and comments and other keys are kept."""

from __future__ import annotations

import json
import shutil
import tomllib
from datetime import datetime
from typing import TYPE_CHECKING, Any

import yaml

from codemode.errors import ConfigurationError
from codemode.serving.cli.configuration_file import read, with_source, without_source, write
from codemode.settings import yaml_message
from codemode.text import jsonc
from codemode.text.toml import with_table, without_table
from codemode.text.yaml import YamlLoader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from codemode.settings import McpClient

#: Keys of an entry that hold environment variables: those that a user added are kept when codemode is installed again.
_ENVIRONMENT = ("env", "envs")


class ClientFile:
    """The text of a client's configuration file and the servers in it. Raises ConfigurationError."""

    def __init__(self, client: McpClient, file: Path) -> None:
        self.client = client
        self.file = file
        self.text = read(file)
        self._content = self._parsed(self.text)

    @property
    def servers(self) -> dict[str, Any]:
        """The servers by name."""
        found = self._content.get(self.client.section)
        found = {} if found is None else found
        if not isinstance(found, dict):
            message = f"{self.file}: {self.client.section} is not a mapping of names to servers; correct it first"
            raise ConfigurationError(message)
        return found

    def with_server(
        self, name: str, entry: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]] = (), *, keeps: bool = True
    ) -> str:
        """Return the text with a server added, or updated. With `keeps`, other keys and variables of it stay."""
        before = self.servers.get(name)
        whole = _merged(before if keeps and isinstance(before, dict) else {}, entry)
        expected = {**self._content, self.client.section: {**self.servers, name: whole}}
        asked = self._content.get("inputs", [])
        asked = asked if isinstance(asked, list) else []
        ids = {one.get("id") for one in asked if isinstance(one, dict)}
        missing = [one for one in inputs if one["id"] not in ids]
        if missing:
            expected["inputs"] = [*asked, *missing]
        try:
            text = self._edited(name, whole, missing)
        except ValueError:
            text = ""
        return self._checked(text, expected)

    def without_server(self, name: str) -> str:
        """Return the text without a server. Raises KeyError if there is none of that name."""
        left = {key: value for key, value in self.servers.items() if key != name}
        if len(left) == len(self.servers):
            raise KeyError(name)
        expected = {**self._content, self.client.section: left}
        return self._checked(self._cut(name), expected)

    def replace(self, text: str) -> Path | None:
        """Write the text atomically. Return the backup of the former text, or None if there was no file."""
        backup = None
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            if self.file.exists():
                backup = self.file.with_name(f"{self.file.name}.{datetime.now():%Y%m%dT%H%M%S.%f}.bak")  # noqa: DTZ005
                shutil.copy2(self.file, backup)
        except OSError as error:
            message = f"cannot write {error.filename or self.file}: {error.strerror}"
            raise ConfigurationError(message) from None
        write(self.file, text)
        return backup

    def _edited(self, name: str, entry: dict[str, Any], inputs: Sequence[Mapping[str, Any]]) -> str:
        section = self.client.section
        match self.client.form:
            case "toml":
                return with_table(self.text, [section, name], entry)
            case "yaml":
                text = without_source(self.text, name, section=section) if name in self.servers else self.text
                return with_source(text, name, entry, section=section)
        text = jsonc.with_member(self.text, [section, name], entry)
        for one in inputs:
            text = jsonc.with_item(text, "inputs", one)
        return text

    def _cut(self, name: str) -> str:
        match self.client.form:
            case "toml":
                return without_table(self.text, [self.client.section, name])
            case "yaml":
                return without_source(self.text, name, section=self.client.section)
        return jsonc.without_member(self.text, [self.client.section, name])

    def _checked(self, text: str, expected: Mapping[str, Any]) -> str:
        """Return the text if it says what is expected, and refuse an unusual layout otherwise."""
        try:
            is_expected = _pruned(self._parsed(text), self.client) == _pruned(expected, self.client)
        except ConfigurationError:
            is_expected = False
        if not is_expected:
            message = (
                f"{self.file} has a layout that is not edited in place, such as an inline table; nothing was written."
                f" Edit {self.client.section} by hand: codemode mcp install {self.client.name} --print shows the entry"
            )
            raise ConfigurationError(message)
        return text

    def _parsed(self, text: str) -> dict[str, Any]:
        try:
            content = _parse(self.client.form, text) if text.strip() else {}
        except (ValueError, yaml.YAMLError) as error:
            reason = yaml_message(error) if isinstance(error, yaml.YAMLError) else error
            message = f"{self.file} is not {_FORMS[self.client.form]}: {reason}; nothing was written, correct it first"
            raise ConfigurationError(message) from None
        if content is None:
            return {}
        if not isinstance(content, dict):
            message = f"{self.file} is not a mapping of settings; nothing was written, correct it first"
            raise ConfigurationError(message)
        return content


_FORMS = {"json": "JSON (comments are allowed)", "toml": "TOML", "yaml": "YAML"}


def fragment(client: McpClient, name: str, entry: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]]) -> str:
    """Return the part of a configuration file that installs a server, in the client's format."""
    match client.form:
        case "toml":
            return with_table("", [client.section, name], entry)
        case "yaml":
            return with_source("", name, entry, section=client.section)
    content = {client.section: {name: entry}, **({"inputs": list(inputs)} if inputs else {})}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _parse(form: str, text: str) -> Any:
    if form == "toml":
        return tomllib.loads(text)
    return yaml.load(text, YamlLoader) if form == "yaml" else jsonc.loads(text)  # noqa: S506 -- a safe loader


def _merged(before: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry over the one before. Variables that a user has set win."""
    kept = {key: {**entry.get(key, {}), **before[key]} for key in _ENVIRONMENT if isinstance(before.get(key), dict)}
    return {**before, **entry, **kept}


def _pruned(content: Mapping[str, Any], client: McpClient) -> dict[str, Any]:
    """Return the content without its section if that is empty: an empty section and none are the same."""
    return {key: value for key, value in content.items() if key != client.section or value}
