"""What a source is: one kind of API surface made into tools, and into the transport that reaches them.

Those of codemode and those of other packages are the same: a function of this shape. Other packages name theirs by an
entry point of the group `codemode.sources` whose name is the `kind` of the configuration.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from codemode.settings import Secrets, Settings
from codemode.sources.documents.last_known import Documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

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
    """What there is for all sources.

    `contents` keeps binary data that programs pass on; `cache` what was read, `given` ids that were given before (each
    None where nothing is kept); `secrets` reads what the configuration refers to; `tokens` is the folder of logins,
    `servers` that of accepted definitions of MCP servers. `known` keeps the documents of each source; `documents` are
    those of the one that is read.
    """

    contents: ContentStore | None = None
    cache: CatalogCache | None = None
    given: StableIds | None = None
    known: KnownDocuments | None = None
    documents: Documents = field(default_factory=Documents)
    secrets: Secrets = field(default_factory=Secrets)
    tokens: Path = field(default_factory=lambda: Settings().tokens())
    servers: Path = field(default_factory=lambda: Settings().servers())

    def ids_of(self, source: str, settings: SourceSettings) -> Mapping[str, str]:
        """The ids that were given to a source's tools before, by `Tool.key`; none where they are not to be kept."""
        return self.given.read(source) if self.given is not None and settings.keep_names else {}

    async def keep_ids(self, source: str, settings: SourceSettings, tools: Iterable[Tool]) -> None:
        """Keep the ids of a source's tools, where they are to be kept."""
        if self.given is not None and settings.keep_names:
            await asyncio.to_thread(self.given.keep, source, tools)


class Source(Protocol):
    """Reads one kind of API surface."""

    async def __call__(
        self, name: str, settings: SourceSettings, context: SourceContext, /
    ) -> tuple[Surface, Transport]:
        """The tools of the source `name`, which is their namespace, and what carries their calls out.

        What could not be read stands in the surface's warnings. Raises SourceError for a surface that cannot be read at
        all, ConfigurationError for settings that do not fit; each names the file or key and what to do.
        """
