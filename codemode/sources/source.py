"""The interface of a source kind: a function that returns a surface and its transport.

Built-in source kinds and those of other packages share this interface. A package registers its function as an entry
point in the group `codemode.sources`. The name of the entry point is the `kind` in the configuration.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from codemode.catalog.loading import unheard
from codemode.settings import Secrets, Settings
from codemode.sources.documents.last_known import Documents
from codemode.transports.allowances import Allowances

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from codemode.catalog.loading import LoadingListener
    from codemode.catalog.tool import Tool
    from codemode.settings import SourceSettings
    from codemode.sources.documents.cache import CatalogCache
    from codemode.sources.documents.last_known import KnownDocuments
    from codemode.sources.loaded import Surface
    from codemode.sources.stable_ids import StableIds
    from codemode.transports.base import Transport
    from codemode.transports.content import ContentStore


@dataclass(frozen=True, slots=True)
class SourceContext:
    """The stores and secrets that all sources share.

    Attributes:
        contents: binary data that programs pass between tools.
        allowances: the rates of the sources.
        cache: parsed catalogs. None disables the cache.
        given: tool ids of earlier loads. None assigns all ids anew.
        known: source documents as last read. None keeps none.
        documents: the documents of the source that is being read.
        secrets: the reader of secret references.
        tokens: the folder of OAuth logins.
        servers: the folder of accepted MCP definitions.
        progress: receives the steps of loading.
    """

    contents: ContentStore | None = None
    allowances: Allowances = field(default_factory=Allowances)
    cache: CatalogCache | None = None
    given: StableIds | None = None
    known: KnownDocuments | None = None
    documents: Documents = field(default_factory=Documents)
    secrets: Secrets = field(default_factory=Secrets)
    tokens: Path = field(default_factory=lambda: Settings().tokens())
    servers: Path = field(default_factory=lambda: Settings().servers())
    progress: LoadingListener = unheard

    def ids_of(self, source: str, settings: SourceSettings) -> Mapping[str, str]:
        """Return the stored tool ids of a source by `Tool.key`. Empty if `keep_names` is off."""
        return self.given.read(source) if self.given is not None and settings.keep_names else {}

    async def keep_ids(self, source: str, settings: SourceSettings, tools: Iterable[Tool]) -> None:
        """Store the tool ids of a source, unless `keep_names` is off."""
        if self.given is not None and settings.keep_names:
            await asyncio.to_thread(self.given.keep, source, tools)


class Source(Protocol):
    """The function of a source kind."""

    async def __call__(
        self, name: str, settings: SourceSettings, context: SourceContext, /
    ) -> tuple[Surface, Transport]:
        """Return the tools of a source and the transport that carries their calls.

        `name` is the name of the source and the namespace of its tools. Parts that could not be read are reported in
        `Surface.warnings`. Raises SourceError if nothing can be read and ConfigurationError for invalid settings; each
        names the file or key and says what to do.
        """
