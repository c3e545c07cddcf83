"""From the configuration of a source to its tools and the transport that reaches them."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from codemode.catalog.tool import Effect
from codemode.errors import ConfigurationError
from codemode.settings import Secrets, Settings, is_python, is_url
from codemode.sources.authentication import authentication_of, check_schemes
from codemode.sources.functions import import_target, load_functions
from codemode.sources.overrides import Overrides, apply_overrides
from codemode.sources.read import read_surface
from codemode.transports.addresses import origin, without_userinfo
from codemode.transports.fetch import fetch_text
from codemode.transports.function import FunctionTransport
from codemode.transports.http import HttpTransport, Reach

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from codemode.catalog.tool import Tool
    from codemode.settings import SourceSettings
    from codemode.sources.cache import CatalogCache
    from codemode.sources.given import GivenIds
    from codemode.sources.loaded import Surface, Warned
    from codemode.transports.content import ContentStore
    from codemode.transports.mcp import Definitions, McpTransport

NAMESPACE = re.compile(r"[a-z][a-z0-9_]{0,31}")


@dataclass(frozen=True, slots=True)
class LoadedSource:
    """A source ready to use: what was read of it, and its transport (close it with `aclose`)."""

    name: str
    surface: Surface
    transport: HttpTransport | FunctionTransport | McpTransport

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Its tools, as the operator wants them."""
        return self.surface.tools

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """What could not be read as it is written."""
        return self.surface.warnings


async def load_source(
    name: str,
    settings: SourceSettings,
    *,
    contents: ContentStore | None = None,
    cache: CatalogCache | None = None,
    given: GivenIds | None = None,
    secrets: Secrets | None = None,
    tokens: Path | None = None,
    servers: Path | None = None,
) -> LoadedSource:
    """Read a source. Raises SourceError or ConfigurationError, which name the file or URL and what to do.

    `tokens` is the folder of logins, `servers` that of accepted definitions of MCP servers; those of the default
    settings where they are not given.
    """
    if settings.is_mcp:
        from codemode.sources.mcp_server import load_mcp_server

        folder = servers or Settings().servers()
        surface, server = await load_mcp_server(
            name, settings, folder=folder, secrets=secrets or Secrets(), contents=contents
        )
        tools = apply_overrides(surface.tools, _overrides(settings), source=name)
        return LoadedSource(name, replace(surface, tools=tools), server)
    if is_python(settings.location):
        return bind_functions(name, import_target(settings.location), settings)
    authentication = await asyncio.to_thread(
        authentication_of, name, settings, secrets or Secrets(), tokens=tokens or Settings().tokens()
    )
    kept = given if settings.keep_names else None
    read = await read_surface(name, settings.location, fetch=_fetch(settings), cache=cache, given=kept)
    check_schemes(name, settings, read.auth)
    overrides = _overrides(settings)
    tools = apply_overrides(read.tools, overrides, source=name)
    state = f"{read.digest} {overrides!r}" if read.digest else ""
    reach = Reach(
        source=name,
        base_url=settings.base_url,
        address=settings.address,
        location=settings.location,
        servers=read.servers,
        timeout_s=settings.timeout_s,
        response_limit_bytes=settings.response_limit_bytes,
        retries=settings.retries,
        concurrency=settings.concurrency,
        rate_per_s=settings.rate_per_s,
        certificate=_certificate(settings),
        ca_file=_ca_file(settings),
    )
    transport = HttpTransport(reach, authentication=authentication, contents=contents)
    return LoadedSource(name, replace(read, tools=tools, digest=state), transport)


def bind_functions(name: str, target: object, settings: SourceSettings | None = None) -> LoadedSource:
    """The functions of `target` as a source; see `load_functions`. Raises SourceError, ConfigurationError."""
    if not NAMESPACE.fullmatch(name):
        message = f"{name!r} cannot be a namespace: lower-case letters, digits and _, a letter first, 32 at most"
        raise ConfigurationError(message)
    surface = load_functions(target, name=name)
    if settings is None:
        return LoadedSource(name, surface, FunctionTransport(name))
    tools = apply_overrides(surface.tools, _overrides(settings), source=name)
    transport = FunctionTransport(name, timeout_s=settings.timeout_s, concurrency=settings.concurrency)
    return LoadedSource(name, replace(surface, tools=tools), transport)


def _fetch(settings: SourceSettings) -> Callable[[str], Awaitable[str]]:
    """How the document is fetched, where it has a URL: as its operations are called."""
    is_same_host = (
        settings.base_url is None
        or not is_url(settings.location)
        or (origin(settings.base_url).host == origin(without_userinfo(settings.location)).host)
    )
    return partial(
        fetch_text,
        timeout_s=settings.timeout_s,
        address=settings.address if is_same_host else None,
        certificate=_certificate(settings),
        ca_file=_ca_file(settings),
    )


def _certificate(settings: SourceSettings) -> tuple[str, str] | None:
    found = settings.client_certificate
    return None if found is None else (str(found.certificate), str(found.key))


def _ca_file(settings: SourceSettings) -> str | None:
    return None if settings.ca_file is None else str(settings.ca_file)


def with_definitions(
    source: LoadedSource, settings: SourceSettings, definitions: Definitions, servers: Path
) -> LoadedSource:
    """An MCP server's source with the definitions that it gives now, which its operator may have to accept."""
    from codemode.sources.mcp import AcceptedDefinitions, surface_of

    surface = surface_of(source.name, definitions, AcceptedDefinitions(servers))
    tools = apply_overrides(surface.tools, _overrides(settings), source=source.name)
    return replace(source, surface=replace(surface, tools=tools))


def _overrides(settings: SourceSettings) -> Overrides:
    return Overrides(
        include=settings.include,
        exclude=settings.exclude,
        rename=settings.rename,
        describe=settings.describe,
        effect={pattern: Effect(effect) for pattern, effect in settings.effect.items()},
        examples=settings.examples,
        tier=settings.tier,
    )
