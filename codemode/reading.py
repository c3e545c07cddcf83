"""The sources of a service: read all or none, and closed once nobody calls them any more."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, cast

from codemode.catalog.catalog import Catalog
from codemode.errors import ConfigurationError
from codemode.sources.cache import CatalogCache
from codemode.sources.given import GivenIds
from codemode.sources.load import LoadedSource, bind_functions, load_source
from codemode.sources.source import SourceContext

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from codemode.settings import Settings
    from codemode.transports.content import ContentStore
    from codemode.transports.mcp import Definitions, McpTransport


async def read_sources(
    settings: Settings,
    functions: Mapping[str, object],
    *,
    contents: ContentStore,
    on_change: Callable[[str, Definitions], None],
) -> dict[str, LoadedSource]:
    """The sources of the settings, and functions beside them. Raises SourceError, ConfigurationError.

    `on_change` is told which MCP server has other tools than before.
    """
    if not settings.sources and not functions:
        message = "there are no sources: name one under `sources:`, as `codemode sources add NAME LOCATION` does"
        raise ConfigurationError(message)
    context = SourceContext(
        contents=contents,
        cache=CatalogCache(settings.cache() / "catalogs"),
        given=GivenIds(settings.state() / "ids"),
        tokens=settings.tokens(),
        servers=settings.servers(),
    )
    bound = {name: bind_functions(name, target) for name, target in functions.items()}
    loaded = await _all_or_none(_loaded(name, settings, context) for name in settings.sources)
    found = dict(zip(settings.sources, loaded, strict=True))
    for name, source in found.items():
        if settings.sources[name].is_mcp:
            cast("McpTransport", source.transport).on_change = partial(on_change, name)
    return found | bound


def catalog_of(sources: Mapping[str, LoadedSource]) -> Catalog:
    """The tools of all sources, and their toolkits."""
    tools = (tool for source in sources.values() for tool in source.tools)
    return Catalog(tools, (toolkit for source in sources.values() for toolkit in source.surface.toolkits))


async def close_after(running: Iterable[asyncio.Event], retired: Mapping[str, LoadedSource]) -> None:
    """Close the connections of sources that were replaced, once what began with them has ended."""
    for execution in running:
        await execution.wait()
    for source in retired.values():
        await source.transport.aclose()


async def _loaded(name: str, settings: Settings, context: SourceContext) -> LoadedSource:
    try:
        return await load_source(name, settings.sources[name], context)
    except ConfigurationError as error:
        if str(error).startswith("sources."):
            raise
        message = f"{settings.place('sources', name)}: {error}"
        raise ConfigurationError(message) from error


async def _all_or_none(loading: Iterable[Awaitable[LoadedSource]]) -> list[LoadedSource]:
    """The sources; where one cannot be read the others are closed, and the first error is raised."""
    ended = await asyncio.gather(*loading, return_exceptions=True)
    errors = [one for one in ended if isinstance(one, BaseException)]
    loaded = [one for one in ended if not isinstance(one, BaseException)]
    if errors:
        for source in loaded:
            await source.transport.aclose()
        raise errors[0]
    return loaded
