"""Where the calls of a source go and as whom they are made, as far as the configuration says it; never a secret."""

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

#: All that leads a call elsewhere, or makes it in another's name, besides an address.
_LEADING = frozenset(
    ("kind", "options", "bind", "services", "region", "profile", "command", "env", "cwd", "headers", "transport")
) | {"address", "credentials", "client_certificate", "ca_file"}


@dataclass(frozen=True, slots=True)
class Destination:
    """`address` is where calls go: a URL with its base path, a program, or Python code. `host` is the same, shorter.

    `credentials` are references in words. `details` is JSON data that also tells two places apart; it may hold
    what an operator wrote as plain text, and is only ever shown as a keyed digest.
    """

    host: str
    address: str = ""
    credentials: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def facts(self, source: str, digest: Callable[[Any], str]) -> dict[str, str]:
        """What is recorded with an execution: texts that name the place, and a digest of the rest."""
        if not self.address:
            return {}
        return {
            f"{ADDRESS} {source}": self.address,
            f"{CREDENTIALS} {source}": self.credentials,
            f"{WAY} {source}": digest(dict(self.details)),
        }


#: How the facts begin whose values a person may read.
ADDRESS = "the address of"
CREDENTIALS = "the credentials of"
WAY = "the way to"

#: Where functions are called that were given to `CodeMode` in Python.
HERE = Destination("this Python program")


def destination_of(settings: SourceSettings) -> Destination:
    """The place of a source."""
    settings = _from_anywhere(settings)
    address = _address(settings)
    details = settings.model_dump(mode="json", include=set(_LEADING))
    details["location"] = "" if settings.base_url else settings.location
    return Destination(_host(address), address, "; ".join(map(_words, settings.credentials)) or "none", details)


def _from_anywhere(settings: SourceSettings) -> SourceSettings:
    """With whole paths: a command may be typed in the folder of the configuration, or name its file from elsewhere."""
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
    """A URL without its scheme; of code, the name of its file."""
    if is_url(address):
        return address.partition("://")[2]
    words, _, last = address.rpartition(" ")
    return f"{words} {PurePath(last).name}" if last.startswith("/") else address


def _words(credential: CredentialSettings) -> str:
    named = " ".join(_references(credential))
    return f"{credential.kind} {named}".rstrip()


def _references(credential: CredentialSettings) -> Iterator[str]:
    for name in type(credential).model_fields:
        value = getattr(credential, name)
        if isinstance(value, SecretReference):
            yield f"({name} from {value.where})"
        elif name in ("username", "client_id") and value:
            yield f"({name} {value})"
