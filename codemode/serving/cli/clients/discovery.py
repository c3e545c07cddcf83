"""Find the MCP servers that other clients on this machine have, and describe them as sources."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from codemode.errors import ConfigurationError
from codemode.settings import NoServers, SourceSettings, mcp_clients, runs_codemode, servers_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from codemode.settings import McpClient

    Keep = Callable[[str, str], dict[str, Any]]  #: stores a secret under a name, and returns the reference to it

#: A reference to a variable and nothing else: `${env:NAME}`, `${NAME:-default}`, `{env:NAME}`, `$NAME`, `${input:id}`.
_REFERENCE = re.compile(r"\$?\{(?:env:|input:)?([\w-]+)(?::-[^}]*)?\}|\$([A-Za-z_]\w*)")

#: A reference within a text.
_REFERS = re.compile(r"\$\{|\{env:|\$[A-Za-z_]")

#: Names of secrets: of arguments whose values are not shown, and of variables.
_SECRET = re.compile(r"key|token|secret|passw|auth|credential|cookie|dsn|private|\bpat\b|_pat$", re.IGNORECASE)

#: Values of variables that are plainly no secrets: numbers, switches, short words and paths.
_PLAIN = re.compile(r"[-+.\d]{1,12}|[A-Za-z][A-Za-z-]{0,15}|(?:~|\.{0,2}|[A-Za-z]:)[/\\](?!.*[\w-]{24})[\w.~ /\\-]*")

#: Headers that are no secrets.
_PLAIN_HEADERS = ("accept", "accept-language", "content-type", "user-agent", "mcp-protocol-version")

#: The bridge by which clients without HTTP reach a server at a URL (https://github.com/geelen/mcp-remote).
_BRIDGE = re.compile(r"mcp-remote(@.*)?")


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

    @property
    def values(self) -> dict[str, str]:
        """The values of its variables and headers."""
        return {key: str(value) for key, value in {**self.source.env, **self.source.headers}.items()}

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the variables and headers whose values are secrets in the file."""
        return tuple(key for key, value in self.values.items() if self._is_secret(key, value))

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that it refers to."""
        named = (_variable(key, value, self.name) for key, value in self.values.items())
        return tuple(dict.fromkeys(name for name in named if name))

    def entry(self, name: str, keep: Keep) -> dict[str, Any]:
        """Return it as a source of `codemode.yaml`. Its secrets are stored by `keep`, and referred to."""
        content = self.source.model_dump(mode="json", exclude_defaults=True, exclude={"env", "headers"})
        if self.source.command:
            content.pop("kind")
        headers = dict(self.source.headers)
        token = next((headers[key] for key in headers if key.lower() == "authorization"), "")
        if str(token).startswith("Bearer ") and not self.source.command:
            headers = {key: value for key, value in headers.items() if key.lower() != "authorization"}
            text = str(token).removeprefix("Bearer ")
            reference = self._value(name, "Authorization", text, keep, is_secret=True)
            content["credentials"] = [{"kind": "bearer", "token": reference}]
        for section, values in (("env", self.source.env), ("headers", headers)):
            if values:
                content[section] = {
                    key: self._value(name, key, str(value), keep, is_secret=self._is_secret(key, str(value)))
                    for key, value in values.items()
                }
        return content

    def to_json(self) -> dict[str, Any]:
        """Return what may be shown."""
        return {
            "client": self.client.name,
            "file": str(self.file),
            "name": self.name,
            "server": self.shown,
            "env": [*self.source.env],
            "headers": [*self.source.headers],
            "secrets": [*self.secrets],
            "can_be_added": self.can_be_added,
        }

    def _value(self, name: str, key: str, value: str, keep: Keep, *, is_secret: bool) -> Any:
        variable = _variable(key, value, self.name if key in self.source.headers else "")
        if variable:
            return {"env": variable}
        return keep(f"{name}.{key}", value) if is_secret else value

    def _is_secret(self, key: str, value: str) -> bool:
        if _REFERS.search(value) or not value:
            return False
        if key in self.source.headers:
            return key.lower() not in _PLAIN_HEADERS
        return _SECRET.search(key) is not None or not _PLAIN.fullmatch(value)


def discover(folder: Path) -> tuple[list[ClientServer], list[str]]:
    """Return the servers of all clients, of this user and of the project in `folder`, and unreadable files.

    codemode's own entries are left out.
    """
    found: list[ClientServer] = []
    unreadable: list[str] = []
    for client in mcp_clients().values():
        for file in _files(client, folder):
            try:
                servers = servers_in(file, keeps_variables=True, project=folder)
            except NoServers:
                continue
            except ConfigurationError as error:
                unreadable.append(str(error).removeprefix("mcp_servers: "))
                continue
            entries = (ClientServer(client, file, name, source) for name, source in servers.items())
            found += (_direct(entry) for entry in entries if not runs_codemode(entry.source.command))
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


def _direct(server: ClientServer) -> ClientServer:
    """Return a server that is reached by a bridge as the server at its URL."""
    words = server.source.command
    at = next((index for index, word in enumerate(words) if _BRIDGE.fullmatch(word)), None)
    url = words[at + 1] if at is not None and len(words) > at + 1 else ""
    if at is None or not url.startswith(("http://", "https://")):
        return server
    rest, own = words[at + 2 :], {key: str(value) for key, value in server.source.env.items()}
    pairs = (rest[index + 1].partition(":") for index, word in enumerate(rest[:-1]) if word == "--header")
    headers = {key.strip(): _filled(value.strip(), own) for key, _, value in pairs}
    return replace(server, source=SourceSettings(kind="mcp", location=url, headers={**headers}))


def _filled(value: str, own: Mapping[str, str]) -> str:
    """Return a header with the variables that the entry itself sets."""
    return re.sub(r"\$\{(\w+)\}", lambda found: own.get(found[1], found[0]), value)


def _variable(key: str, value: str, prefix: str) -> str:
    """Return the variable that a value refers to. One that refers to several, or to a part, is named after its key."""
    if not _REFERS.search(value):
        return ""
    reference = _REFERENCE.fullmatch(value.removeprefix("Bearer ") if key.lower() == "authorization" else value)
    name = (reference[1] or reference[2]) if reference else f"{prefix}_{key}" if prefix else key
    return name if reference and not name.count("-") else re.sub(r"\W", "_", name).upper()


def _files(client: McpClient, folder: Path) -> list[Path]:
    of_project = folder / client.project_file if client.project_file else client.file
    files = dict.fromkeys(one for file in (client.file, of_project) for one in (file, file.with_suffix(".jsonc")))
    return [file for file in files if file.is_file()]


def _without_secrets(words: tuple[str, ...]) -> Iterator[str]:
    hides = False
    for word in words:
        option, is_set, _ = word.partition("=")
        is_secret = _SECRET.search(option) is not None and (word.startswith("-") or bool(is_set))
        yield "…" if hides and not word.startswith("-") else f"{option}=…" if is_secret and is_set else word
        hides = is_secret and not is_set
