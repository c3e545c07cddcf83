"""The destination of a source's calls and the credentials they use, without secrets."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from codemode.settings import SecretReference, is_url
from codemode.transports.http.addresses import without_userinfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from codemode.settings import CredentialSettings, SourceSettings

#: The settings besides the address that decide where a call goes and as whom.
_SETTINGS = frozenset(
    ("kind", "options", "bind", "services", "region", "profile", "command", "env", "cwd", "headers", "transport")
) | {"address", "credentials", "client_certificate", "ca_file", "servers", "parameters"}


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the calls of a source go, and as whom.

    `address` is a URL with its base path, a program, or Python code; `host` is its short form. `credentials` describes
    secret references. `details` is JSON data that also distinguishes destinations. It may hold plain text of the
    operator, so it is recorded only as a keyed digest.
    """

    host: str
    address: str = ""
    credentials: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def facts(self, source: str, digest: Callable[[Any], str]) -> dict[str, str]:
        """Return what is recorded with an execution: the address, the credentials, and a digest of the details."""
        if not self.address:
            return {}
        return {
            f"{ADDRESS} {source}": self.address,
            f"{CREDENTIALS} {source}": self.credentials,
            f"{WAY} {source}": digest(dict(self.details)),
        }


#: Prefixes of the recorded facts. The values of the first two are readable.
ADDRESS = "the address of"
CREDENTIALS = "the credentials of"
WAY = "the way to"

#: The destination of functions that were passed to `CodeMode` in Python.
HERE = Destination("this Python program")


def destination_of(settings: SourceSettings) -> Destination:
    """Return the destination of a source."""
    settings = _with_absolute_paths(settings)
    address = _address(settings)
    details = settings.model_dump(mode="json", include=set(_SETTINGS))
    details["location"] = "" if settings.base_url else settings.location
    if settings.connections:
        details["connections"] = settings.model_dump(mode="json", include={"connections"})["connections"]
    return Destination(_host(address), address, "; ".join(_all_described(settings)) or "none", details)


def _all_described(settings: SourceSettings) -> Iterator[str]:
    yield from map(_described, settings.credentials)
    for name, connection in settings.connections.items():
        yield f"{name} of {connection.owner}: {', '.join(map(_described, connection.credentials)) or 'none'}"


def _with_absolute_paths(settings: SourceSettings) -> SourceSettings:
    """Make paths absolute, so that the working directory does not change the destination."""
    return settings.anchored(Path.cwd()) if settings.location or settings.bind else settings


def _address(settings: SourceSettings) -> str:
    if settings.command:
        return f"the MCP server that {settings.command[0]!r} starts"
    if settings.base_url or is_url(settings.location):
        return _without_secrets(settings.base_url or settings.location)
    if settings.services:
        where = f" in {settings.region}" if settings.region else ""
        return f"{settings.kind} {', '.join(settings.services)}{where}"
    if settings.bind:
        bound = {"": settings.bind} if isinstance(settings.bind, str) else settings.bind
        return f"the Python code {', '.join(sorted(set(bound.values())))}"
    kind = "the Python code" if settings.own_kind == "python" else settings.own_kind
    return f"{kind} {settings.location}".strip()


def _without_secrets(url: str) -> str:
    parts = urlsplit(without_userinfo(url))
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def _host(address: str) -> str:
    """Return a URL without its scheme, or a file path as its name."""
    if is_url(address):
        return address.partition("://")[2]
    words, _, last = address.rpartition(" ")
    return f"{words} {PurePath(last).name}" if last.startswith("/") else address


def _described(credential: CredentialSettings) -> str:
    references = " ".join(_references(credential))
    return f"{credential.kind} {references}".rstrip()


def _references(credential: CredentialSettings) -> Iterator[str]:
    for name in type(credential).model_fields:
        value = getattr(credential, name)
        if isinstance(value, SecretReference):
            yield f"({name} from {value.where})"
        elif name in ("username", "client_id") and value:
            yield f"({name} {value})"
