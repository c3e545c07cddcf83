"""The source kind `openapi`: an API document whose operations are called over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.sources.authentication import check_schemes
from codemode.sources.http_access import fetch, http_transport
from codemode.sources.openapi.cache import CatalogCache
from codemode.sources.openapi.load import Edits, read_surface
from codemode.sources.openapi.overlays import overlay_texts

if TYPE_CHECKING:
    from codemode.settings import SourceSettings
    from codemode.sources.loaded import Surface
    from codemode.sources.source import SourceContext
    from codemode.transports.base import Transport


async def load(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, Transport]:
    """Read the document. Raises SourceError or ConfigurationError; both name the file or URL and say what to do."""
    known_ids = context.known_ids if settings.keep_names else None
    cache = None if context.cache is None else CatalogCache(context.cache)
    fetched = fetch(name, settings, context)
    surface = await read_surface(
        name,
        settings.location,
        fetch=fetched,
        cache=cache,
        known_ids=known_ids,
        progress=context.progress,
        edits=Edits(await overlay_texts(settings.overlays), settings.internal),
    )
    check_schemes(name, settings, surface.auth)
    return surface, http_transport(name, settings, context, servers=surface.servers)
