"""Find the MCP servers that other clients on this machine have, without the values of variables and headers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from codemode.errors import ConfigurationError
from codemode.settings import NoServers, mcp_clients, runs_codemode, servers_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from codemode.settings import McpClient, SourceSettings

#: A reference to a variable and nothing else: `${env:NAME}`, `${NAME:-default}`, `{env:NAME}`, `$NAME`, `${input:id}`.
_REFERENCE = re.compile(r"\$?\{(?:env:|input:)?([\w-]+)(?::-[^}]*)?\}|\$([A-Za-z_]\w*)")

#: A reference within a text.
_REFERS = re.compile(r"\$\{|\{env:|\$[A-Za-z_]")

#: Arguments with values that are not shown.
_SECRET = re.compile(r"key|token|secret|passw|auth|credential", re.IGNORECASE)


@dataclass(frozen=True)
class ClientServer:
    """A server in a client's file. Values in `source` are as the file has them, and may be secrets."""

    client: McpClient
    file: Path
    name: str
    source: SourceSettings

    @property
    def place(self) -> tuple[str, ...]:
        """What makes it the same server as another: its command, or its URL."""
        return self.source.command or (self.source.location,)

    @property
    def shown(self) -> str:
        """Its command or URL, without values of secret options, queries and user information."""
        if self.source.command:
            return " ".join(_without_secrets(self.source.command))
        url = urlsplit(self.source.location)
        return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"

    @property
    def can_be_added(self) -> bool:
        """Whether its command or URL can be copied: it has no secret, and no variable that only the client replaces."""
        return self.shown == " ".join(self.place) and not any(_REFERS.search(word) for word in self.place)

    def entry(self) -> dict[str, Any]:
        """Return it as a source of `codemode.yaml`. Variables and headers refer to environment variables."""
        content = self.source.model_dump(mode="json", exclude_defaults=True, exclude={"env", "headers"})
        if self.source.command:
            content.pop("kind")
        env = {key: {"env": variable} for key, variable in self._variables(self.source.env).items()}
        headers = {key: {"env": variable} for key, variable in self._variables(self.source.headers, self.name).items()}
        return {**content, **({"env": env} if env else {}), **({"headers": headers} if headers else {})}

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that the entry refers to."""
        own, headers = self._variables(self.source.env), self._variables(self.source.headers, self.name)
        return tuple(dict.fromkeys((*own.values(), *headers.values())))

    def to_json(self) -> dict[str, Any]:
        """Return what may be shown."""
        return {
            "client": self.client.name,
            "file": str(self.file),
            "name": self.name,
            "server": self.shown,
            "env": [*self.source.env],
            "headers": [*self.source.headers],
        }

    @staticmethod
    def _variables(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
        """Return the variable for each key: the one that its value refers to, else one named after the key."""
        found = {}
        for key, value in values.items():
            reference = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
            name = (reference[1] or reference[2]) if reference else f"{prefix}_{key}" if prefix else key
            found[key] = name if reference and not name.count("-") else re.sub(r"\W", "_", name).upper()
        return found


def discover(folder: Path) -> tuple[list[ClientServer], list[str]]:
    """Return the servers of all clients, of this user and of the project in `folder`, and unreadable files.

    codemode's own entries are left out.
    """
    found: list[ClientServer] = []
    unreadable: list[str] = []
    for client in mcp_clients().values():
        for file in _files(client, folder):
            try:
                servers = servers_in(file, keeps_variables=True)
            except NoServers:
                continue
            except ConfigurationError as error:
                unreadable.append(str(error).removeprefix("mcp_servers: "))
                continue
            entries = (ClientServer(client, file, name, source) for name, source in servers.items())
            found += (entry for entry in entries if not runs_codemode(entry.source.command))
    return found, unreadable


def new_names(
    servers: Collection[ClientServer], known: Mapping[str, SourceSettings]
) -> Iterator[tuple[str, ClientServer]]:
    """Yield each server that the configuration does not have, once, with a free name."""
    names = set(known)
    places = {source.command or (source.location,) for source in known.values()}
    for server in servers:
        if not server.can_be_added or server.place in places:
            continue
        numbered = (server.name if number == 1 else f"{server.name}_{number}" for number in range(1, 1000))
        name = next(name for name in numbered if name not in names)
        names.add(name)
        places.add(server.place)
        yield name, server


def _files(client: McpClient, folder: Path) -> list[Path]:
    of_project = folder / client.project_file if client.project_file else client.file
    return [file for file in dict.fromkeys((client.file, of_project)) if file.is_file()]


def _without_secrets(words: tuple[str, ...]) -> Iterator[str]:
    hides = False
    for word in words:
        option, is_set, _ = word.partition("=")
        is_secret = _SECRET.search(option) is not None and (word.startswith("-") or bool(is_set))
        yield "…" if hides and not word.startswith("-") else f"{option}=…" if is_secret and is_set else word
        hides = is_secret and not is_set
