"""The interface of a source kind: a function that returns a surface and its transport.

Built-in source kinds and those of other packages share this interface. A package registers its function as an entry
point in the group `codemode.sources`. The name of the entry point is the `kind` in the configuration.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from codemode.settings import Secrets, Settings
from codemode.shared.callbacks import ignore
from codemode.shared.files import FolderStore
from codemode.sources.documents.last_known import Documents
from codemode.transports.allowances import Allowances

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.catalog.loading import LoadingListener
    from codemode.settings import SourceSettings
    from codemode.shared.values import ValueStore
    from codemode.sources.loaded import Surface
    from codemode.sources.stable_ids import Naming, StableIds
    from codemode.transports.base import Transport
    from codemode.transports.content import ContentStore


@dataclass(frozen=True, slots=True)
class SourceContext:
    """The stores and secrets that all sources share.

    Attributes:
        contents: binary data that programs pass between tools.
        allowances: the rates of the sources.
        cache: the folder of parsed documents. None disables the cache.
        given: tool ids of earlier loads. None assigns all ids anew.
        documents: the documents of the source that is being read.
        secrets: the reader of secret references.
        store: OAuth logins and accepted MCP definitions.
        servers: the folder of the error output of MCP servers.
        connects: whether MCP servers are started whose definitions are accepted. If not, these serve as they are.
        progress: receives the steps of loading.
    """

    contents: ContentStore | None = None
    allowances: Allowances = field(default_factory=Allowances)
    cache: Path | None = None
    known_ids: StableIds | None = None
    documents: Documents = field(default_factory=Documents)
    secrets: Secrets = field(default_factory=Secrets)
    store: ValueStore = field(default_factory=lambda: FolderStore.of(Settings()))
    servers: Path = field(default_factory=lambda: Settings().servers())
    connects: bool = True
    progress: LoadingListener = ignore

    async def named(self, source: str, settings: SourceSettings, make: Naming) -> Surface:
        """Return the tools of a source as `StableIds.named` does, or with new ids if `keep_names` is off.

        The ids of operations that are gone stay withheld.
        """
        if self.known_ids is None or not settings.keep_names:
            return await make({})
        return await self.known_ids.named(source, make)


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
