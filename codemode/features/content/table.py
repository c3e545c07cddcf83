"""The images and files in a journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.executions.journal.sql import contents

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal
    from codemode.executions.journal.sql.contents import KeptContent
    from codemode.transports.content import Content


class ContentTable:
    """Reads and writes images and files. All methods raise JournalUnavailable."""

    def __init__(self, journal: Journal) -> None:
        self._tables = journal.tables

    async def keep(self, owner: str, content: Content, *, keep_s: float, limit_bytes: int) -> None:
        """Store an image or file for `keep_s` seconds. Remove the owner's oldest content beyond `limit_bytes`."""
        project = self._tables.seals.project
        await self._tables.write(contents.keep(project, owner, content, keep_s, limit_bytes))

    async def find(self, owner: str, id_: str) -> Content | None:
        """Return an owner's content by id, None if it is not stored or has expired."""
        return await self._tables.read(contents.find(self._tables.seals.project, owner, id_))

    async def list(self, owner: str, *, limit: int = 50) -> tuple[KeptContent, ...]:
        """Return the owner's content without its data, newest first."""
        return await self._tables.read(contents.list_contents(self._tables.seals.project, owner, limit))
