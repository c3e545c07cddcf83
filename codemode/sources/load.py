"""From the configuration of a source to its tools and the transport that reaches them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError
from codemode.settings import ApiKeyCredential, BasicCredential, BearerCredential
from codemode.sources.read import read_surface
from codemode.transports.credentials import Credential
from codemode.transports.http import HttpTransport, Reach

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.settings import CredentialSettings, SourceSettings
    from codemode.sources.cache import CatalogCache
    from codemode.sources.loaded import Warned
    from codemode.transports.content import ContentStore


@dataclass(frozen=True, slots=True)
class LoadedSource:
    """A source ready to use: its tools, what could not be read of it, and its transport (close it with `aclose`)."""

    name: str
    tools: tuple[Tool, ...]
    warnings: tuple[Warned, ...]
    transport: HttpTransport
    title: str = ""
    digest: str = ""
    servers: tuple[str, ...] = ()


async def load_source(
    name: str, settings: SourceSettings, *, contents: ContentStore | None = None, cache: CatalogCache | None = None
) -> LoadedSource:
    """Read a source. Raises SourceError or ConfigurationError, which name the file or URL and what to do."""
    credentials = [_credential(setting) for setting in settings.credentials]
    surface = await read_surface(name, settings.location, timeout_s=settings.timeout_s, cache=cache)
    reach = Reach(
        source=name,
        base_url=settings.base_url,
        location=settings.location,
        servers=surface.servers,
        timeout_s=settings.timeout_s,
        response_limit_bytes=settings.response_limit_bytes,
    )
    transport = HttpTransport(reach, credentials=credentials, contents=contents)
    return LoadedSource(
        name, surface.tools, surface.warnings, transport, surface.title, surface.digest, surface.servers
    )


def _credential(setting: CredentialSettings) -> Credential:
    match setting:
        case BearerCredential():
            return Credential.bearer(setting.token.resolve().get_secret_value())
        case BasicCredential():
            return Credential.basic(setting.username, setting.password.resolve().get_secret_value())
        case ApiKeyCredential():
            value = setting.value.resolve().get_secret_value()
            return Credential.api_key(setting.location, setting.name, value, prefix=setting.prefix)
    message = f"a credential of an unknown kind: {setting!r}"
    raise ConfigurationError(message)
