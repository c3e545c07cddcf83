"""Content in the journal's store, so that references outlive the server that gave them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from codemode.features.content.table import ContentTable
from codemode.features.feature import FeaturePart

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.executions.journal.base import Journal
    from codemode.executions.journal.sql.contents import KeptContent
    from codemode.features.feature import Core
    from codemode.settings import ContentSettings
    from codemode.transports.content import Content

log = logging.getLogger(__name__)


class JournalContents(FeaturePart):
    """The `codemode.transports.content.ContentArchive` of a journal. `opened` opens the journal first."""

    def __init__(self, journal: Journal, settings: ContentSettings, opened: Callable[[], Awaitable[None]]) -> None:
        self._table = ContentTable(journal)
        self._settings = settings
        self._opened = opened

    @classmethod
    def of(cls, core: Core) -> Self | None:
        """Keep the content of the service in its journal."""
        if core.executions is None:
            return None
        access = core.executions.access
        core.contents.archive = archive = cls(access.journal, core.settings.content, access.visible.opened)
        return archive

    async def keep(self, owner: str, content: Content) -> None:
        """Store content for a caller. Raises JournalUnavailable."""
        await self._opened()
        settings = self._settings
        await self._table.keep(owner, content, keep_s=settings.keep_s, limit_bytes=settings.keep_bytes_per_key)

    async def find(self, owner: str, id_: str) -> Content | None:
        """Return a caller's content, None if it is not stored, or no longer as it was. Raises JournalUnavailable."""
        await self._opened()
        content = await self._table.find(owner, id_)
        if content is not None and content.id != id_:
            log.error("the content %s in the journal is damaged: it no longer matches its digest", id_)
            return None
        return content

    async def list(self, owner: str) -> tuple[KeptContent, ...]:
        """Return the newest 50 contents of a caller without their data, newest first. Raises JournalUnavailable."""
        await self._opened()
        return await self._table.list(owner)
