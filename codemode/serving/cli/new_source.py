"""A source that `codemode sources add` reads for the first time: its kind, and its entry in the configuration."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from codemode.errors import SourceError
from codemode.settings import PYTHON, SourceSettings, is_python, is_url

if TYPE_CHECKING:
    from codemode.shared.values import ValueStore
    from codemode.sources.factory import LoadedSource

#: Endings of the names of API documents.
_DOCUMENTS = (".json", ".yaml", ".yml")

#: Seconds that a URL without an API document has to answer as an MCP server.
MCP_ASKED_S = 15.0


def is_command(location: str) -> bool:
    """Whether a location is an executable program, and neither a URL nor a source file."""
    is_file = Path(location).suffix.lower() in (".yaml", ".yml", ".json", ".py")
    return not (is_url(location) or is_python(location) or is_file) and shutil.which(location) is not None


async def load_new(name: str, settings: SourceSettings, bearer_env: str) -> tuple[SourceSettings, LoadedSource]:
    """Load the source. A URL without an API document is tried as a GraphQL service or an MCP server.

    A source that cannot be read before a login has a failure that says so.
    """
    try:
        source = await read_source(name, settings)
    except SourceError as error:
        if not is_url(settings.location):
            raise
        return await _other_kind(name, settings, bearer_env, error)
    if settings.is_mcp and not source.tools and not needs_login(source):
        raise SourceError(source.warnings[0].reason if source.warnings else "has no tools", location=name)
    return settings, source


async def _other_kind(
    name: str, settings: SourceSettings, bearer_env: str, error: SourceError
) -> tuple[SourceSettings, LoadedSource]:
    """Load a URL whose document could not be read as another kind. Raises `error` if it is none."""
    if "graphql" in settings.location.lower():
        bearer = [{"kind": "bearer", "token": {"env": bearer_env}}] if bearer_env else []
        service = SourceSettings.model_validate(
            {"kind": "graphql", "location": settings.location, "credentials": bearer}
        )
        try:
            return service, await read_source(name, service)
        except SourceError as unread:
            return service, await _behind_login(name, service, bearer_env, unread)
    server = SourceSettings(kind="mcp", location=settings.location, timeout_s=MCP_ASKED_S)
    is_document = urlsplit(settings.location).path.endswith(_DOCUMENTS)
    source = None if is_document else await read_source(name, server)
    if source is None or (not source.tools and not needs_login(source)):
        return settings, await _behind_login(name, settings, bearer_env, error)
    return server, source


async def _behind_login(name: str, settings: SourceSettings, bearer_env: str, error: SourceError) -> LoadedSource:
    """Return a source that is read after a login. Raises `error` if its server publishes nothing about one."""
    from codemode.sources.factory import absent_source
    from codemode.sources.loaded import Failure
    from codemode.transports.oauth.discovery import publishes_login

    address = settings.base_url or settings.location
    if bearer_env or not await publishes_login(address, name):
        raise error
    return absent_source(name, Failure(str(error), error.told, needs_login=True))


def entry_of(settings: SourceSettings, base_url: str, bearer_env: str, config: Path) -> dict[str, Any]:
    """Return the entry of a source in a configuration, with its file relative to it."""
    location = settings.location
    if settings.command:
        return {"command": list(settings.command)}
    is_kept = is_url(location) or location.startswith(PYTHON)
    entry: dict[str, Any] = {"location": location if is_kept else _relative(location, config)}
    if settings.kind != "auto":
        entry["kind"] = settings.kind
    if base_url:
        entry["base_url"] = base_url
    if settings.bind:
        entry["bind"] = settings.bind
    if bearer_env:
        entry["credentials"] = [{"kind": "bearer", "token": {"env": bearer_env}}]
    return entry


def _relative(location: str, config: Path) -> str:
    path, folder = Path(location).expanduser().resolve(), config.resolve().parent
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


async def read_source(name: str, settings: SourceSettings, store: ValueStore | None = None) -> LoadedSource:
    """Read a source, and close its transport. Raises SourceError, ConfigurationError."""
    from codemode.sources.factory import load_source
    from codemode.sources.source import SourceContext

    source = await load_source(name, settings, None if store is None else SourceContext(store=store))
    await source.transport.aclose()
    return source


def needs_login(source: LoadedSource) -> bool:
    """Whether the operator's login would help a source that cannot be read."""
    return source.failure is not None and source.failure.needs_login
