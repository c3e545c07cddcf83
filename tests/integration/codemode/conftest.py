"""A shop of notes behind a service with a journal, for tests of its interfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode import CodeMode, tool
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Notes:
    """Notes that were written, and those that were deleted."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.deleted: list[str] = []

    @tool(effect="write")
    def note(self, text: str) -> int:
        """Write a note."""
        self.written.append(text)
        return len(self.written)

    @tool(effect="destructive")
    def delete(self, text: str) -> int:
        """Delete a note."""
        self.deleted.append(text)
        return len(self.deleted)


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
async def note_service(notes: Notes, tmp_path: Path) -> AsyncIterator[CodeMode]:
    """A service with the tools `shop.note` and `shop.delete`."""
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    settings = Settings.model_validate({**folders, "journal": {"enabled": True}})
    async with CodeMode.from_settings(settings, functions={"shop": [notes.note, notes.delete]}) as service:
        yield service
